import Foundation
import LMDB

/// One value of an application, as stored.
public struct StoredValue: Hashable, Sendable {
  /// Its name.
  public let key: ValueKey
  /// Its bytes; of a value that was set as `Codable`, the JSON.
  public let bytes: [UInt8]

  /// The value as the type that it was set with.
  ///
  /// - Throws: `invalidValue` if the bytes are not the JSON of such a value.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    do {
      return try JSONDecoder().decode(Value.self, from: Data(bytes))
    } catch {
      throw TallyError(
        .invalidValue, "A stored value cannot be read as a \(Value.self)",
        remedy: "Read it as the type that it was set with, or remove it", cause: error.withoutValues)
    }
  }

  /// The bytes that are stored for a value: JSON with sorted keys, so that an equal value has equal bytes.
  static func encode(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return try [UInt8](encoder.encode(value))
    } catch {
      throw TallyError(
        .invalidValue, "A value has no form in JSON, as a number that is infinite",
        remedy: "Store another value, or its bytes with setBytes", cause: error.withoutValues)
    }
  }
}

/// A namespace of values, with its size.
public struct ValueNamespace: Hashable, Sendable {
  /// Its name.
  public let name: String
  /// How many values it has.
  public internal(set) var count = 0
  /// The bytes of its keys and values.
  public internal(set) var sizeInBytes = 0
}
