public import Foundation
import LMDB
import TallyEngine

extension StoreTransaction where Base: ~Copyable {
  /// The task with an identifier; `nil` if there is none.
  ///
  /// - Throws: `damagedStore` if the record cannot be read; otherwise what the storage throws.
  /// - Complexity: one lookup, whatever the size of the store.
  @_specialize(where Base == ReadTransaction)
  public func task(_ id: UUID) throws -> TaskItem? {
    guard let bytes = try tables.tasks.bytes(forKey: IDKey(id), in: base) else { return nil }
    return try TaskFields(bytes).item(id: id).shown(in: calendar.timeZone)
  }

  /// The task with an identifier as its record has it, whoever reads it; `nil` if there is none.
  ///
  /// - Throws: as `task(_:)`.
  package func storedTask(_ id: UUID) throws -> TaskItem? { try record(TaskRecord.self, id)?.item }

  /// The list with an identifier; `nil` if there is none.
  ///
  /// - Throws: as `task(_:)`.
  public func list(_ id: UUID) throws -> TaskList? {
    try record(ListRecord.self, id)?.item
  }

  /// All lists, in the user's order.
  ///
  /// - Throws: as `task(_:)`.
  /// - Complexity: one lookup for each list.
  public func lists() throws -> [TaskList] {
    var ids: [UUID] = []
    try forEachKey(of: tables.listsByOrder, from: .lowest) { ids.append($0.id) }
    return try ids.map { id in
      guard let list = try list(id) else { throw TallyError.missingRecord(of: "listsByOrder") }
      return list
    }
  }

  /// The number of tasks; throws what the storage throws.
  public var taskCount: Int {
    get throws { try tables.tasks.count(in: base) }
  }

  /// The number of lists; throws what the storage throws.
  public var listCount: Int {
    get throws { try tables.lists.count(in: base) }
  }

  /// The number of commits in this snapshot; throws what the storage throws.
  public var sequence: UInt64 {
    get throws { try header().sequence }
  }

  /// The number of events over all time.
  func total(_ series: CounterSeries, _ scope: CounterScope) throws -> Int {
    Int(try tables.totals.value(forKey: TotalKey(series, scope), in: base)?.count ?? 0)
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Reads a task that must exist because an index refers to it.
  func indexedTask(_ id: UUID) throws -> TaskItem {
    guard let bytes = try tables.tasks.bytes(forKey: IDKey(id), in: base) else {
      throw TallyError.missingRecord(of: "a task index")
    }
    return try TaskFields(bytes).item(id: id).shown(in: calendar.timeZone)
  }

  /// The stored record of a task or list, including fields that a newer version may have added.
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
