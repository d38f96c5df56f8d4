import CLMDB

/// A typed handle for a named database.
///
/// Open each once, near the start, and keep it: it is a number, costs nothing to copy, and is valid as long as the
/// environment. A handle of another environment, of an opening that was aborted, or of a database that was dropped
/// throws `badDatabase`.
public struct Database<Key: KeyCodable, Value: BinaryCodable>: Sendable {
  @usableFromInline
  let handle: DatabaseHandle

  init(_ handle: DatabaseHandle) {
    self.handle = handle
  }

  /// The same database with its keys and values as bytes, for walks that do not depend on their types.
  package var raw: Database<[UInt8], [UInt8]> { raw(keyedBy: [UInt8].self) }

  /// The same database with its values as bytes, and its keys as bytes in another type.
  package func raw<Bytes: KeyCodable>(keyedBy: Bytes.Type) -> Database<Bytes, [UInt8]> {
    Database<Bytes, [UInt8]>(handle)
  }

  /// Opens a database within a write transaction, which must be committed for the handle to last.
  ///
  /// Throws `databaseNotFound` if there is none and `creating` is false; `databasesFull`; `incompatible` if it has
  /// flags this binding does not use, such as several values per key.
  ///
  /// The corresponding C function is `mdb_dbi_open`.
  public init(opening name: String, creating: Bool, in transaction: inout WriteTransaction) throws(LMDBError) {
    handle = try transaction.core.openDatabase(named: name, creating: creating)
  }

  /// Opens a database that exists; transactions that begin afterwards can use it.
  ///
  /// It takes a short read transaction of its own. A transaction that is already live would not know the handle, so
  /// none is taken as a parameter.
  ///
  /// Throws what the other initialiser throws, and `busy` while this thread has opened databases in a write
  /// transaction.
  ///
  /// The corresponding C function is `mdb_dbi_open`.
  public init(opening name: String, in environment: LMDBEnvironment) throws(LMDBError) {
    handle = try environment.openDatabase(named: name)
  }
}

extension Database {
  /// Reads the value of a key; `nil` if there is none.
  ///
  /// Throws `badKeySize`, `badDatabase`, `badTransaction`, and what decoding throws.
  ///
  /// The corresponding C function is `mdb_get`.
  @inlinable
  public func value<T: LMDBTransaction & ~Copyable>(
    forKey key: Key,
    in transaction: borrowing T
  ) throws(LMDBError) -> Value? {
    guard let found = try bytes(forKey: key, in: transaction) else { return nil }
    return try Value(decoding: found)
  }

  /// Returns the stored bytes of a key without copying them, or `nil` if there are none.
  ///
  /// They are the file's own pages and belong to the transaction. The compiler ends their use with the borrow of the
  /// transaction at the latest, and allows no change until then. They may lie at any address, without alignment.
  ///
  /// Throws `badKeySize`, `badDatabase`, `badTransaction`.
  ///
  /// The corresponding C function is `mdb_get`.
  @inlinable
  @_lifetime(borrow transaction)
  public func bytes<T: LMDBTransaction & ~Copyable>(
    forKey key: Key,
    in transaction: borrowing T
  ) throws(LMDBError) -> RawSpan? {
    let core = transaction.core
    // The pointer of the key is used only within the call.
    let found = unsafe try withEncoded(key) { (encoded) throws(LMDBError) in
      unsafe try core.find(encoded, in: handle)
    }
    guard let found = unsafe found else { return nil }
    // The bytes stay where they are until the transaction ends or changes something; both need its borrow to be over.
    return unsafe _overrideLifetime(found.bytes, borrowing: transaction)
  }

  /// Whether there is a value for a key; the value is neither read nor decoded.
  ///
  /// Throws `badKeySize`, `badDatabase`, `badTransaction`.
  ///
  /// The corresponding C function is `mdb_get`.
  @inlinable
  public func contains<T: LMDBTransaction & ~Copyable>(
    _ key: Key,
    in transaction: borrowing T
  ) throws(LMDBError) -> Bool {
    try bytes(forKey: key, in: transaction) != nil
  }
}

extension Database {
  /// Stores a value, replacing any that the key already has.
  ///
  /// The value is encoded straight into the page.
  ///
  /// Throws `badKeySize`, `badDatabase`, and `badValueSize` for a value that is too long, which change nothing. After
  /// `mapFull`, `transactionFull`, `diskFull`, `ioFailure`, and `badValueSize` for a codec that wrote a different
  /// length than it announced, the transaction can only be aborted; every other call then throws `badTransaction`.
  ///
  /// The corresponding C function is `mdb_put`.
  @inlinable
  public func put(_ value: Value, forKey key: Key, in transaction: inout WriteTransaction) throws(LMDBError) {
    _ = try store(value, forKey: key, .replace, in: transaction.core)
  }

  /// Stores a value unless the key has one, and returns whether it did.
  ///
  /// Throws what ``put(_:forKey:in:)`` throws.
  ///
  /// The corresponding C function is `mdb_put` with `MDB_NOOVERWRITE`.
  @inlinable
  public func insert(
    _ value: Value,
    forKey key: Key,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) -> Bool {
    try store(value, forKey: key, .insert, in: transaction.core)
  }

