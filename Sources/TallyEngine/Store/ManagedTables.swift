import LMDB

extension RecordTables: ManagedTables {
  var name: String { collection.name }
  var version: Int { collection.version }
  var number: UInt16? { handles?.number }
  var recordType: ObjectIdentifier { ObjectIdentifier(Record.self) }
  var isEventLog: Bool { collection.isEventLog }

  var recordsName: String { Self.namePrefix + collection.name }
  func tableName(ofIndex index: String) -> String { "\(recordsName).\(index)" }
  var measuresName: String { "\(recordsName)." }

  var tableNames: [String] {
    [recordsName, measuresName] + collection.indexes.map { tableName(ofIndex: $0.name) }
  }

  var row: String { Catalogue.row(.collection, collection.name) }
  func row(_ kind: Catalogue.Kind, _ member: String) -> String { Catalogue.row(kind, collection.name, member) }

  func needsWork<T: LMDBTransaction & ~Copyable>(_ catalogue: Catalogue, in transaction: borrowing T) throws -> Bool {
    guard let entry = try catalogue.entry(row, in: transaction), Int(entry.version) >= collection.version else {
      return true
    }
    let members =
      collection.indexes.map { (row(.index, $0.name), $0.version) }
      + collection.measures.map { (row(.measure, $0.name), $0.version) }
    return try members.contains { row, version in
      let entry = try catalogue.entry(row, in: transaction)
      return entry.map { Int($0.version) != version || $0.isStale } ?? true
    }
  }

  func prepare(_ catalogue: Catalogue, in transaction: inout WriteTransaction) throws {
    let records = try Database<EncodedBytes, EncodedBytes>(opening: recordsName, creating: true, in: &transaction)
    let measures = try Database<EncodedBytes, EncodedBytes>(opening: measuresName, creating: true, in: &transaction)
    let isUpgraded = try entry(row, version: collection.version, catalogue, in: &transaction).isNew
    // An upgrade may change what keys and amounts follow from.
    if isUpgraded { try markAsStale(in: catalogue, in: &transaction) { _, _ in true } }
    for index in collection.indexes {
      let table = try Database<EncodedBytes, NoValue>(
        opening: tableName(ofIndex: index.name), creating: true, in: &transaction)
      guard try entry(row(.index, index.name), version: index.version, catalogue, in: &transaction).isNew else {
        continue
      }
      try table.removeAll(in: &transaction)
      try build(index, table, from: records, catalogue, in: &transaction)
    }
    for measure in collection.measures {
      let (entry, isNew) = try entry(row(.measure, measure.name), version: measure.version, catalogue, in: &transaction)
      guard isNew else { continue }
      let rows = MeasureRows(table: measures, number: entry.number)
      try rows.removeAll(in: &transaction)
      try build(measure, rows, from: records, catalogue, in: &transaction)
    }
  }

  /// Marks members as stale: some of those of the collection that any program has declared.
  func markAsStale(
    in catalogue: Catalogue, in transaction: inout WriteTransaction, _ isWanted: (Catalogue.Kind, String) -> Bool
  ) throws {
    for kind in [Catalogue.Kind.index, .measure] {
      for (name, entry) in try catalogue.entries(kind, below: collection.name, in: transaction)
      where !entry.isStale && isWanted(kind, name) {
        var stale = entry
        stale.isStale = true
        try catalogue.put(stale, row(kind, name), in: &transaction)
      }
    }
  }

  /// The entry of a name, which is made or brought up to its version; whether its table must be built.
  private func entry(
    _ row: String, version: Int, _ catalogue: Catalogue, in transaction: inout WriteTransaction
  ) throws -> (Catalogue.Entry, isNew: Bool) {
    if var known = try catalogue.entry(row, in: transaction) {
      if Int(known.version) == version, !known.isStale { return (known, false) }
      (known.version, known.isStale) = (UInt32(clamping: version), false)
      try catalogue.put(known, row, in: &transaction)
      return (known, true)
    }
    let new = Catalogue.Entry(number: try catalogue.nextNumber(in: &transaction), version: version)
    try catalogue.put(new, row, in: &transaction)
    return (new, true)
  }

  /// Calls a closure with all records, some thousands at a time.
  private func forEachBatch(
    of records: Database<EncodedBytes, EncodedBytes>, _ catalogue: Catalogue, in transaction: inout WriteTransaction,
    _ body: ([Record], inout WriteTransaction) throws -> Void
  ) throws {
    let input = RecordInput(try catalogue.fields(of: collection.name, in: transaction))
    var position: [UInt8]?
    repeat {
      var batch: [Record] = []
      let start = position
      position = nil
      try records.raw.forEach(from: start, in: transaction) { key, value in
        guard batch.count < 4_096 else {
          position = key.bytes(from: 0)
          return false
        }
        batch.append(try decode(value, Self.id(key), input))
        return true
      }
      if !batch.isEmpty { try body(batch, &transaction) }
    } while position != nil
  }

