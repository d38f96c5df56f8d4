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
    let (high, low) = id.words
    guard high >> 12 & 0xF == 7, low >> 62 == 0b10 else { return nil }
    return Timestamp(clamping: Int64(high >> 16) * 1_000)
  }
}
