import Crypto

/// The SHA-256 of some bytes.
struct ContentHash: Hashable, Sendable {
  static let byteCount = SHA256.byteCount

  let bytes: [UInt8]

  /// Hashes bytes.
  init(of content: [UInt8]) {
    bytes = Array(SHA256.hash(data: content))
  }

  /// Takes the bytes of a hash; `nil` for another number of them.
  init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  private init() {
    bytes = Array(repeating: 0, count: Self.byteCount)
  }

  /// Zeros: before the first segment, and in a card.
  static let none = ContentHash()
}
