import Crypto
import Foundation

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

extension ContentHash: Comparable {
  static func < (left: ContentHash, right: ContentHash) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}

extension ContentHash: Codable {
  init(from decoder: any Decoder) throws {
    let bytes = try decoder.singleValueContainer().decode(Data.self)
    guard let hash = ContentHash(bytes: bytes) else { throw CodingFault.impossibleValue }
    self = hash
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Data(bytes))
  }
}
