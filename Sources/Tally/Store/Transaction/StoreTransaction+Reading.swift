public import Foundation
import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// The task with an identifier; `nil` if there is none.
  ///
  /// - Throws: `damagedStore` for a record that cannot be read, and what else the storage throws.
  /// - Complexity: one lookup, whatever the size of the store.
  @_specialize(where Base == ReadTransaction)
  public func task(_ id: UUID) throws -> TaskItem? {
    guard let bytes = try tables.tasks.bytes(forKey: IDKey(id), in: base) else { return nil }
    return try TaskFields(bytes).item(id: id)
  }

  /// The list with an identifier; `nil` if there is none.
  ///
  /// - Throws: as `task(_:)`.
  public func list(_ id: UUID) throws -> TaskList? {
    try record(ListRecord.self, id)?.item
  }

  /// Every list, in the user's order.
  ///
  /// - Throws: as `task(_:)`.
  /// - Complexity: one lookup per list.
  public func lists() throws -> [TaskList] {
    var ids: [UUID] = []
    try forEachKey(of: tables.listsByOrder, from: .lowest) { ids.append($0.id) }
    return try ids.map { id in
      guard let list = try list(id) else { throw TallyError.missingRecord(of: "listsByOrder") }
      return list
    }
  }

  /// How many tasks there are; throws what the storage throws.
  public var taskCount: Int {
    get throws { try tables.tasks.count(in: base) }
  }

  /// How many lists there are; throws what the storage throws.
  public var listCount: Int {
    get throws { try tables.lists.count(in: base) }
  }

  /// The number of commits to the store when this snapshot was taken; throws what the storage throws.
  public var sequence: UInt64 {
    get throws { try header().sequence }
  }

  /// The number of events over all time.
  func total(_ series: CounterSeries, _ scope: CounterScope) throws -> Int {
    Int(try tables.totals.value(forKey: TotalKey(series, scope), in: base)?.count ?? 0)
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// A task that an index names, and that must therefore exist.
  func indexedTask(_ id: UUID) throws -> TaskItem {
    guard let bytes = try tables.tasks.bytes(forKey: IDKey(id), in: base) else {
      throw TallyError.missingRecord(of: "a task index")
    }
    return try TaskFields(bytes).item(id: id)
  }

  /// The stored record of a task or list, with the fields that a newer version may have added.
  func record<Record: ObjectRecord>(_ type: Record.Type, _ id: UUID) throws(LMDBError) -> Record? {
    guard let bytes = try Record.table(in: tables).bytes(forKey: IDKey(id), in: base) else { return nil }
    return try Record(id: id, decoding: bytes)
  }

  /// The store's header.
  func header() throws -> StoreHeader {
    guard let header = try tables.meta.value(forKey: .header, in: base) else {
      throw TallyError.missingRecord(of: "meta")
    }
    return header
  }

  /// The record of a task or list; throws if there is none.
  func require<Record: ObjectRecord>(_ type: Record.Type, _ id: UUID) throws -> Record {
    guard let record = try record(type, id) else {
      throw Record.kind == .task ? TallyError.taskNotFound(id) : TallyError.listNotFound(id)
    }
    return record
  }
}
