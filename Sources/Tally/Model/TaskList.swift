public import Foundation

/// A list of tasks, with a name and a colour.
///
/// A value: changing it changes nothing in a store.
public struct TaskList: Identifiable, Hashable, Sendable {
  /// The list's identity, which never changes; any UUID, a ``UUIDv7`` by default.
  public let id: UUID
  /// The list's name: any text that is not only white space.
  public var name: String
  /// The list's colour as six hexadecimal digits, red, green and blue.
  public var colorHex: String
  /// The list's position among the lists, ascending; within ``TaskItem/sortOrders``.
  public var sortOrder: Int64
  /// When the list was created.
  public var createdAt: Timestamp
  /// When the list was last changed.
  public var updatedAt: Timestamp

  /// The default colour of a new list.
  public static let defaultColorHex = "007AFF"

  /// Creates a list with the given values, which are not checked until ``validate()``.
  ///
  /// Without `updatedAt`, the list was last changed when it was created.
  public init(
    id: UUID = UUIDv7.next(),
    name: String,
    colorHex: String = TaskList.defaultColorHex,
    sortOrder: Int64 = 0,
    createdAt: Timestamp,
    updatedAt: Timestamp? = nil
  ) {
    self.id = id
    self.name = name
    self.colorHex = colorHex
    self.sortOrder = sortOrder
    self.createdAt = createdAt
    self.updatedAt = updatedAt ?? createdAt
  }
}

extension TaskList: Codable {
  private enum Key: String, CodingKey {
    case id, name, colorHex, sortOrder, createdAt, updatedAt
  }

  /// Decodes a list in the form of an export; the rules of ``validate()`` are not checked.
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

  /// Encodes a list in the form of an export.
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
