public import Foundation

/// UUIDs of version 7 (RFC 9562), which begin with the time of their creation.
///
/// They ascend in the order of their creation, so a store appends new records at the end of its table.
public enum UUIDv7 {
  private static let shared = UUIDv7Generator()

  /// Returns an id for now, greater than every one returned before.
  ///
  /// For another clock use a ``UUIDv7Generator``; each store has its own.
  public static func next() -> UUID {
    shared.next()
  }

  /// The instant in an id, to the millisecond; `nil` for UUIDs of another version.
  public static func timestamp(of id: UUID) -> Timestamp? {
    let bytes = id.uuid
    guard bytes.6 >> 4 == 7, bytes.8 >> 6 == 0b10 else { return nil }
    let head = [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5]
    let milliseconds = head.reduce(Int64(0)) { $0 << 8 | Int64($1) }
    return Timestamp(clamping: milliseconds * 1_000)
  }
}
