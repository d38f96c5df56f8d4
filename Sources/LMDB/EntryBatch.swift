import CLMDB

/// Entries to store together, gathered in any order.
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

  /// Makes room for several times as many entries as there are, of the same lengths.
  ///
  /// An array that grows step by step is copied each time, and each copy touches memory that is new to the process.
  package mutating func reserve(times factor: Double) {
    encoded.reserve(Int(Double(count) * factor), byteCount: Int(Double(encoded.bytes.count) * factor))
  }

  /// Adds an entry; the last one of a key counts.
  ///
  /// Throws `badKeySize`, and `badValueSize` for a value that is too long or a codec that wrote a different length than
  /// it announced. After that, the batch is of no use.
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
  /// Stores many values; each replaces the value that its key has.
  ///
  /// They are stored in the order of their keys, in whatever order they are given: the search for a key's place begins
  /// where the last one ended, and entries after all existing ones are appended, which leaves full pages. Entries that
  /// come among comparably many others are appended together with them, after the table has been emptied, for the same
  /// reason.
  ///
  /// Throws what ``put(_:forKey:in:)`` throws.
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

  /// Sorts a batch and stores its entries.
  ///
  /// Throws what ``put(contentsOf:in:)`` throws.
  @inlinable
  package func put(
    _ batch: inout EntryBatch<Key, Value>, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    try transaction.core.put(&batch.encoded, in: handle)
  }

  /// Sorts a batch and removes its keys.
  ///
  /// Throws what ``remove(forKey:in:)`` throws.
  package func remove(
    _ batch: inout EntryBatch<Key, NoValue>, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    try transaction.core.remove(&batch.encoded, in: handle)
  }

  /// Sorts a batch and finds a key that is in it twice or is stored already.
  ///
  /// Returns `nil` if there is none.
  ///
  /// Throws what ``value(forKey:in:)`` throws.
  @inlinable
  package func firstTakenKey(
    of batch: inout EntryBatch<Key, Value>, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> Key? {
    guard let key = try transaction.core.firstTakenKey(of: &batch.encoded, in: handle) else { return nil }
    // Unsafe by signature only: bytes have no padding.
    return try Key(decoding: unsafe key.span.bytes)
  }
}

/// Encoded entries, one after the other in memory.
@safe
@usableFromInline
struct EncodedEntries: Sendable {
  /// The place of one entry in the buffer: its key, then its value.
  struct Entry {
    let offset: Int
    let valueByteCount: UInt32
    let keyByteCount: UInt16
    /// The eight bytes of the key by which it is being sorted.
    var word: UInt64 = 0

    var key: Range<Int> { offset..<offset + Int(keyByteCount) }
    var value: Range<Int> { key.upperBound..<key.upperBound + Int(valueByteCount) }
  }

  @usableFromInline var bytes: [UInt8] = []
  var entries: [Entry] = []
  private(set) var longestKeyByteCount = 0
  var isSorted = true

  @usableFromInline
  init() {}

  @usableFromInline var count: Int { entries.count }

  mutating func reserve(_ entryCount: Int, byteCount: Int) {
    bytes.reserveCapacity(byteCount)
    entries.reserveCapacity(entryCount)
  }

  /// Records the entry whose bytes have been appended.
  @usableFromInline
  mutating func addEntry(at offset: Int, keyEnd: Int, announced: (key: Int, value: Int)) throws(LMDBError) {
    assert(offset >= entries.last?.value.upperBound ?? 0, "an entry inside another")
    assert(offset <= keyEnd && keyEnd <= bytes.count, "an entry outside the bytes")
    let (keyByteCount, valueByteCount) = (keyEnd - offset, bytes.count - keyEnd)
    guard keyByteCount >= 1, keyByteCount <= LMDBLimits.keySizeInBytes, keyByteCount == announced.key else {
      throw LMDBLimits.badKeySize(keyByteCount)
    }
    guard valueByteCount <= LMDBLimits.valueSizeInBytes, valueByteCount == announced.value else {
      throw LMDBError(.badValueSize, operation: "put")
    }
    entries.append(
      Entry(offset: offset, valueByteCount: UInt32(valueByteCount), keyByteCount: UInt16(keyByteCount)))
    longestKeyByteCount = max(longestKeyByteCount, keyByteCount)
    isSorted = false
  }

