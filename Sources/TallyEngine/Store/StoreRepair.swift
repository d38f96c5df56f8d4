import LMDB

/// Makes the tables of a store agree with its records again, in one write transaction.
///
/// | fault | repair |
/// | --- | --- |
/// | a damaged record | moved to the table of set-aside records, with all its bytes |
/// | an index, a measure or the log of changes with any fault | all of them are built from the records |
/// | a record with an impossible stamp | it counts as changed by the repair |
/// | the history, or a record that it would restore | emptied: then nothing can be undone |
/// | no header, or an impossible one | a new one, with a new identity |
struct StoreRepair {
  let layout: SchemaLayout
  let takesUndecodable: Bool

  func run(in transaction: inout WriteTransaction) throws {
    let meta = try StoreHeader.table(creatingIn: &transaction)
    let found = (try? meta.value(forKey: .header, in: transaction)) ?? nil
    var header = found?.hasNextSequence == true ? found : nil
    let (sequence, setAsideCount) = try repairCollections(
      after: header?.sequence ?? 0, isHeaderLost: header == nil, in: &transaction)
    let history = try Database<HistoryKey, HistoryRecord>(opening: "history", creating: true, in: &transaction)
    // An undo must not restore a state that contradicts what was set aside.
    let isHistoryOfUse = try setAsideCount == 0 && HistoryRecord.areReadable(history, in: transaction)
    if header == nil || !isHistoryOfUse { try history.removeAll(in: &transaction) }
    if header == nil {
      header = StoreHeader(storeID: UUIDv7.next(), sequence: 0)
      header?.requiredFeatures = layout.requiredFeatures
    }
    // Observers of the store read everything again.
    header?.sequence = sequence
    header?.logStart = sequence
    if let header { try meta.put(header, forKey: .header, in: &transaction) }
  }

  /// Sets damaged records aside, and builds everything else from the others.
  ///
  /// - Returns: the commit of the repair, which is later than all that the records name, and how many records were set
  ///   aside.
  func repairCollections(
    after sequence: UInt64, isHeaderLost: Bool, in transaction: inout WriteTransaction
  ) throws -> (sequence: UInt64, setAsideCount: Int) {
    let catalogue = Catalogue(table: try Database(opening: Catalogue.tableName, creating: true, in: &transaction))
    let log = try ChangeLog(creatingIn: &transaction)
    // Where the header is lost, records of collections that the schema does not have may be newer than all others.
    var (last, setAsideCount) = (isHeaderLost ? max(sequence, try log.lastSequence(in: transaction)) : sequence, 0)
    for tables in layout.declared {
      let found = try tables.setAsideUnreadable(takesUndecodable: takesUndecodable, catalogue, in: &transaction)
      (last, setAsideCount) = (max(last, found.last), setAsideCount + found.count)
    }
    let sequence = min(last, StoreHeader.lastSequence - 1) + 1
    let unknown = try unknownCollections(catalogue, in: transaction)
    try log.removeRows(exceptOf: unknown, in: &transaction)
    for tables in layout.declared { try tables.rebuild(catalogue, log, at: sequence, in: &transaction) }
    return (sequence, setAsideCount)
  }

  private func unknownCollections(_ catalogue: Catalogue, in transaction: borrowing WriteTransaction) throws
    -> Set<UInt16>
  {
    let known = Set(layout.declared.map(\.name))
    return Set(
      try catalogue.entries(.collection, in: transaction).filter { !known.contains($0.key) }.map(\.value.number))
  }
}

extension StoreReport {
  /// The refusal of a repair, if something is missing from which everything else follows.
  var refusalOfRepair: TallyError? {
    let sources = faults.filter {
      $0.kind == .missingTable
        && ($0.place == Catalogue.tableName || $0.place.hasPrefix("@") && !$0.place.contains("."))
    }
    guard let lost = sources.first else { return nil }
    return TallyError(
      .damagedStore, "The table '\(lost.place)' is missing, from which everything else follows",
      remedy: "Restore a backup")
  }
}

extension ChangeLog {
  init(creatingIn transaction: inout WriteTransaction) throws(LMDBError) {
    changes = try Database(opening: Self.tableNames[0], creating: true, in: &transaction)
    deleted = try Database(opening: Self.tableNames[1], creating: true, in: &transaction)
  }

  /// The last commit that a row of a known form names.
  fileprivate func lastSequence(in transaction: borrowing WriteTransaction) throws -> UInt64 {
    var last: UInt64 = 0
    try changes.raw.forEach(reversed: true, in: transaction) { key, _ in
      last = key.byteCount > 10 ? key.load(bigEndianAt: 0) : .max
      return last >= StoreHeader.lastSequence
    }
    return last < StoreHeader.lastSequence ? last : 0
  }

