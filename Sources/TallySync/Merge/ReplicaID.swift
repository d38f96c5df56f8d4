public import Foundation

/// The identity of one copy of a store, among those that synchronise.
public struct ReplicaID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The first and the last eight bytes, most significant first.
  let high: UInt64
  private let low: UInt64

  /// Takes the sixteen bytes of a UUID.
  ///
  /// - Parameter uuid: the bytes.
  public init(_ uuid: UUID) {
    // Copied at once.
    let bytes = unsafe withUnsafeBytes(of: uuid.uuid) { unsafe Array($0) }
    (high, low) = (UInt64(bigEndianBytes: bytes[..<8]), UInt64(bigEndianBytes: bytes[8...]))
  }

  /// Takes the sixteen bytes of an id; `nil` if there are more or fewer.
  init?(bytes: some Collection<UInt8>) {
    guard let uuid = UUID(bytes: Array(bytes)) else { return nil }
    self.init(uuid)
  }

  /// The sixteen bytes.
  var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }

  /// The same bytes as a UUID.
  var uuid: UUID { UUID(bytes: bytes) ?? UUID() }

  /// Orders replicas by their bytes.
  public static func < (left: ReplicaID, right: ReplicaID) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }

  /// Thirty-two hexadecimal digits.
  public var description: String { HexDigits.text(of: bytes) }
}
