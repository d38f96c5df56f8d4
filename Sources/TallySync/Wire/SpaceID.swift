/// The identity of a set of tasks that several replicas share.
public struct SpaceID: Hashable, Sendable, LosslessStringConvertible {
  /// How many bytes it has.
  public static let byteCount = 16

  /// The sixteen bytes.
  public let bytes: [UInt8]

  /// Makes a new one from random bytes.
  public init() {
    bytes = .random(count: Self.byteCount)
  }

  /// Takes its bytes.
  ///
  /// - Parameter bytes: Sixteen bytes; `nil` is returned for another number of them.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  /// Reads the description.
  ///
  /// - Parameter description: Thirty-two hexadecimal digits in lower case; `nil` is returned for anything else.
  public init?(_ description: String) {
    guard let bytes = HexDigits.bytes(of: description) else { return nil }
    self.init(bytes: bytes)
  }

  /// Thirty-two hexadecimal digits.
  public var description: String { HexDigits.text(of: bytes) }
}

extension [UInt8] {
  /// Bytes that nobody can guess.
  static func random(count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}
