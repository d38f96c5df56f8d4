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
  /// They are the file's own pages and belong to the transaction: the compiler ends them with its borrow at the latest,
  /// and allows no change meanwhile. They may lie at any address, without alignment.
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