  /// Stores a value after all others: the fastest way to load many values, and the one that fills pages.
  ///
  /// Throws `keyExists`, and changes nothing, if the key does not come after every existing key; otherwise what
  /// ``put(_:forKey:in:)`` throws.
  ///
  /// The corresponding C function is `mdb_put` with `MDB_APPEND`.
  @inlinable
  public func append(_ value: Value, forKey key: Key, in transaction: inout WriteTransaction) throws(LMDBError) {
    guard try store(value, forKey: key, .append, in: transaction.core) else {
      throw LMDBError(.keyExists, operation: "append")
    }
  }

  /// Removes a key with its value, and returns whether there was one.
  ///
  /// Throws what ``put(_:forKey:in:)`` throws, because removing also needs pages.
  ///
  /// The corresponding C function is `mdb_del`.
  @inlinable
  @discardableResult
  public func remove(forKey key: Key, in transaction: inout WriteTransaction) throws(LMDBError) -> Bool {
    let core = transaction.core
    // The pointer of the key is used only within the call.
    try core.continueInTreeIfLarge()
    return unsafe try withEncoded(key) { (encoded) throws(LMDBError) in
      unsafe try core.remove(encoded, in: handle)
    }
  }

  /// Removes everything; the database stays.
  ///
  /// Throws what ``put(_:forKey:in:)`` throws.
  ///
  /// The corresponding C function is `mdb_drop`.
  public func removeAll(in transaction: inout WriteTransaction) throws(LMDBError) {
    try transaction.core.removeAll(in: handle)
  }

