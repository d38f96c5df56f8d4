import CLMDB

// Many entries among few others split each page in two, and leave it half to two thirds full. Where that would happen to
// nearly every page, all entries are taken out and appended in order instead, which leaves full pages and takes no
// longer.

extension TransactionCore {
  /// The least existing entries that are worth it.
  private static let leastCount = 1_024
  /// How many existing entries are appended again for each one that comes among them, at most.
  private static let mostPerEntry = 4

  /// Whether the entries of a batch come between existing ones everywhere: nearly each page would be written anyway.
  ///
  /// Only the first batch of a transaction: what it has written itself would be written, and left, once more.
  func isDense(
    _ batch: EncodedEntries, in database: DatabaseHandle, by cursor: CursorHandle
  ) throws(LMDBError) -> Bool {
    guard isFirstBatch(of: database), batch.count * Self.mostPerEntry >= Self.leastCount else { return false }
    let existingCount = try statistics(of: database).entryCount
    guard existingCount >= Self.leastCount, batch.count * Self.mostPerEntry >= existingCount else { return false }
    // No key is read in these moves; what they find is used before the next one.
    guard let end = unsafe try cursor.move(.last, key: UnsafeRawBufferPointer(start: nil, count: 0))?.key else {
      return false
    }
    return unsafe batch.countOfKeys(before: end) * Self.mostPerEntry >= existingCount
  }

  private func isFirstBatch(of database: DatabaseHandle) -> Bool {
    let isFirst = batched.insert(database.index).inserted
    return isFirst && (parent.map { !$0.batched.contains(database.index) } ?? true)
  }

  /// Stores the entries of a sorted batch, and all existing ones, in a tree of full pages.
  func merge(
    _ batch: EncodedEntries, into database: DatabaseHandle, by cursor: CursorHandle
  ) throws(LMDBError) {
    let existing = try takeAll(from: database, by: cursor)
    try unsafe existing.bytes.span.bytes.withUnsafeBytes { (old) throws(LMDBError) in
      // The pointers are used only within the closures, in which neither of both changes.
      try unsafe batch.bytes.span.bytes.withUnsafeBytes { (new) throws(LMDBError) in
        var rest = existing.entries[...]
        for entry in batch.entries {
          let key = unsafe UnsafeRawBufferPointer(rebasing: new[entry.key])
          while let first = rest.first {
            let oldKey = unsafe UnsafeRawBufferPointer(rebasing: old[first.key])
            guard unsafe !key.lexicographicallyPrecedes(oldKey) else { break }
            rest = rest.dropFirst()
            // An entry with the same key takes its place.
            if unsafe key.elementsEqual(oldKey) { break }
            unsafe try append(first, of: old, to: database, by: cursor)
          }
          let value = unsafe UnsafeRawBufferPointer(rebasing: new[entry.value])
          unsafe try store(value, forKey: key, isAfterAll: true, in: database, by: cursor)
        }
        for entry in rest { unsafe try append(entry, of: old, to: database, by: cursor) }
      }
    }
  }

  /// Takes all entries out, and returns them.
  private func takeAll(
    from database: DatabaseHandle, by cursor: CursorHandle
  ) throws(LMDBError) -> EncodedEntries {
    var all = EncodedEntries()
    var move = CursorMove.first
    // No key is read in these moves; what they find is copied before the next one.
    while let entry = unsafe try cursor.move(move, key: UnsafeRawBufferPointer(start: nil, count: 0)) {
      unsafe try all.add(entry.value, forKey: entry.key)
      move = .next
    }
    let transaction = try unsafe usableHandle(for: database, "put")
    // Empties it. Not noted for a journal, which is to have the new entries only.
    let result = unsafe mdb_drop(transaction, database.index, 0)
    guard result == MDB_SUCCESS else { throw failed(result, "put") }
    return all
  }

  private func append(
    _ entry: EncodedEntries.Entry, of bytes: UnsafeRawBufferPointer, to database: DatabaseHandle,
    by cursor: CursorHandle
  ) throws(LMDBError) {
    let (key, value) = unsafe (bytes[entry.key], bytes[entry.value])
    let room = unsafe try reserve(
      value.count, for: UnsafeRawBufferPointer(rebasing: key), .append, in: database, by: cursor)
    guard let room = unsafe room else { throw failed(MDB_CORRUPTED, "put") }
    unsafe room.copyMemory(from: UnsafeRawBufferPointer(rebasing: value))
  }
}

extension EncodedEntries {
  /// How many keys of a sorted batch are less than a key.
  fileprivate func countOfKeys(before key: UnsafeRawBufferPointer) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if unsafe bytes[entries[middle].key].lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Adds an entry whose bytes are copied.
  fileprivate mutating func add(
    _ value: UnsafeRawBufferPointer, forKey key: UnsafeRawBufferPointer
  ) throws(LMDBError) {
    let offset = bytes.count
    unsafe bytes.append(contentsOf: key)
    unsafe bytes.append(contentsOf: value)
    try addEntry(at: offset, keyEnd: offset + key.count, announced: (key.count, value.count))
  }
}
