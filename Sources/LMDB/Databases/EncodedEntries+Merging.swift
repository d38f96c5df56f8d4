import CLMDB

// Many entries among others split each page in two, and leave it a half to two thirds full. Where that would happen to
// nearly every page, all entries are taken out and appended in order instead, which leaves full pages.

extension TransactionCore {
  /// Smaller tables are not merged.
  private static let minimumEntryCount = 1_024
  /// The most existing entries that are rewritten per new one.
  private static let maximumExistingPerNew = 4
  /// Larger tables are not merged: their entries are held in memory.
  private static let maximumPageCount = 8_192
  /// How many keys of a batch are looked up, to see whether they lie among all existing ones.
  private static let probeCount = 16

  /// Whether a sorted batch comes among existing entries everywhere, so that nearly each page would be written anyway.
  ///
  /// Only the first large batch of a transaction: a later one would rewrite pages of this transaction, and those that it
  /// frees stay in the file.
  func isDense(
    _ batch: EncodedEntries, in database: DatabaseHandle, by cursor: CursorHandle
  ) throws(LMDBError) -> Bool {
    let mostExisting = batch.count * Self.maximumExistingPerNew
    guard mostExisting >= Self.minimumEntryCount, noteBatch(in: database) else { return false }
    let table = try statistics(of: database)
    guard table.entryCount >= Self.minimumEntryCount, table.entryCount <= mostExisting,
      table.leafPageCount <= Self.maximumPageCount,
      // Long values have pages of their own, which would not be written otherwise.
      table.overflowPageCount * Self.probeCount <= table.leafPageCount
    else { return false }
    return try isSpread(batch, by: cursor)
  }

  /// Notes a batch, and returns whether it is the first one of this transaction, those around it included.
  private func noteBatch(in database: DatabaseHandle) -> Bool {
    let isFirst = batched.insert(database.index).inserted
    var outer = parent
    while let core = outer {
      if core.batched.contains(database.index) { return false }
      outer = core.parent
    }
    return isFirst
  }

  /// Whether most keys of a sample have another existing key after them than the one before.
  private func isSpread(_ batch: EncodedEntries, by cursor: CursorHandle) throws(LMDBError) -> Bool {
    var places = 0
    var last: [UInt8]?
    for number in 0..<Self.probeCount {
      let entry = batch.entries[batch.count * number / Self.probeCount]
      let found = try unsafe batch.bytes.span.bytes.withUnsafeBytes { (bytes) throws(LMDBError) -> [UInt8]? in
        // Nothing is written meanwhile, and the found key is copied.
        let key = unsafe UnsafeRawBufferPointer(rebasing: bytes[entry.key])
        return unsafe try cursor.move(.atOrAfter, key: key).map { unsafe [UInt8]($0.key) }
      }
      guard let found else { break }
      if found != last { places += 1 }
      last = found
    }
    return places * 4 >= Self.probeCount * 3
  }

  /// Stores the entries of a sorted batch, and all existing ones, in a tree of full pages.
  func merge(
    _ batch: EncodedEntries, into database: DatabaseHandle, by cursor: CursorHandle
  ) throws(LMDBError) {
    let existing = try takeAll(from: database, by: cursor)
    try unsafe existing.bytes.span.bytes.withUnsafeBytes { (old) throws(LMDBError) in
      // The pointers are used only within the closures, where neither array changes.
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
    let table = try statistics(of: database)
    var all = EncodedEntries()
    all.reserve(table.entryCount, byteCount: table.leafPageCount * table.pageSizeInBytes)
    var move = CursorMove.first
    // No key is read in these moves; what they find is copied before the next one.
    while let entry = unsafe try cursor.move(move, key: UnsafeRawBufferPointer(start: nil, count: 0)) {
      unsafe try all.add(entry.value, forKey: entry.key)
      move = .next
    }
    let transaction = try unsafe usableHandle(for: database, "put")
    // Zero empties it.
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
