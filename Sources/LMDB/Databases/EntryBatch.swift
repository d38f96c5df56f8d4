/// Entries that are to be stored together, gathered in any order.
///
/// They are encoded as they come, so that their sources are read once and may be freed.
@usableFromInline
package struct EntryBatch<Key: KeyCodable, Value: BinaryCodable>: Sendable {
  @usableFromInline var encoded = EncodedEntries()

  /// A batch without entries.
  @inlinable
  package init() {}

  /// How many entries there are.
  @inlinable package var count: Int { encoded.count }

  /// Makes room for some times as many entries as there are, of the same lengths.
  ///
  /// An array that grows by and by is copied each time, and each copy touches memory that the process has yet to receive.
  package mutating func reserve(times factor: Double) {
    encoded.reserve(times: factor)
  }

  /// Adds an entry; the last one of a key counts.
  ///
  /// Throws `badKeySize`, and `badValueSize` for a value that is too long or a codec that wrote another length than it
  /// announced; the batch is of no use then.
  @inlinable
  package mutating func add(_ value: Value, forKey key: Key) throws(LMDBError) {
    let announced = (key: key.encodedByteCount, value: value.encodedByteCount)
    let offset = encoded.bytes.count
    var keyEnd = offset
    encoded.bytes.append(ofByteCount: announced.key + announced.value) { output in
      key.encode(into: &output)
      keyEnd += output.byteCount
      value.encode(into: &output)
    }
    try encoded.addEntry(at: offset, keyEnd: keyEnd, announced: announced)
  }
}

extension Database {
  /// Stores many values, each in place of the one its key has.
  ///
  /// They are stored in the order of their keys, whatever order they come in: the search for a key's place begins where
  /// the last one ended, and entries after all existing ones are appended, which leaves full pages. Entries that come
  /// among comparably many others are appended together with them, after the table has been emptied, for the same reason.
  ///
  /// Throws as ``put(_:forKey:in:)``.
  ///
  /// The corresponding C functions are `mdb_cursor_put`, with `MDB_APPEND` where it applies, and `mdb_drop`.
  ///
  /// - Complexity: the encoded entries are held in memory, and so are existing ones that are appended again, up to 32 MiB
  ///   of them.
  @inlinable
  public func put(
    contentsOf entries: some Sequence<(Key, Value)>,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    var batch = EntryBatch<Key, Value>()
    for (key, value) in entries { try batch.add(value, forKey: key) }
    try put(&batch, in: &transaction)
  }

  /// Stores the entries of a batch, and sorts it for that.
  ///
  /// Throws as ``put(contentsOf:in:)``.
  @inlinable
  package func put(
    _ batch: inout EntryBatch<Key, Value>, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    try transaction.core.put(&batch.encoded, in: handle)
  }

  /// Removes the keys of a batch, and sorts it for that.
  ///
  /// Throws as ``remove(forKey:in:)``.
  package func remove(
    _ batch: inout EntryBatch<Key, NoValue>, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    try transaction.core.remove(&batch.encoded, in: handle)
  }

  /// Finds a key that is in a batch twice or is stored already, and sorts the batch for that.
  ///
  /// Returns `nil` if there is none.
  ///
  /// Throws as ``value(forKey:in:)``.
  @inlinable
  package func firstTakenKey(
    of batch: inout EntryBatch<Key, Value>, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> Key? {
    guard let key = try transaction.core.firstTakenKey(of: &batch.encoded, in: handle) else { return nil }
    // Unsafe by signature only: bytes have no padding.
    return try Key(decoding: unsafe key.span.bytes)
  }
}
