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
    try listRecord(id)?.list
  }

  /// Every list, in the user's order.
  ///
  /// - Throws: as `task(_:)`.
  /// - Complexity: one lookup per list.
  public func lists() throws -> [TaskList] {
    var ids: [UUID] = []
    _ = try scan(tables.listsByOrder, from: .lowest) { key in
      ids.append(key.id)
      return true
    }
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
}

extension StoreTransaction where Base: ~Copyable {
  /// A task that an index names, and that must therefore exist.
  func indexedTask(_ id: UUID) throws -> TaskItem {
    guard let bytes = try tables.tasks.bytes(forKey: IDKey(id), in: base) else {
      throw TallyError.missingRecord(of: "a task index")
    }
    return try TaskFields(bytes).item(id: id)
  }

  /// The stored record of a task, with the fields that a newer version may have added.
  func taskRecord(_ id: UUID) throws -> TaskRecord? {
    guard let bytes = try tables.tasks.bytes(forKey: IDKey(id), in: base) else { return nil }
    return try TaskRecord(id: id, decoding: bytes)
  }

  /// The stored record of a list.
  func listRecord(_ id: UUID) throws -> ListRecord? {
    guard let bytes = try tables.lists.bytes(forKey: IDKey(id), in: base) else { return nil }
    return try ListRecord(id: id, decoding: bytes)
  }

  /// The store's header.
  func header() throws -> StoreHeader {
    guard let header = try tables.meta.value(forKey: .header, in: base) else {
      throw TallyError.missingRecord(of: "meta")
    }
    return header
  }

  /// The record of a task; throws if there is none.
  func requireTaskRecord(_ id: UUID) throws -> TaskRecord {
    guard let record = try taskRecord(id) else { throw TallyError.taskNotFound(id) }
    return record
  }

  /// The record of a list; throws if there is none.
  func requireListRecord(_ id: UUID) throws -> ListRecord {
    guard let record = try listRecord(id) else { throw TallyError.listNotFound(id) }
    return record
  }
}
