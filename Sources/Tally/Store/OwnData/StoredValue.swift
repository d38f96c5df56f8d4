import Foundation
import LMDB
import TallyEngine

/// One stored value of an application.
public struct StoredValue: Hashable, Sendable {
  /// The value's key.
  public let key: ValueKey
  /// The value's bytes: for one that was set as `Codable`, the JSON.
  public let bytes: [UInt8]

  /// Decodes the value as the type with which it was set.
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

  /// Encodes a value as JSON with sorted keys, so that equal values have equal bytes.
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

/// A namespace of values, with their number and size.
public struct ValueNamespace: Hashable, Sendable {
  /// The name of the namespace.
  public let name: String
  /// The number of values.
  public internal(set) var count = 0
  /// The size of the keys and values, in bytes.
  public internal(set) var sizeInBytes = 0
}
