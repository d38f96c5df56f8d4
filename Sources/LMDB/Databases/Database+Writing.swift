extension Database {
  /// Stores a value, replacing any that the key already has.
  ///
  /// The value is encoded straight into the page.
  ///
  /// Throws `badKeySize`, `badDatabase`, and `badValueSize` for a value that is too long, which change nothing. After
  /// `mapFull`, `transactionFull`, `diskFull`, `ioFailure`, and `badValueSize` for a codec that wrote another length than
  /// it announced, the transaction can only be aborted; whatever is tried then throws `badTransaction`.
  ///
  /// The corresponding C function is `mdb_put`.
  @inlinable
  public func put(_ value: Value, forKey key: Key, in transaction: inout WriteTransaction) throws(LMDBError) {
    _ = try store(value, forKey: key, .replace, in: transaction.core)
  }

  /// Stores a value unless the key has one, and returns whether it did.
  ///
  /// Throws as ``put(_:forKey:in:)``.
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
  /// Throws `keyExists`, and changes nothing, if the key does not come after every key there is; otherwise as
  /// ``put(_:forKey:in:)``.
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
  /// Throws as ``put(_:forKey:in:)``; removing needs pages too.
  ///
  /// The corresponding C function is `mdb_del`.
  @inlinable
  @discardableResult
  public func remove(forKey key: Key, in transaction: inout WriteTransaction) throws(LMDBError) -> Bool {
    let core = transaction.core
    // The pointer of the key is used only within the call.
    return unsafe try withEncoded(key) { (encoded) throws(LMDBError) in
      unsafe try core.remove(encoded, in: handle)
    }
  }

  /// Removes everything; the database stays.
  ///
  /// Throws as ``put(_:forKey:in:)``.
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
  /// Throws `badKeySize` if a bound cannot be a key, and as ``put(_:forKey:in:)``.
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
  /// Throws `badKeySize` if the prefix has more than 511 bytes, and as ``put(_:forKey:in:)``.
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