  /// The eight bytes of a key from an offset on, as a number; bytes that the key lacks count as zeros.
  func word(of entry: Entry, at offset: Int) -> UInt64 {
    let start = entry.offset + offset
    let byteCount = Int(entry.keyByteCount) - offset
    if byteCount >= 8 {
      // Unsafe by signature only: bytes have no padding, every bit pattern is a number, and the load checks its bounds.
      return UInt64(bigEndian: unsafe bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
    }
    var word: UInt64 = 0
    for index in 0..<8 { word = word << 8 | (index < byteCount ? UInt64(bytes[start + index]) : 0) }
    return word
  }

  /// Whether no key is less than the one before; for assertions.
  var areKeysAscending: Bool {
    zip(entries, entries.dropFirst()).allSatisfy { !bytes[$1.key].lexicographicallyPrecedes(bytes[$0.key]) }
  }
}

extension EncodedEntries {
  /// Brings the entries into the order of their keys; those of equal keys stay in the order in which they came.
  ///
  /// Keys are compared only in short runs. The entries are distributed by the first byte in which they differ, then
  /// each part by its own first one; the next eight bytes are fetched from the key only where eight are equal.
  /// Comparing and moving whole keys, a dozen times each, took a quarter of the time of storing many records.
  @usableFromInline
  mutating func sort() {
    guard !isSorted else { return }
    isSorted = true
    var sorted = entries
    // Room for the same number of entries; the original is emptied first, so that there are never more than two arrays.
    var room = entries
    entries = []
    unsafe sorted.withUnsafeMutableBufferPointer { entries in
      unsafe room.withUnsafeMutableBufferPointer { room in
        // Both live as long as the closures, and no run reaches beyond them.
        let sorting = unsafe EntrySorting(keys: self, entries: entries, room: room)
        sorting.sort(0..<entries.count, byWordAt: 0)
      }
    }
    entries = sorted
    assert(areKeysAscending, "the order of keys is wrong")
  }
}

/// Sorts entries while their memory is at hand.
@safe
private struct EntrySorting {
  /// At most this many are compared with each other.
  private static let shortRunCount = 16
  private static let wordByteCount = 8

  let keys: EncodedEntries
  // Both belong to the caller, who outlives this; every run lies within both.
  let entries: UnsafeMutableBufferPointer<EncodedEntries.Entry>
  let room: UnsafeMutableBufferPointer<EncodedEntries.Entry>

  /// Sorts a run whose keys are equal up to an offset.
  func sort(_ run: Range<Int>, byWordAt offset: Int) {
    // Within the run, as all indices below.
    for index in run { unsafe entries[index].word = keys.word(of: entries[index], at: offset) }
    sortByWord(run, at: offset)
  }

  /// Sorts a run whose words are those at an offset.
  private func sortByWord(_ run: Range<Int>, at offset: Int) {
    guard run.count > Self.shortRunCount else { return insert(run, at: offset) }
    assert(unsafe run.upperBound <= entries.count && entries.count == room.count, "a run outside the memory")
    var (differing, isAscending) = (UInt64(0), true)
    var last = unsafe entries[run.lowerBound].word
    for index in run {
      let word = unsafe entries[index].word
      differing |= word ^ last
      isAscending = isAscending && last <= word
      last = word
    }
    guard !isAscending else { return sortEqual(run, at: offset) }
    let shift = UInt64(differing.bitWidth - 1 - differing.leadingZeroBitCount) & ~7
    var start = run.lowerBound
    for end in distribute(run, byByteAt: shift) {
      if end - start > 1 { sortByWord(start..<end, at: offset) }
      start = end
    }
  }

  /// Sorts the equal elements in a run of ascending words.
  private func sortEqual(_ run: Range<Int>, at offset: Int) {
    let next = offset + Self.wordByteCount
    var start = run.lowerBound
    while start < run.upperBound {
      var end = start + 1
      while end < run.upperBound, unsafe entries[end].word == entries[start].word { end += 1 }
      if end - start > 1 {
        if next < keys.longestKeyByteCount {
          sort(start..<end, byWordAt: next)
        } else {
          insert(start..<end, at: offset)
        }
      }
      start = end
    }
  }