  /// Removes every key in a range, and returns how many there were.
  ///
  /// ```swift
  /// try names.removeAll(within: ..<oldest, in: &transaction)
  /// ```
  ///
  /// Throws `badKeySize` if a bound cannot be a key, and what ``put(_:forKey:in:)`` throws.
  ///
  /// The corresponding C function is `mdb_cursor_del`.
  @inlinable
  @discardableResult
  public func removeAll(
    within range: some KeyRange<Key>, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> Int {
    try transaction.core.removeAll(within: range.keyBounds.encoded(), in: handle)
  }

  /// Removes every key that begins with a prefix, and returns how many there were.
  ///
  /// ```swift
  /// try visits.removeAll(withPrefix: Leading("ada"), in: &transaction)
  /// ```
  ///
  /// Throws `badKeySize` if the prefix has more than 511 bytes, and what ``put(_:forKey:in:)`` throws.
  ///
  /// The corresponding C function is `mdb_cursor_del`.
  @inlinable
  @discardableResult
  public func removeAll<Prefix: BinaryCodable>(
    withPrefix prefix: Prefix, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> Int {
    try transaction.core.removeAll(within: EncodedBounds(ofPrefix: encodedPrefix(prefix)), in: handle)
  }

  @inlinable
  func store(
    _ value: Value,
    forKey key: Key,
    _ mode: StoreMode,
    in core: TransactionCore
  ) throws(LMDBError) -> Bool {
    let byteCount = value.encodedByteCount
    // The pointers of key and page are used only within the call.
    return unsafe try withEncoded(key) { (encoded) throws(LMDBError) in
      guard let page = unsafe try core.reserve(byteCount, for: encoded, mode, in: handle) else { return false }
      // The room is the value's alone until the next change.
      var output = unsafe OutputRawSpan(buffer: page, initializedCount: 0)
      value.encode(into: &output)
      // The output was created from this very page.
      let written = unsafe output.finalize(for: page)
      // Bytes that the codec did not write are what the allocator left there: they must not reach the file.
      guard written == page.count else { throw unsafe core.failShortValue(written, of: page) }
      return true
    }
  }
}

extension Database {
  /// Calls the body with the bytes of every entry from a key (included) up to another one (excluded), in order, until it
  /// answers `false`.
  ///
  /// Without bounds it goes through the whole database. The spans are the file's own pages, and end with the call.
  ///
  /// Throws `badKeySize`, `badDatabase`, `badTransaction`, and what the body throws.
  ///
  /// The corresponding C function is `mdb_cursor_get`.
  @inlinable
  public func forEach<T: LMDBTransaction & ~Copyable>(
    from lower: Key? = nil,
    upTo upper: Key? = nil,
    reversed: Bool = false,
    in transaction: borrowing T,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws {
    let bounds = EncodedBounds(lower: try lower.map(encodedKey), upper: try upper.map(encodedKey))
    try scan(bounds, reversed: reversed, in: transaction, body)
  }

  /// Calls the body with the bytes of every entry whose key lies in a range, in order, until it answers `false`.
  ///
  /// ```swift
  /// try words.forEach(within: "a"..."c", in: transaction) { key, value in
  ///   show(try String(decoding: key), try UInt64(decoding: value))
  ///   return true
  /// }
  /// ```
  ///
  /// Throws what the form with bounds throws. That form is for keys that cannot be compared, such as bytes.
  ///
  /// The corresponding C function is `mdb_cursor_get`.
  @inlinable
  public func forEach<T: LMDBTransaction & ~Copyable>(
    within range: some KeyRange<Key>,
    reversed: Bool = false,
    in transaction: borrowing T,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws {
    try scan(range.keyBounds.encoded(), reversed: reversed, in: transaction, body)
  }

  /// Calls the body with the bytes of every entry whose key begins with a prefix, in order, until it answers `false`.
  ///
  /// Throws `badKeySize` if the prefix has more than 511 bytes, `badDatabase`, `badTransaction`, and what the body throws.
  ///
  /// The corresponding C function is `mdb_cursor_get`.
  @inlinable
  public func forEach<Prefix: BinaryCodable, T: LMDBTransaction & ~Copyable>(
    withPrefix prefix: Prefix,
    reversed: Bool = false,
    in transaction: borrowing T,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws {
    try scan(EncodedBounds(ofPrefix: encodedPrefix(prefix)), reversed: reversed, in: transaction, body)
  }

  /// Goes through a range of encoded keys.
  @inlinable
  func scan<T: LMDBTransaction & ~Copyable>(
    _ bounds: EncodedBounds,
    reversed: Bool,
    in transaction: borrowing T,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws {
    var cursor = try Cursor<[UInt8], Value>(of: handle, in: transaction)
    var isAtEntry =
      if let start = reversed ? bounds.upper : bounds.lower {
        try reversed ? cursor.move(toLastBefore: start) : cursor.move(toFirstAtOrAfter: start)
      } else {
        try reversed ? cursor.moveToLast() : cursor.moveToFirst()
      }
    while isAtEntry {
      let isOutside =
        reversed
        ? !reaches(cursor.keyBytes, bounds.lower ?? []) : reaches(cursor.keyBytes, bounds.upper)
      guard !isOutside, try body(cursor.keyBytes, cursor.valueBytes) else { return }
      isAtEntry = try reversed ? cursor.previous() : cursor.next()
    }
  }
}

/// The shape of one database's tree.
public struct DatabaseStatistics: Sendable, Hashable {
  /// The number of keys.
  public let entryCount: Int
  /// The number of levels.
  public let depth: Int
  /// Pages between the root and the leaves.
  public let branchPageCount: Int
  /// Pages that hold entries.
  public let leafPageCount: Int
  /// Pages that hold values too long for a leaf.
  public let overflowPageCount: Int
  /// The size of a page.
  public let pageSizeInBytes: Int

  init(_ statistics: MDB_stat) {
    entryCount = statistics.ms_entries
    depth = Int(statistics.ms_depth)
    branchPageCount = statistics.ms_branch_pages
    leafPageCount = statistics.ms_leaf_pages
    overflowPageCount = statistics.ms_overflow_pages
    pageSizeInBytes = Int(statistics.ms_psize)
  }
}

extension Database {
  /// The number of keys, known without counting them.
  ///
  /// Throws `badDatabase`, `badTransaction`.
  ///
  /// The corresponding C function is `mdb_stat`.
  public func count<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> Int {
    try statistics(in: transaction).entryCount
  }

  /// Describes the shape of the tree.
  ///
  /// Throws `badDatabase`, `badTransaction`.
  ///
  /// The corresponding C function is `mdb_stat`.
  public func statistics<T: LMDBTransaction & ~Copyable>(
    in transaction: borrowing T
  ) throws(LMDBError) -> DatabaseStatistics {
    try transaction.core.statistics(of: handle)
  }

  /// An upper bound for the size of all values together.
  package func largestSizeInBytes<T: LMDBTransaction & ~Copyable>(
    in transaction: borrowing T
  ) throws(LMDBError) -> Int {
    let pages = try DatabaseStatistics(transaction.core.statisticsOfTree(of: handle))
    let tree = (pages.leafPageCount + pages.overflowPageCount) * pages.pageSizeInBytes
    return tree + (try transaction.core.overlay?.valueByteCount(of: handle) ?? 0)
  }
}

extension TransactionCore {
  func statistics(of database: DatabaseHandle) throws(LMDBError) -> DatabaseStatistics {
    var statistics = try statisticsOfTree(of: database)
    if let overlay {
      let change = try overlay.countChange(in: database) { (node) throws(LMDBError) in
        unsafe try findInTree(node.key, in: database) != nil
      }
      statistics.ms_entries += change
    }
    return DatabaseStatistics(statistics)
  }

  fileprivate func statisticsOfTree(of database: DatabaseHandle) throws(LMDBError) -> MDB_stat {
    // The handle is live: it has just been checked.
    let transaction = try unsafe usableHandle(for: database, "statistics")
    var statistics = MDB_stat()
    // Only writes into the local it is given.
    let result = unsafe mdb_stat(transaction, database.index, &statistics)
    guard result == MDB_SUCCESS else { throw failed(result, "statistics") }
    return statistics
  }
}
