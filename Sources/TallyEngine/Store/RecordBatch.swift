import LMDB

/// Changes of records of one collection, gathered so that each table is written once, in the order of its keys.
///
/// This is the only way in which records are written: a single change is a batch of one. Its duties, in this order: keys
/// that must be unique, images for undo, the records, the log of changes, the indexes, the measures. Until the first of
/// them is written nothing has changed, so what is refused leaves the transaction as it was.
struct RecordBatch<Record: StoredRecord> {
  private let tables: RecordTables<Record>
  private let handles: RecordTables<Record>.Handles
  private let sequence: UInt64
  private let output = RecordOutput()
  private var records = EntryBatch<EncodedBytes, EncodedBytes>()
  private var removed: [[UInt8]] = []
  /// The facts for the history and the log of changes, in the order of the changes.
  private var changes: [(id: [UInt8], old: Stored<Record>?, isDeletion: Bool)] = []
  private var entries: [Entries]
  /// The amounts for the measures, by groups and over all of them.
  private var (groups, totals): ([MeasureDeltas], [MeasureDeltas])

  /// The changes of one index.
  private struct Entries {
    var removed = EntryBatch<EncodedBytes, NoValue>()
    var inserted = EntryBatch<EncodedBytes, NoValue>()
    /// The new keys without the ids, of a unique index.
    var claimed: [(key: [UInt8], id: [UInt8])] = []
    /// The keys with the ids that the changes give up, of a unique index.
    var released: Set<[UInt8]> = []
  }

  /// How many records are encoded before their keys are: few enough for the processor's cache.
  private static var chunkCount: Int { 256 }

  init(_ tables: RecordTables<Record>, in writer: inout Writer) throws {
    guard let handles = tables.handles else { throw TallyError.missingCollection(tables.collection.name) }
    (self.tables, self.handles, sequence) = (tables, handles, writer.state.commitSequence)
    output.names = try writer.fieldTable(of: tables)
    entries = tables.collection.indexes.map { _ in Entries() }
    groups = tables.collection.measures.map { _ in MeasureDeltas() }
    totals = groups
  }

  var isEmpty: Bool { changes.isEmpty }

  /// Adds new records.
  ///
  /// - Parameters:
  ///   - new: the records.
  ///   - rest: fields that their type does not have.
  /// - Throws: `invalidKey`, and what encoding throws.
  mutating func insert(_ new: [Record], keeping rest: [(number: Int, value: [UInt8])] = []) throws {
    var remaining = new[...]
    while !remaining.isEmpty {
      let chunk = Array(remaining.prefix(Self.chunkCount))
      remaining = remaining.dropFirst(Self.chunkCount)
      output.reset()
      let stamp = ChangeLog.Stamp(created: sequence, changed: sequence)
      var ends: [Int] = []
      for record in chunk {
        output.bytes += stamp.bytes
        try tables.contents(of: record, rest, output)
        ends.append(output.bytes.count)
      }
      let values = output.bytes
      for (index, record) in chunk.enumerated() {
        let id = try RecordTables<Record>.key(of: record.id)
        try records.add(
          EncodedBytes(values, (index == 0 ? 0 : ends[index - 1])..<ends[index]), forKey: EncodedBytes(id))
        changes.append((id, nil, false))
      }
      for index in entries.indices {
        var keys = EncodedKeys()
        tables.collection.indexes[index].encode(chunk, &keys)
        try insert(keys, into: index)
      }
      count(chunk, sign: 1)
    }
  }

  /// Adds a change of a stored record.
  ///
  /// - Parameters:
  ///   - old: the stored record.
  ///   - new: the new one; `nil` to delete it.
  ///   - rest: the fields that the type does not have; by default those of the stored record.
  /// - Returns: whether it changes anything.
  /// - Throws: `invalidKey`, and what encoding throws.
  mutating func replace(
    _ old: Stored<Record>, by new: Record?, keeping rest: [(number: Int, value: [UInt8])]? = nil
  ) throws -> Bool {
    let id = try RecordTables<Record>.key(of: old.record.id)
    if let new {
      output.reset()
      output.bytes += ChangeLog.Stamp(created: old.stamp.created, changed: sequence).bytes
      try tables.contents(of: new, rest ?? old.rest, output)
      if output.bytes[ChangeLog.Stamp.byteCount...].elementsEqual(old.contents) { return false }
      try records.add(EncodedBytes(output.bytes), forKey: EncodedBytes(id))
    } else {
      removed.append(id)
    }
    changes.append((id, old, new == nil))
    for index in entries.indices { try replaceKeys(of: old.record, by: new, inIndex: index, id) }
    count([old.record], sign: -1)
    if let new { count([new], sign: 1) }
    return true
  }