  /// Distributes a run by one byte of the words; entries that are equal in it stay in their order.
  ///
  /// - Returns: where the entries of each byte end.
  private func distribute(_ run: Range<Int>, byByteAt shift: UInt64) -> [Int] {
    var next = Array(repeating: 0, count: 256)
    for index in run { next[unsafe Int(entries[index].word >> shift & 0xFF)] += 1 }
    var start = run.lowerBound
    for byte in next.indices { (next[byte], start) = (start, start + next[byte]) }
    assert(start == run.upperBound, "an entry is lost")
    for index in run {
      let entry = unsafe entries[index]
      let byte = Int(entry.word >> shift & 0xFF)
      unsafe room[next[byte]] = entry
      next[byte] += 1
    }
    for index in run { unsafe entries[index] = room[index] }
    return next
  }

  /// Sorts a short run by inserting one entry after the other.
  private func insert(_ run: Range<Int>, at offset: Int) {
    for index in run.dropFirst() {
      let entry = unsafe entries[index]
      var place = index
      while place > run.lowerBound, unsafe precedes(entry, entries[place - 1], at: offset) {
        unsafe entries[place] = entries[place - 1]
        place -= 1
      }
      unsafe entries[place] = entry
    }
  }

  /// Whether a key comes before another one; both are equal up to an offset, and their words at that offset are at
  /// hand.
  private func precedes(_ left: EncodedEntries.Entry, _ right: EncodedEntries.Entry, at offset: Int) -> Bool {
    if left.word != right.word { return left.word < right.word }
    for next in stride(from: offset + Self.wordByteCount, to: keys.longestKeyByteCount, by: Self.wordByteCount) {
      let (leftWord, rightWord) = (keys.word(of: left, at: next), keys.word(of: right, at: next))
      if leftWord != rightWord { return leftWord < rightWord }
    }
    // The bytes that a shorter key lacks have counted as zeros.
    return left.keyByteCount < right.keyByteCount
  }
}

extension TransactionCore {
  /// Stores entries in the order of their keys.
  @usableFromInline
  func put(_ batch: inout EncodedEntries, in database: DatabaseHandle) throws(LMDBError) {
    batch.sort()
    if try putInLog(batch, in: database) { return }
    let cursor = try CursorHandle(of: database, in: self)
    // The cursor is not used afterwards, and the transaction is still live when it is closed.
    defer { cursor.close() }
    if try isDense(batch, in: database, by: cursor) { return try merge(batch, into: database, by: cursor) }
    // The pointers are used only within the closure, in which the batch does not change.
    try unsafe batch.bytes.span.bytes.withUnsafeBytes { (bytes) throws(LMDBError) in
      // No key is read in this move.
      let end = unsafe try cursor.move(.last, key: UnsafeRawBufferPointer(start: nil, count: 0))?.key
      // The key that liblmdb has found is copied, because its page may go with the first change.
      var last = unsafe end.map { unsafe [UInt8]($0) }
      for entry in batch.entries {
        let key = unsafe UnsafeRawBufferPointer(rebasing: bytes[entry.key])
        if let end = last, unsafe end.lexicographicallyPrecedes(key) { last = nil }
        let value = unsafe UnsafeRawBufferPointer(rebasing: bytes[entry.value])
        unsafe try store(value, forKey: key, isAfterAll: last == nil, in: database, by: cursor)
      }
    }
  }

  /// Removes the keys of entries, in their order.
  func remove(_ batch: inout EncodedEntries, in database: DatabaseHandle) throws(LMDBError) {
    batch.sort()
    // The pointers are used only within the closure, in which the batch does not change.
    try unsafe batch.bytes.span.bytes.withUnsafeBytes { (bytes) throws(LMDBError) in
      for entry in batch.entries {
        _ = unsafe try remove(UnsafeRawBufferPointer(rebasing: bytes[entry.key]), in: database)
      }
    }
  }

