public import Foundation
public import TallyEngine

/// A list of tasks, with a name and a colour.
///
/// A value: changing it changes nothing in a store.
public struct TaskList: Identifiable, Hashable, Codable, Sendable {
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

extension TaskList {
  func shown(in zone: TimeZone) -> TaskList { self }
}