  /// Removes the rows of living and deleted records, and those of deletions that cannot be read.
  ///
  /// - Parameters:
  ///   - collections: the collections whose rows stay.
  ///   - transaction: the transaction.
  /// - Throws: what the storage throws.
  fileprivate func removeRows(exceptOf collections: Set<UInt16>, in transaction: inout WriteTransaction) throws {
    var wrong: [[UInt8]] = []
    try changes.raw.forEach(in: transaction) { key, _ in
      let object = key.byteCount > 10 ? try? Object(key: key.extracting(droppingFirst: 8)) : nil
      if object.map({ !collections.contains($0.collection) }) ?? true { wrong.append(key.bytes(from: 0)) }
      return true
    }
    for key in wrong { try changes.remove(forKey: EncodedBytes(key), in: &transaction) }
    wrong = []
    try deleted.raw.forEach(in: transaction) { key, value in
      if (try? Object(key: key)) == nil || (try? Stamp(value)) == nil { wrong.append(key.bytes(from: 0)) }
      return true
    }
    for key in wrong { try deleted.remove(forKey: EncodedBytes(key), in: &transaction) }
  }
}

extension RecordTables {
  func requiredTableNames<T: LMDBTransaction & ~Copyable>(
    _ catalogue: Catalogue, in transaction: borrowing T
  ) throws -> [String] {
    guard try catalogue.entry(row, in: transaction) != nil else { return [] }
    let indexes = try collection.indexes.filter {
      try number(of: row(.index, $0.name), $0.version, catalogue, transaction) != Self.unbuilt
    }
    return [recordsName, measuresName] + indexes.map { tableName(ofIndex: $0.name) }
  }

  func setAsideUnreadable(
    takesUndecodable: Bool, _ catalogue: Catalogue, in transaction: inout WriteTransaction
  ) throws -> (last: UInt64, count: Int) {
    guard try catalogue.entry(row, in: transaction) != nil else { return (0, 0) }
    let records = try Database<EncodedBytes, EncodedBytes>(opening: recordsName, creating: true, in: &transaction)
    let input = RecordInput(try catalogue.fields(of: collection.name, in: transaction))
    var (last, unreadable): (UInt64, [(key: [UInt8], value: [UInt8])]) = (0, [])
    try records.raw.forEach(in: transaction) { key, value in
      do {
        last = max(last, try readable(key, value, input).0.changed)
      } catch {
        // Bytes without a known form are damage. Of any other record, the type or its upgrade may be what is wrong.
        let isDamaged = (error as? TallyError)?.code == .damagedStore
        guard isDamaged || takesUndecodable && !(error is LMDBError) else { throw error }
        unreadable.append((key.bytes(from: 0), value.bytes(from: 0)))
      }
      return true
    }
    guard !unreadable.isEmpty else { return (last, 0) }
    let setAside = try SetAsideTable(creatingIn: &transaction)
    for (key, value) in unreadable {
      try setAside.put(value, of: recordsName, key: key, in: &transaction)
      try records.remove(forKey: EncodedBytes(key), in: &transaction)
    }
    return (last, unreadable.count)
  }

  func rebuild(
    _ catalogue: Catalogue, _ log: ChangeLog, at sequence: UInt64, in transaction: inout WriteTransaction
  ) throws {
    guard let number = try catalogue.entry(row, in: transaction)?.number else { return }
    // The damage to the members of this program may also have reached those of others.
    try markAsStale(in: catalogue, in: &transaction) { _, _ in true }
    try prepare(catalogue, in: &transaction)
    try rebuildLog(log, number, at: sequence, in: &transaction)
  }

  private func rebuildLog(
    _ log: ChangeLog, _ number: UInt16, at sequence: UInt64, in transaction: inout WriteTransaction
  ) throws {
    let records = try Database<EncodedBytes, EncodedBytes>(opening: recordsName, creating: false, in: &transaction)
    var stamps: [(key: [UInt8], stamp: ChangeLog.Stamp)] = []
    try records.raw.forEach(in: transaction) { key, value in
      stamps.append((key.bytes(from: 0), try ChangeLog.Stamp(value)))
      return true
    }
    for (key, stamp) in stamps {
      var changed = stamp.changed
      if stamp.created > stamp.changed || stamp.changed > sequence,
        let stored = try records.bytes(forKey: EncodedBytes(key), in: transaction)?.bytes(from: 0)
      {
        changed = sequence
        let new = ChangeLog.Stamp(created: sequence, changed: sequence).bytes
        try records.put(
          EncodedBytes(new + stored.dropFirst(ChangeLog.Stamp.byteCount)), forKey: EncodedBytes(key), in: &transaction)
      }
      let object = ChangeLog.Object(collection: number, id: key)
      try log.changes.put(EncodedBytes([]), forKey: log.row(object, at: changed), in: &transaction)
    }
    var deletions: [(ChangeLog.Object, ChangeLog.Stamp)] = []
    try log.deleted.raw.forEach(from: number.bigEndianBytes, in: transaction) { key, value in
      let object = try ChangeLog.Object(key: key)
      guard object.collection == number else { return false }
      deletions.append((object, try ChangeLog.Stamp(value)))
      return true
    }
    for (object, stamp) in deletions
    where try records.bytes(forKey: EncodedBytes(object.id), in: transaction) == nil {
      try log.changes.put(
        EncodedBytes(stamp.created.bigEndianBytes), forKey: log.row(object, at: stamp.changed), in: &transaction)
    }
  }
}