  func store(
    _ value: UnsafeRawBufferPointer,
    forKey key: UnsafeRawBufferPointer,
    isAfterAll: Bool,
    in database: DatabaseHandle,
    by cursor: CursorHandle
  ) throws(LMDBError) {
    assert(unsafe value.count <= LMDBLimits.valueSizeInBytes && !key.isEmpty, "an entry that was not checked")
    // The room lies in a page of the transaction, and is used before the next change.
    var page = unsafe isAfterAll ? try reserve(value.count, for: key, .append, in: database, by: cursor) : nil
    // A key that cannot be appended is in the batch twice.
    if unsafe page == nil { unsafe page = try reserve(value.count, for: key, .replace, in: database, by: cursor) }
    unsafe page?.copyMemory(from: value)
  }

  /// The first key that is in a batch twice or is stored already.
  @usableFromInline
  func firstTakenKey(of batch: inout EncodedEntries, in database: DatabaseHandle) throws(LMDBError) -> [UInt8]? {
    batch.sort()
    for (entry, next) in zip(batch.entries, batch.entries.dropFirst()) {
      let key = batch.bytes[entry.key]
      if key.elementsEqual(batch.bytes[next.key]) { return Array(key) }
    }
    let cursor = try CursorHandle(of: database, in: self)
    // The cursor is not used afterwards, and the transaction is still live when it is closed.
    defer { cursor.close() }
    return try unsafe batch.bytes.span.bytes.withUnsafeBytes { (bytes) throws(LMDBError) -> [UInt8]? in
      for (index, entry) in batch.entries.enumerated() {
        let key = unsafe UnsafeRawBufferPointer(rebasing: bytes[entry.key])
        // If nothing stored lies at or after the first key, no later key is stored either.
        let move = index == 0 ? CursorMove.atOrAfter : .exactly
        guard let found = unsafe try cursor.move(move, key: key) else {
          if index == 0 { return nil }
          continue
        }
        if unsafe found.key.elementsEqual(key) { return unsafe [UInt8](key) }
      }
      return nil
    }
  }
}

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

  /// Whether the entries of a sorted batch come among existing ones everywhere, so that nearly every page would be
  /// written anyway.
  ///
  /// This is true only for the first large batch of a transaction. A later one would rewrite pages of this transaction,
  /// and the pages that it frees stay in the file.
  func isDense(
    _ batch: EncodedEntries, in database: DatabaseHandle, by cursor: CursorHandle
  ) throws(LMDBError) -> Bool {
    let mostExisting = batch.count * Self.maximumExistingPerNew
    guard mostExisting >= Self.minimumEntryCount, recordBatch(in: database) else { return false }
    let table = try statistics(of: database)
    guard table.entryCount >= Self.minimumEntryCount, table.entryCount <= mostExisting,
      table.leafPageCount <= Self.maximumPageCount,
      // Long values have pages of their own, which would not be written otherwise.
      table.overflowPageCount * Self.probeCount <= table.leafPageCount
    else { return false }
    return try isSpread(batch, by: cursor)
  }

  /// Records a batch, and returns whether it is the first one of this transaction and of those around it.
  private func recordBatch(in database: DatabaseHandle) -> Bool {
    let isFirst = batched.insert(database.index).inserted
    var outer = parent
    while let core = outer {
      if core.batched.contains(database.index) { return false }
      outer = core.parent
    }
    return isFirst
  }

  /// Whether most keys of a sample are followed by a different existing key than the sampled key before them.
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
    let existing = try extractAll(from: database, by: cursor)
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

  /// Removes all entries, and returns them.
  private func extractAll(
    from database: DatabaseHandle, by cursor: CursorHandle
  ) throws(LMDBError) -> EncodedEntries {
    let table = try statistics(of: database)
    var all = EncodedEntries()
    all.reserve(table.entryCount, byteCount: table.leafPageCount * table.pageSizeInBytes)
    var move = CursorMove.first
    // These moves read no key, and the entry that they find is copied before the next one.
    while let entry = unsafe try cursor.move(move, key: UnsafeRawBufferPointer(start: nil, count: 0)) {
      unsafe try all.add(entry.value, forKey: entry.key)
      move = .next
    }
    let transaction = try unsafe usableHandle(for: database, "put")
    // The argument zero empties the database.
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
