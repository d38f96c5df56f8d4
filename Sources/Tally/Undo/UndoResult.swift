public import Foundation
public import TallyEngine

/// The result of an undo or a redo.
public struct UndoResult: Hashable, Sendable {
  /// The write that was undone or redone.
  public let change: ChangeID
  /// When that write was made.
  public let date: Timestamp
  /// The tasks that were restored or changed, in their new state.
  public let tasks: [TaskItem]
  /// The ids of the ones among ``tasks`` that did not exist before.
  public let returnedTaskIDs: Set<UUID>
  /// The tasks that were deleted, in their last state.
  public let deletedTasks: [TaskItem]
  /// The lists that were restored or changed, in their new state.
  public let lists: [TaskList]
  /// The ids of the ones among ``lists`` that did not exist before.
  public let returnedListIDs: Set<UUID>
  /// The lists that were deleted, in their last state.
  public let deletedLists: [TaskList]
  /// The saved filters that were restored or changed.
  public let savedFilters: [SavedFilter]
  /// The saved filters that were deleted.
  public let deletedFilters: [SavedFilter]
  /// The keys of the applications' values that were restored, changed or removed.
  public let values: Set<ValueKey>
  /// The number of records of the application's collections that were restored, changed or deleted, by the collection's
  /// name.
  public let records: [String: Int]
  /// The fields that keep their values because another replica has changed the task or list since.
  ///
  /// They have the names that documents use; `id` stands for an object that is neither created again nor deleted.
  public let keptFields: [UUID: Set<String>]

  /// Whether nothing visible changed.
  var isEmpty: Bool {
    tasks.isEmpty && deletedTasks.isEmpty && lists.isEmpty && deletedLists.isEmpty && savedFilters.isEmpty
      && deletedFilters.isEmpty && values.isEmpty && records.isEmpty
  }
}

extension UndoResult: Codable {
  /// The fields of one object that were not restored.
  private struct KeptFields: Codable {
    let id: IDText
    let fields: Set<String>
  }

  private enum Key: String, CodingKey {
    case change, date, tasks, returnedTaskIDs, deletedTasks, lists, returnedListIDs, deletedLists, savedFilters
    case deletedFilters, values, records, keptFields
  }

  /// Decodes a result.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    func ids(_ key: Key) throws -> Set<UUID> { Set(try container.decode([IDText].self, forKey: key).map(\.id)) }
    self.init(
      change: try container.decode(ChangeID.self, forKey: .change),
      date: try container.decode(Timestamp.self, forKey: .date),
      tasks: try container.decode([TaskItem].self, forKey: .tasks),
      returnedTaskIDs: try ids(.returnedTaskIDs),
      deletedTasks: try container.decode([TaskItem].self, forKey: .deletedTasks),
      lists: try container.decode([TaskList].self, forKey: .lists),
      returnedListIDs: try ids(.returnedListIDs),
      deletedLists: try container.decode([TaskList].self, forKey: .deletedLists),
      savedFilters: try container.decode([SavedFilter].self, forKey: .savedFilters),
      deletedFilters: try container.decode([SavedFilter].self, forKey: .deletedFilters),
      values: Set(try container.decode([ValueKey].self, forKey: .values)),
      records: try container.decodeIfPresent([String: Int].self, forKey: .records) ?? [:],
      keptFields: Dictionary(
        try container.decodeIfPresent([KeptFields].self, forKey: .keptFields)?.map { ($0.id.id, $0.fields) } ?? []
      ) { $0.union($1) })
  }

  /// Encodes the result: each part under the name of its property, with ids and keys of values in ascending order.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    func texts(_ ids: Set<UUID>) -> [String] { ids.map { IDText($0).text }.sorted() }
    try container.encode(change, forKey: .change)
    try container.encode(date, forKey: .date)
    try container.encode(tasks, forKey: .tasks)
    try container.encode(texts(returnedTaskIDs), forKey: .returnedTaskIDs)
    try container.encode(deletedTasks, forKey: .deletedTasks)
    try container.encode(lists, forKey: .lists)
    try container.encode(texts(returnedListIDs), forKey: .returnedListIDs)
    try container.encode(deletedLists, forKey: .deletedLists)
    try container.encode(savedFilters, forKey: .savedFilters)
    try container.encode(deletedFilters, forKey: .deletedFilters)
    let names = values.sorted { left, right in
      left.namespace == right.namespace
        ? left.bytes.lexicographicallyPrecedes(right.bytes) : left.namespace < right.namespace
    }
    try container.encode(names, forKey: .values)
    if !records.isEmpty { try container.encode(records, forKey: .records) }
    let kept = keptFields.map { KeptFields(id: IDText($0), fields: $1) }.sorted { $0.id.text < $1.id.text }
    if !kept.isEmpty { try container.encode(kept, forKey: .keptFields) }
  }
}
