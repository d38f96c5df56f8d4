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
    (high, low) = (Self.number(bytes[..<8]), Self.number(bytes[8...]))
  }

  /// The sixteen bytes.
  var bytes: [UInt8] {
    [high, low].flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) } }
  }

  /// The same bytes as a UUID.
  var uuid: UUID { UUID(bytes: bytes) ?? UUID() }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Orders replicas by their bytes.
  public static func < (left: ReplicaID, right: ReplicaID) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }

  /// Thirty-two hexadecimal digits.
  public var description: String {
    [high, low].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
