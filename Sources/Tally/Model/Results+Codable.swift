import Foundation

extension ListCount: Codable {
  private enum Key: String, CodingKey {
    case listID, name, isDeleted, completed
  }

  /// Reads the count of a list, or that of tasks without a list if the id is missing.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    self.init(
      listID: try container.decodeIfPresent(IDText.self, forKey: .listID)?.id,
      name: try container.decodeIfPresent(String.self, forKey: .name),
      isDeleted: try container.decode(Bool.self, forKey: .isDeleted),
      completed: try container.decode(Int.self, forKey: .completed))
  }

  /// Writes the count; ids are in lower case.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encodeIfPresent(listID.map(IDText.init), forKey: .listID)
    try container.encodeIfPresent(name, forKey: .name)
    try container.encode(isDeleted, forKey: .isDeleted)
    try container.encode(completed, forKey: .completed)
  }
}

extension ValueKey: Codable {
  private enum Key: String, CodingKey {
    case namespace, bytes
  }

  /// Reads the namespace and the key's bytes; throws `DecodingError.dataCorrupted` for a name that no value can have.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let namespace = try container.decode(String.self, forKey: .namespace)
    let bytes = try container.decode(Data.self, forKey: .bytes)
    do {
      try self.init([UInt8](bytes), in: namespace)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: error.description, underlyingError: error))
    }
  }

  /// Writes the namespace, and the key's bytes as `Data`: in JSON as Base64.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(namespace, forKey: .namespace)
    try container.encode(Data(bytes), forKey: .bytes)
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
    case deletedFilters, values, keptFields
  }

  /// Reads a result.
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
      keptFields: Dictionary(
        try container.decodeIfPresent([KeptFields].self, forKey: .keptFields)?.map { ($0.id.id, $0.fields) } ?? []
      ) { $0.union($1) })
  }

  /// Writes the result: every part under the name of its property, ids and names of values in ascending order.
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
    let kept = keptFields.map { KeptFields(id: IDText($0), fields: $1) }.sorted { $0.id.text < $1.id.text }
    if !kept.isEmpty { try container.encode(kept, forKey: .keptFields) }
  }
}
