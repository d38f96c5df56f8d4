import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// A value that synchronisation has kept; `nil` if there is none.
  @_specialize(where Base == WriteTransaction)
  @_specialize(where Base == ReadTransaction)
  package func syncValue(forKey key: [UInt8]) throws -> [UInt8]? {
    try syncTables?.values.value(forKey: key, in: base)
  }

  /// Whether a value has a key that begins with a prefix.
  package func hasSyncValues(withPrefix prefix: [UInt8]) throws -> Bool {
    var isFound = false
    try forEachSyncValue(withPrefix: prefix) { _, _ in
      isFound = true
      return false
    }
    return isFound
  }

  /// How many values have keys that begin with a prefix; the values are not read.
  package func countSyncValues(withPrefix prefix: [UInt8]) throws -> Int {
    var count = 0
    try syncTables?.values.forEach(withPrefix: prefix, in: base) { _, _ in
      count += 1
      return true
    }
    return count
  }

  /// Passes the values whose keys begin with a prefix to a closure, in the order of the keys, until it returns false.
  @_specialize(where Base == WriteTransaction)
  @_specialize(where Base == ReadTransaction)
  package func forEachSyncValue(
    withPrefix prefix: [UInt8], _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Bool
  ) throws {
    try syncTables?.values.forEach(withPrefix: prefix, in: base) { key, value in
      try body(key.bytes(from: 0), value.bytes(from: 0))
    }
  }
}

extension StoreWriteTransaction {
  /// Keeps a value for synchronisation, or removes it.
  ///
  /// It does not change a task or list: neither the history nor observations know of it.
  ///
  /// - Throws: what the storage throws, also for a key of more than 511 bytes.
  package mutating func setSyncValue(_ value: [UInt8]?, forKey key: [UInt8]) throws {
    guard let table = syncTables?.values else { return }
    if let value {
      try table.put(value, forKey: key, in: &base)
    } else {
      _ = try table.remove(forKey: key, in: &base)
    }
  }

  /// Keeps many values, each in place of the one that its key has.
  ///
  /// Faster than one after the other: they are written in the order of their keys.
  ///
  /// - Throws: as ``setSyncValue(_:forKey:)``.
  package mutating func setSyncValues(_ values: some Sequence<([UInt8], [UInt8])>) throws {
    try syncTables?.values.put(contentsOf: values, in: &base)
  }
}
