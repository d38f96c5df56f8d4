import Foundation
import TallyEngine

// The compiler uses these for the types of this module whose coding it writes.

extension KeyedDecodingContainer {
  func decode(_ type: UUID.Type, forKey key: Key) throws -> UUID {
    try decode(IDText.self, forKey: key).id
  }

  func decodeIfPresent(_ type: UUID.Type, forKey key: Key) throws -> UUID? {
    try decodeIfPresent(IDText.self, forKey: key)?.id
  }
}

extension KeyedEncodingContainer {
  mutating func encode(_ id: UUID, forKey key: Key) throws {
    try encode(IDText(id), forKey: key)
  }

  mutating func encodeIfPresent(_ id: UUID?, forKey key: Key) throws {
    try encodeIfPresent(id.map(IDText.init), forKey: key)
  }
}
