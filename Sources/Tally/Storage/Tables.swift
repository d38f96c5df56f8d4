import LMDB

/// The handles of every table, opened once when the store is opened and kept.
///
/// An object, as each transaction takes hold of it: a copy would count a reference to each part of the catalogue.
///
/// `Schemas/storage-v1.json` describes each table's key and value; the names are stored: do not change them.
final class Tables: Sendable {
  let meta: Database<MetaKey, StoreHeader>
  let tasks: Database<IDKey, TaskRecord>
  let lists: Database<IDKey, ListRecord>
  let listsByOrder: Index<OrderKey>
  let byPlace: Index<PlaceKey>
  let byDay: Index<DayKey>
  let byDue: Index<DueKey>
  let byReminder: Index<InstantKey>
  let byCreated: Index<InstantKey>
  let byActive: Index<OrderKey>
  let byTail: Index<TailKey>
  let byChange: Index<ChangeKey>
  let completions: Database<CompletionKey, CompletionRecord>
  let deletedByCreated: Index<DeletedCreationKey>
  let tombstones: Database<TombstoneKey, TombstoneRecord>
  let counts: Database<BlockCountsKey, BlockCounts>
  let totals: Database<TotalKey, Total>
  let history: Database<HistoryKey, HistoryRecord>

  // The catalogue of indexes: all code that writes, checks, counts and repairs indexes goes through it.
  let taskIndexes: [IndexHandle<TaskRecord>]
  let listIndexes: [IndexHandle<ListRecord>]
  let ledgerIndexes: [IndexHandle<LedgerEntry>]
  let tombstoneIndexes: [IndexHandle<Tombstone>]

  /// The whole catalogue.
  var indexes: [any CheckedIndex] {
    taskIndexes.map(\.table) + listIndexes.map(\.table) + ledgerIndexes.map(\.table) + tombstoneIndexes.map(\.table)
  }

  /// How many named databases a store has room for; later formats may add some.
  static let maximumCount = 32

  /// The names of the tables.
  static let names = TableName.allCases.map(\.rawValue)

  private init(openedBy opener: inout some TableOpener & ~Copyable) throws(LMDBError) {
    meta = try opener.open(.meta)
    tasks = try opener.open(.tasks)
    lists = try opener.open(.lists)
    listsByOrder = try opener.open(.listsByOrder)
    byPlace = try opener.open(.byPlace)
    byDay = try opener.open(.byDay)
    byDue = try opener.open(.byDue)
    byReminder = try opener.open(.byReminder)
    byCreated = try opener.open(.byCreated)
    byActive = try opener.open(.byActive)
    byTail = try opener.open(.byTail)
    byChange = try opener.open(.byChange)
    completions = try opener.open(.completions)
    deletedByCreated = try opener.open(.deletedByCreated)
    counts = try opener.open(.counts)
    totals = try opener.open(.totals)
    history = try opener.open(.history)
    tombstones = try opener.open(.tombstones)
    taskIndexes = [
      IndexHandle(ByPlace.self, .byPlace, byPlace), IndexHandle(ByDay.self, .byDay, byDay),
      IndexHandle(ByDue.self, .byDue, byDue), IndexHandle(ByReminder.self, .byReminder, byReminder),
      IndexHandle(ByCreated.self, .byCreated, byCreated), IndexHandle(ByActive.self, .byActive, byActive),
      IndexHandle(ByTail.self, .byTail, byTail), IndexHandle(ObjectsByChange<TaskRecord>.self, .byChange, byChange),
    ]
    listIndexes = [
      IndexHandle(ListsByOrder.self, .listsByOrder, listsByOrder),
      IndexHandle(ObjectsByChange<ListRecord>.self, .byChange, byChange),
    ]
    ledgerIndexes = [IndexHandle(DeletedByCreated.self, .deletedByCreated, deletedByCreated)]
    tombstoneIndexes = [IndexHandle(TombstonesByChange.self, .byChange, byChange)]
  }
}

extension Tables {
  /// The names of the tables that an environment lacks.
  static func missingNames(in environment: LMDBEnvironment) throws(LMDBError) -> [String] {
    var missing: [String] = []
    for name in names {
      do throws(LMDBError) {
        _ = try Database<[UInt8], [UInt8]>(opening: name, in: environment)
      } catch {
        guard error.code == .databaseNotFound else { throw error }
        missing.append(name)
      }
    }
    return missing
  }

  /// Creates the tables of a new store.
  convenience init(creatingIn transaction: inout WriteTransaction) throws(LMDBError) {
    try self.init(openedBy: &transaction)
  }

  /// Opens the tables of a store that exists.
  convenience init(openingIn environment: LMDBEnvironment) throws(LMDBError) {
    var opener = environment
    try self.init(openedBy: &opener)
  }
}

/// The tables' names, in the order of their descriptions; stored: do not change them.
enum TableName: String, CaseIterable {
  case meta, tasks, lists, listsByOrder, byPlace, byDay, byDue, byReminder, byCreated, byActive, byTail, byChange
  case completions, deletedByCreated, tombstones, counts, totals, history
}

/// Opens tables by their names.
private protocol TableOpener: ~Copyable {
  mutating func open<Key: KeyCodable, Value: BinaryCodable>(_ name: TableName) throws(LMDBError) -> Database<Key, Value>
}

extension WriteTransaction: TableOpener {
  fileprivate mutating func open<Key: KeyCodable, Value: BinaryCodable>(
    _ name: TableName
  ) throws(LMDBError) -> Database<Key, Value> {
    try Database(opening: name.rawValue, creating: true, in: &self)
  }
}

extension LMDBEnvironment: TableOpener {
  fileprivate func open<Key: KeyCodable, Value: BinaryCodable>(
    _ name: TableName
  ) throws(LMDBError) -> Database<Key, Value> {
    try Database(opening: name.rawValue, in: self)
  }
}