  private mutating func insert(_ keys: EncodedKeys, into index: Int) throws {
    try checkSize(of: keys, index)
    for position in 0..<keys.count { try entries[index].inserted.add(NoValue(), forKey: keys[position]) }
    guard tables.collection.indexes[index].isUnique else { return }
    for position in 0..<keys.count { try claim(Array(keys.bytes[keys.range(position)]), index) }
  }

  private mutating func replaceKeys(of old: Record, by new: Record?, inIndex index: Int, _ id: [UInt8]) throws {
    let declared = tables.collection.indexes[index]
    var (oldKeys, newKeys) = (EncodedKeys(), EncodedKeys())
    declared.encode([old], &oldKeys)
    if let new { declared.encode([new], &newKeys) }
    guard oldKeys.bytes != newKeys.bytes || oldKeys.ends != newKeys.ends else { return }
    try checkSize(of: newKeys, index)
    let (former, present) = (oldKeys.sorted, newKeys.sorted)
    for key in former.missing(in: present) {
      try entries[index].removed.add(NoValue(), forKey: EncodedBytes(key))
      if declared.isUnique { entries[index].released.insert(key) }
    }
    for key in present.missing(in: former) {
      try entries[index].inserted.add(NoValue(), forKey: EncodedBytes(key))
      if declared.isUnique { try claim(key, index) }
    }
  }

  /// Records that a new key of a unique index must be free.
  private mutating func claim(_ key: [UInt8], _ index: Int) throws {
    var end = 0
    // Unsafe by signature only: bytes have no padding.
    try unsafe tables.collection.indexes[index].readKey(key.span.bytes, &end)
    entries[index].claimed.append((Array(key[..<end]), Array(key[end...])))
  }

  private func checkSize(of keys: EncodedKeys, _ index: Int) throws {
    for position in 0..<keys.count where keys.range(position).count > StoreTables.maximumKeyByteCount {
      throw TallyError(
        .invalidKey,
        "A key of the index '\(tables.collection.indexes[index].name)' takes \(keys.range(position).count) bytes with the "
          + "record's id, and at most \(StoreTables.maximumKeyByteCount) fit",
        remedy: "Let the index take the beginning of the text only; nothing was changed")
    }
  }

  private mutating func count(_ records: [Record], sign: Int64) {
    for index in groups.indices {
      tables.collection.measures[index].gather(records, sign, &groups[index], &totals[index])
    }
  }
}

extension RecordBatch {
  /// Checks the changes and writes them.
  ///
  /// - Throws: what ``check(in:)`` throws, with nothing written; what ``write(in:)`` throws.
  mutating func apply(in writer: inout Writer) throws {
    guard !isEmpty else { return }
    try check(in: writer.base)
    try write(in: &writer)
  }

  /// Checks that new ids and new keys of unique indexes are free.
  ///
  /// - Throws: `duplicateID` or `duplicateKey`.
  mutating func check(in transaction: borrowing WriteTransaction) throws {
    if let taken = try handles.records.firstTakenKey(ofNew: &records, changes.count, of: changes, in: transaction) {
      throw TallyError(
        .duplicateID, "A new record of '\(tables.collection.name)' has an id that is in use, or that another one has",
        remedy: "Save the record instead, which replaces the old one; nothing was changed",
        cause: DuplicateID(bytes: taken))
    }
    try checkUniqueness(in: transaction)
  }

