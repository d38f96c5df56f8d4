public import Foundation

/// The identity of one copy of a store, among those that synchronise.
public struct ReplicaID: Hashable, Comparable, Sendable, LosslessStringConvertible {
  /// The first and the last eight bytes, most significant first.
  let high: UInt64
  private let low: UInt64

  /// Takes the sixteen bytes of a UUID.
  ///
  /// - Parameter uuid: the bytes.
  public init(_ uuid: UUID) {
    // Copied at once, without an array: every comparison of two keys comes here.
    (high, low) = unsafe withUnsafeBytes(of: uuid.uuid) { bytes in
      unsafe (
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }

  /// The author of elements that every replica generates alike, such as the tags of the next task of a series.
  ///
  /// It is sent to others: do not change it.
  static let program = ReplicaID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0x80, 0, 0x80, 0, 0, 0, 0, 0, 0, 1)))

  /// Takes the sixteen bytes of an id.
  ///
  /// - Parameter bytes: Sixteen bytes; `nil` is returned for another number of them.
  public init?(bytes: some Collection<UInt8>) {
    guard let uuid = UUID(bytes: Array(bytes)) else { return nil }
    self.init(uuid)
  }

  /// Reads the description.
  ///
  /// - Parameter description: Thirty-two hexadecimal digits in lower case; `nil` is returned for anything else.
  public init?(_ description: String) {
    guard let bytes = HexDigits.bytes(of: description) else { return nil }
    self.init(bytes: bytes)
  }

  /// The sixteen bytes.
  public var bytes: [UInt8] {
    // Copied at once.
    unsafe withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { unsafe Array($0) }
  }

  /// The same bytes as a UUID.
  var uuid: UUID { UUID(bytes: bytes) ?? UUID() }

  /// Orders replicas by their bytes.
  public static func < (left: ReplicaID, right: ReplicaID) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }

  /// Thirty-two hexadecimal digits.
  public var description: String { HexDigits.text(of: bytes) }
}
