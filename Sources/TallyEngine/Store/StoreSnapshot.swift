package import LMDB

/// The state of a store that a read or a write sees; for the library only.
public final class StoreSnapshot {
  let view: TransactionView
  let tables: StoreTables
  let now: Timestamp
  /// The amounts that a write has gathered and not written yet, by the number of the measure.
  var pending: [UInt16: MeasureDeltas] = [:]
  /// The parts that have been read, if they are recorded.
  var regions: RegionRecorder?
  /// What reads the records of each collection; most snapshots read one, which needs no table.
  private var firstInput: (number: UInt16, input: RecordInput)?
  private var otherInputs: [UInt16: RecordInput] = [:]
  /// The names of fields that a write has added, and the rows for them.
  private var newFields: [UInt16: (row: String, names: FieldTable)] = [:]
  /// Whether the transaction has ended.
  private var isOver = false

  package init<T: LMDBTransaction & ~Copyable>(of transaction: borrowing T, _ tables: StoreTables, now: Timestamp) {
    view = TransactionView(of: transaction)
    (self.tables, self.now) = (tables, now)
  }

  /// Refuses all later use.
  package func end() {
    isOver = true
  }

  func checkIsLive() throws(TallyError) {
    guard isOver else { return }
    throw TallyError(
      .storageFailed, "A reader or writer was used after its closure had returned",
      remedy: "Do all the work inside the closure")
  }

  /// The input that reads the records of a collection.
  func input<Record>(of tables: RecordTables<Record>) throws -> RecordInput {
    guard let number = tables.handles?.number else { return RecordInput(FieldTable()) }
    if let input = input(number) { return input }
    let names = try tables.known.table(ofRow: tables.fieldsRow, in: self.tables.catalogue.table, view)
    let input = RecordInput(names)
    keep(input, number)
    return input
  }

  private func input(_ number: UInt16) -> RecordInput? {
    if let firstInput, firstInput.number == number { return firstInput.input }
    return otherInputs.isEmpty ? nil : otherInputs[number]
  }

  private func keep(_ input: RecordInput, _ number: UInt16) {
    if firstInput == nil || firstInput?.number == number {
      firstInput = (number, input)
    } else {
      otherInputs[number] = input
    }
  }

  /// Sets the names of a collection's fields, of which a write may have added some.
  func setFields<Record>(_ names: FieldTable, of tables: RecordTables<Record>) {
    guard let number = tables.handles?.number, input(number)?.names != names else { return }
    keep(RecordInput(names), number)
    newFields[number] = (tables.fieldsRow, names)
  }

  /// Writes the rows of the names that were added.
  func storeFields(in transaction: inout WriteTransaction) throws(LMDBError) {
    for (row, names) in newFields.values { try tables.catalogue.table.put(names.stored, forKey: row, in: &transaction) }
    newFields = [:]
  }

  /// Writes what a write has gathered for the tables of the collections.
  package func store(_ state: inout WriteState, in transaction: inout WriteTransaction) throws {
    try storeFields(in: &transaction)
    try storeAmounts(&state, in: &transaction)
  }

  /// Writes the amounts of measures that a write has gathered.
  func storeAmounts(_ state: inout WriteState, in transaction: inout WriteTransaction) throws {
    for (rows, deltas) in state.deltas.values { try rows.add(deltas, in: &transaction) }
    (state.deltas, pending) = ([:], [:])
  }

  /// Reads the names of fields anew, because a nested write may have added some.
  package func forgetFields() {
    guard newFields.isEmpty else { return }
    (firstInput, otherInputs) = (nil, [:])
  }

  /// Checks that a member of a collection can be read by its table.
  func isReadable(_ number: UInt16, version: Int) throws -> Bool {
    try !tables.isStale(number, version: version, in: view)
  }
}

/// What can be asked of the records of a store, in a read and in a write.
public protocol RecordQueries: ~Copyable {
  /// What is read; for the library only.
  var snapshot: StoreSnapshot { get throws }
}

extension RecordQueries where Self: ~Copyable {
  /// What is read, as long as its transaction has not ended.
  var liveSnapshot: StoreSnapshot {
    get throws {
      let snapshot = try snapshot
      try snapshot.checkIsLive()
      return snapshot
    }
  }
}

/// What can be asked of a store, in a read and in a write.
public protocol StoreQueries: RecordQueries, ~Copyable {}

/// A read-only snapshot of a store.
///
/// ```swift
/// let runs = try store.read { try $0.records(in: Workout.bySport, "run", limit: 50) }
/// ```
public struct Reader: ~Copyable, StoreQueries {
  private let base: ReadTransaction
  /// The snapshot that is read; for the library only.
  public let snapshot: StoreSnapshot

  init(base: consuming ReadTransaction, tables: StoreTables, now: Timestamp) {
    snapshot = StoreSnapshot(of: base, tables, now: now)
    self.base = base
  }
}
