import LMDB

/// The handles of every table, opened once when the store is opened and kept.
///
/// `Schemas/storage-v1.json` describes each table's key and value; the names are stored: do not change them.
struct Tables: Sendable {
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
  let completions: Database<CompletionKey, CompletionRecord>
  let deletedByCreated: Index<DeletedCreationKey>
  let counts: Database<BlockCountsKey, BlockCounts>
  let totals: Database<TotalKey, Total>
  let history: Database<HistoryKey, HistoryRecord>

  /// How many named databases a store has room for; later formats may add some.
  static let maximumCount = 32

  /// The names of the tables.
  static let names = [
    "meta", "tasks", "lists", "listsByOrder", "byPlace", "byDay", "byDue", "byReminder", "byCreated", "byActive",
    "byTail", "completions", "deletedByCreated", "counts", "totals", "history",
  ]
}

extension Tables {
  /// The names of the tables that an environment lacks.
  static func missingNames(in environment: Environment) throws(LMDBError) -> [String] {
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
  init(creatingIn transaction: inout WriteTransaction) throws(LMDBError) {
    meta = try Database(opening: "meta", creating: true, in: &transaction)
    tasks = try Database(opening: "tasks", creating: true, in: &transaction)
    lists = try Database(opening: "lists", creating: true, in: &transaction)
    listsByOrder = try Database(opening: "listsByOrder", creating: true, in: &transaction)
    byPlace = try Database(opening: "byPlace", creating: true, in: &transaction)
    byDay = try Database(opening: "byDay", creating: true, in: &transaction)
    byDue = try Database(opening: "byDue", creating: true, in: &transaction)
    byReminder = try Database(opening: "byReminder", creating: true, in: &transaction)
    byCreated = try Database(opening: "byCreated", creating: true, in: &transaction)
    byActive = try Database(opening: "byActive", creating: true, in: &transaction)
    byTail = try Database(opening: "byTail", creating: true, in: &transaction)
    completions = try Database(opening: "completions", creating: true, in: &transaction)
    deletedByCreated = try Database(opening: "deletedByCreated", creating: true, in: &transaction)
    counts = try Database(opening: "counts", creating: true, in: &transaction)
    totals = try Database(opening: "totals", creating: true, in: &transaction)
    history = try Database(opening: "history", creating: true, in: &transaction)
  }

  /// Opens the tables of a store that exists.
  init(openingIn environment: Environment) throws(LMDBError) {
    meta = try Database(opening: "meta", in: environment)
    tasks = try Database(opening: "tasks", in: environment)
    lists = try Database(opening: "lists", in: environment)
    listsByOrder = try Database(opening: "listsByOrder", in: environment)
    byPlace = try Database(opening: "byPlace", in: environment)
    byDay = try Database(opening: "byDay", in: environment)
    byDue = try Database(opening: "byDue", in: environment)
    byReminder = try Database(opening: "byReminder", in: environment)
    byCreated = try Database(opening: "byCreated", in: environment)
    byActive = try Database(opening: "byActive", in: environment)
    byTail = try Database(opening: "byTail", in: environment)
    completions = try Database(opening: "completions", in: environment)
    deletedByCreated = try Database(opening: "deletedByCreated", in: environment)
    counts = try Database(opening: "counts", in: environment)
    totals = try Database(opening: "totals", in: environment)
    history = try Database(opening: "history", in: environment)
  }
}
