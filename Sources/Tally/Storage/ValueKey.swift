import Foundation
public import LMDB
import TallyEngine

/// The key of one value of an application: a namespace, and a key in it.
///
/// As a key of `values` it is encoded as the namespace, two zero bytes and the key, so that a namespace is one range.
public struct ValueKey: Hashable, Sendable {
  /// The longest namespace, in bytes of UTF-8.
  public static let maximumNamespaceByteCount = 128
  /// The longest key in a namespace, in bytes.
  public static let maximumByteCount = 380

  /// The application's name for a group of values, for example `app.settings`.
  public let namespace: String
  /// The bytes of the key; values are ordered by them.
  public let bytes: [UInt8]

  /// Creates the key of a value.
  ///
  /// - Throws: `invalidKey` for a namespace that is empty or has control characters, for an empty key, and for a
  ///   namespace or key that is too long.
  init(_ key: some KeyCodable, in namespace: String) throws(TallyError) {
    try Self.checkNamespace(namespace)
    self.init(namespace: namespace, bytes: try Self.checked(key))
    guard !bytes.isEmpty else { throw .emptyValueKey }
  }

  private init(namespace: String, bytes: [UInt8]) {
    (self.namespace, self.bytes) = (namespace, bytes)
  }

  /// The key, decoded as the type with which it was stored.
  ///
  /// ```swift
  /// let names = try transaction.values(in: "app.settings").map { try $0.key.decoded(as: String.self) }
  /// ```
  ///
  /// - Throws: `invalidKey` if the bytes are not a key of the type.
  public func decoded<Key: KeyCodable>(as type: Key.Type = Key.self) throws -> Key {
    do {
      // Unsafe by signature only: bytes have no padding.
      return unsafe try Key(decoding: bytes.span.bytes)
    } catch {
      throw TallyError(
        .invalidKey, "The key of a value is not a \(Key.self)", remedy: "Read it as the type that it was stored with",
        cause: error)
    }
  }
}

extension ValueKey {
  /// Checks that a text can be a namespace.
  static func checkNamespace(_ namespace: String) throws(TallyError) {
    guard (1...maximumNamespaceByteCount).contains(namespace.utf8.count),
      // A zero byte would end the namespace early; other control characters cannot be shown.
      !namespace.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else {
      throw TallyError(
        .invalidKey,
        "A namespace of values is empty, has a control character or more than \(maximumNamespaceByteCount) bytes",
        remedy: "Give a short name such as app.settings")
    }
  }

  /// The prefix of the namespaces that are reserved for the library.
  static let reservedPrefix = "tally."

  /// Whether the value belongs to the library.
  var isReserved: Bool { Self.isReserved(namespace) }

  private static func isReserved(_ namespace: String) -> Bool {
    namespace.hasPrefix(reservedPrefix)
  }

  /// Checks that applications may write to a namespace.
  static func checkOwn(_ namespace: String) throws(TallyError) {
    guard isReserved(namespace) else { return }
    throw TallyError(
      .invalidKey, "A namespace that begins with \(reservedPrefix) is the library's own",
      remedy: "Give another one, such as app.settings")
  }

  /// The bytes of a key, or of a bound of a range, which may be empty.
  static func checked(_ key: some KeyCodable) throws(TallyError) -> [UInt8] {
    let bytes = key.encodedBytes
    guard bytes.count <= maximumByteCount else {
      throw TallyError(
        .invalidKey, "The key of a value has more than \(maximumByteCount) bytes", remedy: "Give a shorter key")
    }
    return bytes
  }
}

extension ValueKey: KeyCodable {
  /// The length of the stored key, in bytes.
  public var encodedByteCount: Int { Pair(namespace, bytes).encodedByteCount }

  /// Writes the stored key.
  @_lifetime(output: copy output)
  public func encode(into output: inout OutputRawSpan) {
    Pair(namespace, bytes).encode(into: &output)
  }

  /// Reads a stored key.
  ///
  /// - Throws: `undecodable` if the bytes are not a stored key.
  public init(decoding bytes: RawSpan) throws(LMDBError) {
    let pair = try Pair<String, [UInt8]>(decoding: bytes)
    do {
      try self.init(pair.second, in: pair.first)
    } catch {
      throw .undecodable("a key of a value is longer than keys are")
    }
  }
}

extension ValueKey: Codable {
  private enum Key: String, CodingKey {
    case namespace, bytes
  }

  /// Decodes the namespace and the key's bytes; throws `DecodingError.dataCorrupted` if no value can have that key.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let namespace = try container.decode(String.self, forKey: .namespace)
    let bytes = try container.decode(Data.self, forKey: .bytes)
    do {
      try self.init([UInt8](bytes), in: namespace)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: error.description, underlyingError: error))
    }
  }

  /// Encodes the namespace, and the key's bytes as `Data`: in JSON as Base64.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(namespace, forKey: .namespace)
    try container.encode(Data(bytes), forKey: .bytes)
  }
}

extension TallyError {
  static let emptyValueKey = TallyError(.invalidKey, "The key of a value is empty", remedy: "Give a key")
}

/// Writes values of applications, and their images for undo.
struct ValueWriter {
  let table: Database<ValueKey, [UInt8]>
  /// Records which saved filters and series change; `nil` if the store does not synchronise.
  let syncNotes: SyncNotes?

  init(with writer: RecordWriter) {
    (table, syncNotes) = (writer.tables.values, writer.syncNotes)
  }

  /// Stores a value, or removes it if `bytes` is `nil`; returns whether anything changes.
  func write(
    _ bytes: [UInt8]?, forKey key: ValueKey, isGenerated: Bool = false, recording images: inout BeforeImages,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) -> Bool {
    let old = try table.value(forKey: key, in: transaction)
    guard old != bytes else { return false }
    images.add(old, ofValue: key)
    try syncNotes?.note(key, from: old, to: bytes, isGenerated: isGenerated, in: &transaction)
    if let bytes {
      try table.put(bytes, forKey: key, in: &transaction)
    } else {
      _ = try table.remove(forKey: key, in: &transaction)
    }
    return true
  }
}

/// A range of keys in one namespace, as stored bytes.
struct ValueBounds {
  private let lower: [UInt8]
  private let upper: [UInt8]

  init(in namespace: String, from lower: (any KeyCodable)?, upTo upper: (any KeyCodable)?) throws(TallyError) {
    try ValueKey.checkNamespace(namespace)
    let prefix = Leading(namespace).encodedBytes
    self.lower = prefix + (try lower.map { (key) throws(TallyError) in try ValueKey.checked(key) } ?? [])
    if let upper {
      self.upper = prefix + (try ValueKey.checked(upper))
    } else {
      // The last byte of the prefix is zero.
      self.upper = prefix.dropLast() + [1]
    }
  }

  /// Calls a closure with the entries until it returns `false`.
  func scan<T: LMDBTransaction & ~Copyable>(
    _ tables: Tables, reversed: Bool = false, in transaction: borrowing T, _ body: (RawSpan, RawSpan) throws -> Bool
  ) throws {
    try tables.values.raw.forEach(from: lower, upTo: upper, reversed: reversed, in: transaction, body)
  }
}

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
