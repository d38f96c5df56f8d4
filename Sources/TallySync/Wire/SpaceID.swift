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
    let digits = description.utf8.compactMap { Self.digits.firstIndex(of: $0) }
    guard digits.count == 2 * Self.byteCount, description.utf8.count == digits.count else { return nil }
    bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(16 * digits[$0] + digits[$0 + 1]) }
  }

  private static let digits = Array("0123456789abcdef".utf8)

  /// Thirty-two hexadecimal digits.
  public var description: String {
    String(decoding: bytes.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

extension [UInt8] {
  /// Bytes that nobody can guess.
  static func random(count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}