  private func build(
    _ index: DeclaredIndex<Record>, _ table: Database<EncodedBytes, NoValue>,
    from records: Database<EncodedBytes, EncodedBytes>, _ catalogue: Catalogue, in transaction: inout WriteTransaction
  ) throws {
    var last: [UInt8]?
    try forEachBatch(of: records, catalogue, in: &transaction) { batch, transaction in
      var (keys, entries) = (EncodedKeys(), EntryBatch<EncodedBytes, NoValue>())
      index.encode(batch, &keys)
      for position in 0..<keys.count {
        guard keys.range(position).count <= StoreTables.maximumKeyByteCount else {
          throw TallyError(
            .invalidKey, "A key of the index '\(index.name)' is too long for a record that is stored already",
            remedy: "Let the index take the beginning of the text only")
        }
        try entries.add(NoValue(), forKey: keys[position])
      }
      try table.put(&entries, in: &transaction)
    }
    guard index.isUnique else { return }
    try table.raw.forEach(in: transaction) { key, _ in
      var end = 0
      try index.readKey(key, &end)
      let own = key.extracting(0..<end).bytes(from: 0)
      guard own != last else {
        throw TallyError(
          .duplicateKey, "Two records have the same key in the unique index '\(index.name)'",
          remedy: "Make their keys different with the version of the program that has no such index")
      }
      last = own
      return true
    }
  }

  private func build(
    _ measure: DeclaredMeasure<Record>, _ rows: MeasureRows, from records: Database<EncodedBytes, EncodedBytes>,
    _ catalogue: Catalogue, in transaction: inout WriteTransaction
  ) throws {
    var (groups, all) = (MeasureDeltas(), MeasureDeltas())
    try forEachBatch(of: records, catalogue, in: &transaction) { batch, _ in measure.gather(batch, 1, &groups, &all) }
    try rows.add(groups, in: &transaction)
    try rows.add(all, in: &transaction)
  }

  func opened<T: LMDBTransaction & ~Copyable>(
    _ catalogue: Catalogue, in transaction: borrowing T, _ environment: LMDBEnvironment
  ) throws -> any ManagedTables {
    guard let entry = try catalogue.entry(row, in: transaction) else { return self }
    let measures = try Database<EncodedBytes, EncodedBytes>(opening: measuresName, in: environment)
    // A member that only a newer opening for writing builds is computed from the records until then.
    let numbers = try collection.measures.map {
      try number(of: row(.measure, $0.name), $0.version, catalogue, transaction)
    }
    return RecordTables(
      of: collection,
      Handles(
        number: entry.number, records: try Database(opening: recordsName, in: environment),
        indexes: try collection.indexes.map { index in
          let number = try number(of: row(.index, index.name), index.version, catalogue, transaction)
          let name = number == Self.unbuilt ? recordsName : tableName(ofIndex: index.name)
          return (number, try Database(opening: name, in: environment))
        },
        measures: numbers.map { MeasureRows(table: measures, number: $0) }))
  }

  /// The number of a member that is not built in a store that was opened for reading only.
  static var unbuilt: UInt16 { .max }

  func number<T: LMDBTransaction & ~Copyable>(
    of row: String, _ version: Int, _ catalogue: Catalogue, _ transaction: borrowing T
  ) throws -> UInt16 {
    guard let entry = try catalogue.entry(row, in: transaction), Int(entry.version) == version else {
      return Self.unbuilt
    }
    return entry.number
  }

  func keys(
    of id: [UInt8], _ catalogue: Catalogue, in view: borrowing TransactionView
  ) throws -> [(index: UInt16, keys: [[UInt8]])]? {
    guard let handles, let bytes = try handles.records.bytes(forKey: EncodedBytes(id), in: view) else { return nil }
    // Unsafe by signature only: bytes have no padding.
    let names = try known.table(ofRow: fieldsRow, in: catalogue.table, view)
    let record = try unsafe decode(bytes, Self.id(id.span.bytes), RecordInput(names))
    return zip(handles.indexes, collection.indexes).map { handle, index in
      var keys = EncodedKeys()
      index.encode([record], &keys)
      return (handle.number, keys.sorted)
    }
  }

  func storedBytes(of id: [UInt8], in view: borrowing TransactionView) throws -> [UInt8]? {
    try handles?.records.bytes(forKey: EncodedBytes(id), in: view)?.bytes(from: 0)
  }

  func upgradeRecords(in writer: inout Writer) throws -> Int {
    guard let handles = try writer.prepared(Record.self).handles else { return 0 }
    let (input, names) = (try writer.snapshot.input(of: self), try writer.fieldTable(of: self))
    var (old, count): ([Record], Int) = ([], 0)
    try handles.records.raw.forEach(in: writer.base) { key, value in
      var start = ChangeLog.Stamp.byteCount
      if try Int(clamping: value.readVarint(at: &start)) < collection.version {
        old.append(try decode(value, Self.id(key), input))
      }
      return true
    }
    var batch = try RecordBatch(self, in: &writer)
    for record in old {
      let key = try Self.key(of: record.id)
      guard let stored = try stored(record.id, key: key, names, in: writer.base) else { continue }
      if try batch.replace(stored, by: record) { count += 1 }
    }
    try batch.apply(in: &writer)
    return count
  }

