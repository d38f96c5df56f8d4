public import Foundation

/// A list of tasks, with a name and a colour.
///
/// A value: changing one changes nothing in a store.
public struct TaskList: Identifiable, Hashable, Sendable {
  /// What names the list for good; any UUID, made as a ``UUIDv7`` by default.
  public let id: UUID
  /// The list's name: any text that is not only white space.
  public var name: String
  /// The list's colour as six hexadecimal digits, red, green and blue.
  public var colorHex: String
  /// Where the list stands among the others, ascending; within ``TaskItem/sortOrders``.
  public var sortOrder: Int64
  /// When the list was made.
  public var createdAt: Timestamp
  /// When the list was last changed.
  public var updatedAt: Timestamp

  /// The colour of a list that was given none.
  public static let defaultColorHex = "007AFF"

  /// Makes a list as it is given; nothing is checked before ``validate()``.
  ///
  /// Without `updatedAt` the list was last changed when it was made.
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