  /// Writes the changes, which have been checked.
  ///
  /// - Throws: what the storage throws, and then the transaction can no longer commit.
  mutating func write(in writer: inout Writer) throws {
    guard !isEmpty else { return }
    writer.setFieldTable(output.names, of: tables)
    try writer.change { writer throws in
      try addImages(to: &writer.state.images)
      writer.state.recordBalance += changes.count { $0.old == nil } - removed.count
      for id in removed { try handles.records.remove(forKey: EncodedBytes(id), in: &writer.base) }
      try handles.records.put(&records, in: &writer.base)
      try noteChanges(in: &writer)
      for index in entries.indices {
        try handles.indexes[index].table.remove(&entries[index].removed, in: &writer.base)
        try handles.indexes[index].table.put(&entries[index].inserted, in: &writer.base)
      }
      for index in groups.indices { writer.add(groups[index], totals[index], to: handles.measures[index]) }
    }
  }

  private func addImages(to images: inout BeforeImages) throws {
    for change in changes {
      let object = ChangeLog.Object(collection: handles.number, id: change.id)
      images.add(.record, key: object.key, change.old.map { $0.stamp.bytes + $0.contents })
    }
  }

  private func noteChanges(in writer: inout Writer) throws {
    let log = writer.snapshot.tables.log
    let isPlain = try log.deleted.count(in: writer.base) == 0
    var rows = EntryBatch<EncodedBytes, EncodedBytes>()
    for change in changes {
      let object = ChangeLog.Object(collection: handles.number, id: change.id)
      if change.old == nil, isPlain {
        try rows.add(EncodedBytes([]), forKey: EncodedBytes(sequence.bigEndianBytes + object.key))
        continue
      }
      let old = change.old?.stamp
      let new = change.isDeletion ? nil : ChangeLog.Stamp(created: old?.created ?? sequence, changed: sequence)
      try log.note(object, from: old, to: new, at: sequence, in: &writer.base)
    }
    try log.changes.put(&rows, in: &writer.base)
  }

  /// Checks that no other record has a new key of a unique index.
  private func checkUniqueness(in transaction: borrowing WriteTransaction) throws {
    for (index, entries) in entries.enumerated() where !entries.claimed.isEmpty {
      let name = tables.collection.indexes[index].name
      var claimants: [[UInt8]: [UInt8]] = [:]
      for (key, id) in entries.claimed {
        if let other = claimants.updateValue(id, forKey: key), other != id { throw TallyError.duplicateKey(name) }
        try handles.indexes[index].table.raw.forEach(from: key, upTo: key.successor, in: transaction) { found, _ in
          let isOwn = found.bytes(from: key.count) == id || entries.released.contains(found.bytes(from: 0))
          if !isOwn { throw TallyError.duplicateKey(name) }
          return true
        }
      }
    }
  }
}

extension [[UInt8]] {
  /// Those of ascending keys that are not among others, which ascend, too: a record may have thousands.
  fileprivate func missing(in others: [[UInt8]]) -> [[UInt8]] {
    var rest = others[...]
    return filter { key in
      while let other = rest.first, other.lexicographicallyPrecedes(key) { rest.removeFirst() }
      return rest.first != key
    }
  }
}

/// The id of the record that was there already, in its encoded form.
private struct DuplicateID: Error {
  let bytes: [UInt8]
}

extension Database<EncodedBytes, EncodedBytes> {
  /// The first key of new records that is taken, or that two of them have; `nil` if there is none.
  fileprivate func firstTakenKey<Record>(
    ofNew records: inout EntryBatch<EncodedBytes, EncodedBytes>, _ count: Int,
    of changes: [(id: [UInt8], old: Stored<Record>?, isDeletion: Bool)], in transaction: borrowing WriteTransaction
  ) throws -> [UInt8]? {
    // Changes of stored records replace what is there.
    guard changes.allSatisfy({ $0.old == nil }) else { return nil }
    return try firstTakenKey(of: &records, in: transaction).map { Array($0.buffer[$0.range]) }
  }
}

extension TallyError {
  fileprivate static func duplicateKey(_ index: String) -> TallyError {
    TallyError(
      .duplicateKey, "Another record has the same key in the unique index '\(index)'",
      remedy: "Give the record another key, or change the other record first; nothing was changed")
  }

  static func missingCollection(_ name: String) -> TallyError {
    TallyError(
      .permissionDenied, "The store has no tables for the collection '\(name)', and was opened for reading only",
      remedy: "Open it for writing once")
  }
}