  func restoring(_ images: [RecordImage], in writer: inout Writer) throws -> RecordReversal.Step {
    _ = try writer.prepared(Record.self)
    let names = try writer.fieldTable(of: self)
    var batch = try RecordBatch(self, in: &writer)
    for image in images {
      // Unsafe by signature only: bytes have no padding.
      let id = try unsafe Self.id(image.id.span.bytes)
      let current = try stored(id, key: image.id, names, in: writer.base)
      let former = try image.contents.map { try unsafe stored($0.span.bytes, id, names) }
      let target = image.isConflict ? try merged(former?.record, with: current?.record) : former?.record
      if let current {
        _ = try batch.replace(current, by: target, keeping: image.isConflict ? nil : former?.rest)
      } else if let target {
        try batch.insert([target], keeping: former?.rest ?? [])
      }
    }
    try batch.check(in: writer.base)
    return { [batch] writer in
      var batch = batch
      try batch.write(in: &writer)
    }
  }

  /// The record that an undo restores, if a write without undo has changed it since.
  private func merged(_ restored: Record?, with current: Record?) throws -> Record {
    guard let merge = collection.merge, let restored, let current, let merged = merge(restored, current) else {
      throw TallyError.changedSince(collection.name)
    }
    return merged
  }

  /// A stored record with its stamp; throws if it is damaged or does not fit the type.
  func readable(_ key: RawSpan, _ value: RawSpan, _ input: RecordInput) throws -> (ChangeLog.Stamp, Record) {
    let (id, stamp) = (try Self.id(key), try ChangeLog.Stamp(value))
    let record = try decode(value, id, input)
    guard record.id.isSameKey(as: id) else { throw TallyError.misplacedRecord }
    return (stamp, record)
  }

  func check(_ check: inout StoreCheck, in view: borrowing TransactionView) throws {
    guard let handles else { return }
    let input = RecordInput(try check.catalogue.fields(of: collection.name, in: view))
    var keys = collection.indexes.map { _ in [[UInt8]]() }
    var groups = collection.measures.map { _ in MeasureDeltas() }
    var totals = groups
    try handles.records.raw.forEach(in: view) { key, value in
      check.recordCount += 1
      guard let (stamp, record) = try? readable(key, value, input) else {
        check.add(.unreadableRecord, collection.name)
        return true
      }
      let object = ChangeLog.Object(collection: handles.number, id: key.bytes(from: 0))
      if !check.expect(object, stamp) { check.add(.missingEntry, ChangeLog.tableNames[0]) }
      for (position, index) in collection.indexes.enumerated() {
        var encoded = EncodedKeys()
        index.encode([record], &encoded)
        keys[position] += encoded.sorted
      }
      for (position, measure) in collection.measures.enumerated() {
        measure.gather([record], 1, &groups[position], &totals[position])
      }
      return true
    }
    for (position, index) in handles.indexes.enumerated()
    where try !check.isStale(index.number, version: collection.indexes[position].version, in: view) {
      let name = "\(collection.name).\(collection.indexes[position].name)"
      try compare(keys[position].sorted { $0.lexicographicallyPrecedes($1) }, index.table, name, &check, in: view)
    }
    for (position, rows) in handles.measures.enumerated()
    where try !check.isStale(rows.number, version: collection.measures[position].version, in: view) {
      groups[position].append(totals[position])
      let expected = try groups[position].rows()
      var found: [(key: [UInt8], value: [UInt8])] = []
      try rows.forEach(in: view) { group, block, row in
        found.append((MeasureRows.key(of: group, block: block), row.bytes(from: 0)))
      }
      if !found.elementsEqual(expected, by: { $0 == $1 }) {
        check.add(.wrongCounter, "\(collection.name).\(collection.measures[position].name)")
      }
    }
  }

  private func compare(
    _ expected: [[UInt8]], _ table: Database<EncodedBytes, NoValue>, _ name: String, _ check: inout StoreCheck,
    in view: borrowing TransactionView
  ) throws {
    var position = 0
    try table.raw.forEach(in: view) { key, _ in
      let key = key.bytes(from: 0)
      while position < expected.count, expected[position].lexicographicallyPrecedes(key) {
        check.add(.missingEntry, name)
        position += 1
      }
      if position < expected.count, expected[position] == key {
        position += 1
      } else {
        check.add(.danglingEntry, name)
      }
      return true
    }
    for _ in position..<expected.count { check.add(.missingEntry, name) }
  }
}

extension TallyError {
  fileprivate static let misplacedRecord = TallyError(
    .damagedStore, "A record is stored under an id that is not its own",
    remedy: "Run a repair, which sets the record aside, or restore a backup")

  fileprivate static func changedSince(_ collection: String) -> TallyError {
    TallyError(
      .undoConflict,
      "The change cannot be undone: a record of '\(collection)' has been changed since by a write without undo",
      remedy: "Change the record by hand, or give the collection a merge; nothing was changed")
  }
}
