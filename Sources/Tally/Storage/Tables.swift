import Foundation
import LMDB
import TallyEngine

/// The handles of all tables, opened once with the store.
///
/// It is a class because every transaction holds it: copying a struct would retain each part of the catalogue.
///
/// `Schemas/storage-v2.json` describes each table's key and value. The names are stored: do not change them.
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
  let byTag: Index<GroupKey>
  let byParent: Index<GroupKey>
  let byTail: Index<TailKey>
  let byChange: Index<ChangeKey>
  let completions: Database<CompletionKey, CompletionRecord>
  let deletedByCreated: Index<DeletedCreationKey>
  let tombstones: Database<TombstoneKey, TombstoneRecord>
  let counts: Database<BlockCountsKey, BlockCounts>
  let totals: Database<TotalKey, Total>
  /// The first spelling of each tag that is counted, keyed by the tag's hash.
  let tagNames: Database<IDKey, String>
  let history: Database<HistoryKey, HistoryRecord>
  /// The search index, see `SearchIndex`; it lags behind the records.
  let search: Database<SearchKey, [UInt8]>
  /// Values that applications store beside the tasks.
  let values: Database<ValueKey, [UInt8]>
  let ownIndexes: OwnIndexTables
  /// The collections of the application, if its schema has any.
  let collections: StoreTables?
  /// The tables of synchronisation, once they are open; most stores have none.
  let sync = SyncTables.Handles()

  // The catalogue of indexes: all code that writes, checks, counts or repairs indexes goes through it.
  let taskIndexes: [IndexHandle<TaskRecord>]
  let listIndexes: [IndexHandle<ListRecord>]
  let ledgerIndexes: [IndexHandle<LedgerEntry>]
  let tombstoneIndexes: [IndexHandle<Tombstone>]

  /// The whole catalogue, except the indexes of applications.
  var indexes: [any CheckedIndex] {
    taskIndexes.compactMap(\.table) + listIndexes.compactMap(\.table) + ledgerIndexes.compactMap(\.table)
      + tombstoneIndexes.compactMap(\.table)
  }

  /// The number of named databases that a store has room for, with a reserve for later formats.
  static let maximumCount = 32

  /// The names of the tables.
  static let names = TableName.allCases.map(\.rawValue)

  private init(
    openedBy opener: inout some TableOpener & ~Copyable, registering indexes: [TaskIndex] = [],
    collections: StoreTables? = nil
  ) throws(LMDBError) {
    self.collections = collections
    (tasks, lists) = (try opener.open(.tasks), try opener.open(.lists))
    (meta, listsByOrder) = (try opener.open(.meta), try opener.open(.listsByOrder))
    (byPlace, byDay) = (try opener.open(.byPlace), try opener.open(.byDay))
    (byDue, byReminder) = (try opener.open(.byDue), try opener.open(.byReminder))
    (byCreated, byActive) = (try opener.open(.byCreated), try opener.open(.byActive))
    (byTag, byParent) = (try opener.open(.byTag), try opener.open(.byParent))
    (byTail, byChange) = (try opener.open(.byTail), try opener.open(.byChange))
    (completions, deletedByCreated) = (try opener.open(.completions), try opener.open(.deletedByCreated))
    (counts, totals) = (try opener.open(.counts), try opener.open(.totals))
    (tagNames, history) = (try opener.open(.tagNames), try opener.open(.history))
    (search, tombstones, values) = (try opener.open(.search), try opener.open(.tombstones), try opener.open(.values))
    ownIndexes = OwnIndexTables(
      states: try opener.open(.ownIndexes), entries: try opener.open(.ownIndexEntries),
      keys: try opener.open(.ownIndexKeys), registered: indexes)
    let ownIndexes = ownIndexes
    let standard: [IndexHandle<TaskRecord>] = [
      IndexHandle(ByPlace.self, .byPlace, byPlace), IndexHandle(ByDay.self, .byDay, byDay),
      IndexHandle(ByDue.self, .byDue, byDue), IndexHandle(ByReminder.self, .byReminder, byReminder),
      IndexHandle(ByCreated.self, .byCreated, byCreated), IndexHandle(ByActive.self, .byActive, byActive),
      IndexHandle(ByTag.self, .byTag, byTag), IndexHandle(ByParent.self, .byParent, byParent),
      IndexHandle(ByTail.self, .byTail, byTail), IndexHandle(ObjectsByChange<TaskRecord>.self, .byChange, byChange),
    ]
    taskIndexes = standard + ownIndexes.registered.map { IndexHandle($0, ownIndexes) }
    listIndexes = [
      IndexHandle(ListsByOrder.self, .listsByOrder, listsByOrder),
      IndexHandle(ObjectsByChange<ListRecord>.self, .byChange, byChange),
    ]
    ledgerIndexes = [IndexHandle(DeletedByCreated.self, .deletedByCreated, deletedByCreated)]
    tombstoneIndexes = [IndexHandle(TombstonesByChange.self, .byChange, byChange)]
  }
}

extension Tables {
  /// Creates the tables of a new store.
  convenience init(creatingIn transaction: inout WriteTransaction) throws(LMDBError) {
    try self.init(openedBy: &transaction)
  }

  /// Opens the tables of an existing store; writers also maintain the given indexes of an application.
  convenience init(
    openingIn environment: LMDBEnvironment, registering indexes: [TaskIndex] = [], collections: StoreTables? = nil
  ) throws(LMDBError) {
    var opener = environment
    try self.init(openedBy: &opener, registering: indexes, collections: collections)
    // If the tables of synchronisation cannot be opened, the first transaction that needs them throws.
    _ = try? sync.open(in: environment)
  }
}

/// The tables' names, in the order of their descriptions; they are stored: do not change them.
enum TableName: String, CaseIterable {
  case meta, tasks, lists, listsByOrder, byPlace, byDay, byDue, byReminder, byCreated, byActive, byTag, byParent, byTail
  case byChange, completions, deletedByCreated, tombstones, counts, totals, tagNames, history, search
  case values, ownIndexes, ownIndexEntries, ownIndexKeys
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

/// The identity of a tag in keys: a hash of its folded text, in the form of a UUID.
///
/// It is a hash because keys have a fixed width and an index's keys must follow from the record alone; numbers assigned
/// in the order of first use would need a lookup for each tag. The hash is SipHash-2-4 with 128 bits, so no two texts
/// can be expected to collide. Stored: do not change it.
enum TagID {
  static func of(_ tag: String) -> UUID {
    SipHash128.hash(TagSet.folded(tag).utf8).uuid
  }
}

extension TagSet {
  /// The identities of the tags, in ascending order.
  var ids: [UUID] {
    isEmpty ? [] : map(TagID.of).sorted { $0.precedes($1) }
  }
}

extension Tables: StoreContents {
  var writeRefusal: TallyError? { collections?.writeRefusal }
}

extension StoreContents {
  /// The tables of a store of tasks.
  var tables: Tables {
    assert(self is Tables, "the tables of another kind of store")
    // The layout of tasks opens no other tables.
    return unsafe unsafeDowncast(self, to: Tables.self)
  }
}

extension StoreOpening.OpenStore {
  var tables: Tables { contents.tables }
}
