import Foundation

extension TaskList: Codable {
  private enum Key: String, CodingKey {
    case id, name, colorHex, sortOrder, createdAt, updatedAt
  }

  /// Reads a list as an export writes it; nothing is checked that ``validate()`` checks.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    self.init(
      id: try container.decode(IDText.self, forKey: .id).id,
      name: try container.decode(String.self, forKey: .name),
      colorHex: try container.decode(String.self, forKey: .colorHex),
      sortOrder: try container.decode(Int64.self, forKey: .sortOrder),
      createdAt: try container.decode(Timestamp.self, forKey: .createdAt),
      updatedAt: try container.decode(Timestamp.self, forKey: .updatedAt))
  }

  /// Writes a list as an export does.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(IDText(id), forKey: .id)
    try container.encode(name, forKey: .name)
    try container.encode(colorHex, forKey: .colorHex)
    try container.encode(sortOrder, forKey: .sortOrder)
    try container.encode(createdAt, forKey: .createdAt)
    try container.encode(updatedAt, forKey: .updatedAt)
  }
}

extension ChangeSet.Identifiers: Codable {
  private enum Key: String, CodingKey {
    case inserted, updated, deleted
  }

  /// Reads the identifiers by what happened to them.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    func ids(_ key: Key) throws -> Set<UUID> { Set(try container.decode([IDText].self, forKey: key).map(\.id)) }
    self.init(inserted: try ids(.inserted), updated: try ids(.updated), deleted: try ids(.deleted))
  }

  /// Writes the identifiers by what happened to them, each group in ascending order.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    func texts(_ ids: Set<UUID>) -> [String] { ids.map { IDText($0).text }.sorted() }
    try container.encode(texts(inserted), forKey: .inserted)
    try container.encode(texts(updated), forKey: .updated)
    try container.encode(texts(deleted), forKey: .deleted)
  }
}
