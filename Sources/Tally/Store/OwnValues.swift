import Foundation
public import LMDB
import TallyEngine

extension StoreTransaction where Base: ~Copyable {
  /// A value that was set with `setValue`; `nil` if there is none.
  ///
  /// ```swift
  /// let theme = try store.read { try $0.value(String.self, forKey: "theme", in: "app.settings") }
  /// ```
  ///
  /// - Parameters:
  ///   - type: the type with which it was set.
  ///   - key: a text, bytes, a number, or any other key of the library LMDB.
  ///   - namespace: the application's name for a group of values.
  /// - Returns: the value.
  /// - Throws: `invalidKey`; `invalidValue` if the bytes are not the JSON of such a value; what the storage throws.
  /// - Complexity: one lookup, and decoding the JSON.
  public func value<Value: Decodable>(
    _ type: Value.Type = Value.self, forKey key: some KeyCodable, in namespace: String
  ) throws -> Value? {
    let key = try ValueKey(key, in: namespace)
    return try tables.values.value(forKey: key, in: base).map { try StoredValue(key: key, bytes: $0).decoded() }
  }

  /// The bytes of a value; `nil` if there is none.
  ///
  /// - Throws: `invalidKey`, and what the storage throws.
  /// - Complexity: one lookup.
  public func bytes(forKey key: some KeyCodable, in namespace: String) throws -> [UInt8]? {
    try tables.values.value(forKey: ValueKey(key, in: namespace), in: base)
  }

  /// The values of a namespace, in the order of their keys.
  ///
  /// ```swift
  /// let drafts = try transaction.values(in: "app.drafts", from: "2026-", upTo: "2027-", limit: 20)
  /// let texts = try drafts.map { try $0.decoded(as: String.self) }
  /// ```
  ///
  /// - Parameters:
  ///   - namespace: the application's name for a group of values.
  ///   - lower: the first key; `nil` for the beginning of the namespace.
  ///   - upper: the key before which the range ends; `nil` for the end of the namespace.
  ///   - reversed: whether the last key comes first.
  ///   - limit: the most values to return.
  /// - Returns: the values with their keys.
  /// - Throws: `invalidKey`, and what the storage throws.
  /// - Complexity: linear in the number of values returned.
  public func values(
    in namespace: String, from lower: (any KeyCodable)? = nil, upTo upper: (any KeyCodable)? = nil,
    reversed: Bool = false, limit: Int = .max
  ) throws -> [StoredValue] {
    let bounds = try ValueBounds(in: namespace, from: lower, upTo: upper)
    var found: [StoredValue] = []
    guard limit > 0 else { return [] }
    try bounds.scan(tables, reversed: reversed, in: base) { key, value in
      found.append(StoredValue(key: try ValueKey(decoding: key), bytes: value.bytes(from: 0)))
      return found.count < limit
    }
    return found
  }

  /// The namespaces that have values, in the order of their names, with their sizes.
  ///
  /// - Throws: what the storage throws.
  /// - Complexity: reads every key, but no value.
  public func valueNamespaces() throws -> [ValueNamespace] {
    var namespaces: [ValueNamespace] = []
    try tables.values.forEach(in: base) { key, value in
      let name = try ValueKey(decoding: key).namespace
      if namespaces.last?.name != name { namespaces.append(ValueNamespace(name: name)) }
      namespaces[namespaces.count - 1].count += 1
      namespaces[namespaces.count - 1].sizeInBytes += key.byteCount + value.byteCount
      return true
    }
    return namespaces
  }
}

extension StoreTransaction where Base == WriteTransaction {
  /// Stores a value as JSON, replacing the value that its key has already.
  ///
  /// ```swift
  /// try await store.write { try $0.setValue("dark", forKey: "theme", in: "app.settings") }
  /// ```
  ///
  /// It takes effect, and is undone, with the other changes of the write. Storing an equal value writes nothing.
  ///
  /// - Throws: `invalidKey`; `invalidValue` if the value has no JSON form or is larger than a gibibyte; what the
  ///   storage throws.
  public mutating func setValue(_ value: some Encodable, forKey key: some KeyCodable, in namespace: String) throws {
    try setBytes(StoredValue.encode(value), forKey: key, in: namespace)
  }

  /// Stores bytes as a value, replacing the value that its key has already.
  ///
  /// Otherwise it works as ``setValue(_:forKey:in:)``.
  public mutating func setBytes(
    _ bytes: some Sequence<UInt8>, forKey key: some KeyCodable, in namespace: String
  ) throws {
    try ValueKey.checkOwn(namespace)
    try write(Array(bytes), forKey: ValueKey(key, in: namespace))
  }

  /// Stores a value in any namespace.
  mutating func write(_ bytes: [UInt8], forKey key: ValueKey) throws {
    guard bytes.count <= TaskItem.maximumTextByteCount else { throw TallyError.longValue }
    if key.namespace == SavedFilter.namespace, syncTables != nil, state.origin == .local,
      bytes.count > SyncLimit.maximumTextByteCount
    {
      throw TallyError.tooLargeToSend("text", of: String(decoding: key.bytes, as: UTF8.self), byteCount: bytes.count)
    }
    let writer = ValueWriter(with: recordWriter)
    try changeIfNeeded { (_, images, base) throws(LMDBError) in
      try writer.write(bytes, forKey: key, recording: &images, in: &base)
    }
  }

  /// Removes a value.
  ///
  /// - Returns: whether there was one.
  /// - Throws: `invalidKey`, and what the storage throws.
  @discardableResult
  public mutating func removeValue(forKey key: some KeyCodable, in namespace: String) throws -> Bool {
    try ValueKey.checkOwn(namespace)
    return try removeValues([ValueKey(key, in: namespace)]) > 0
  }

  /// Removes all values of a namespace, or those in a range of keys.
  ///
  /// - Parameters:
  ///   - namespace: the application's name for a group of values.
  ///   - lower: the first key; `nil` for the beginning of the namespace.
  ///   - upper: the key before which the range ends; `nil` for the end of the namespace.
  /// - Returns: how many were removed.
  /// - Throws: `invalidKey`, and what the storage throws.
  @discardableResult
  public mutating func removeAllValues(
    in namespace: String, from lower: (any KeyCodable)? = nil, upTo upper: (any KeyCodable)? = nil
  ) throws -> Int {
    try ValueKey.checkOwn(namespace)
    var keys: [ValueKey] = []
    try ValueBounds(in: namespace, from: lower, upTo: upper).scan(tables, in: base) { key, _ in
      keys.append(try ValueKey(decoding: key))
      return true
    }
    return try removeValues(keys)
  }

  /// Removes values of any namespace, and returns how many existed.
  @discardableResult
  mutating func removeValues(_ keys: [ValueKey]) throws -> Int {
    var count = 0
    let writer = ValueWriter(with: recordWriter)
    try changeIfNeeded { (_, images, base) throws(LMDBError) in
      for key in keys where try writer.write(nil, forKey: key, recording: &images, in: &base) { count += 1 }
      return count > 0
    }
    return count
  }
}

extension TallyError {

  static let longValue = TallyError(
    .invalidValue, "A value takes more than a gibibyte", remedy: "Keep it in a file, and its path as the value")
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
