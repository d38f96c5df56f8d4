internal import Foundation

/// A list as an object of a document; `nil` for keys that the object lacks.
package struct ListDocument {
  /// The keys, in the order in which they are written.
  enum Key: String, DocumentKey {
    case id, name, colorHex, sortOrder, createdAt, updatedAt

    static let table = DocumentKeyTable<Key>()
  }

  let id: UUID
  let name: String
  private var colorHex: String?
  private var sortOrder: Int64?
  private var createdAt: Timestamp?
  private(set) var updatedAt: Timestamp?

  init(id: UUID, name: String) {
    (self.id, self.name) = (id, name)
  }
}

extension ListDocument {
  /// Writes a whole list.
  static func write(_ list: TaskList, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.entry("id", .id(list.id))
    writer.entry("name", .text(list.name))
    writer.entry("colorHex", .text(list.colorHex))
    writer.entry("sortOrder", .integer(list.sortOrder))
    writer.entry("createdAt", .instant(list.createdAt))
    writer.entry("updatedAt", .instant(list.updatedAt))
    writer.endObject()
  }

  /// Reads a list whose object has just begun.
  init(from reader: inout JSONReader, isLenient: Bool) throws {
    let position = reader.tokenPosition
    var id: UUID?
    var name: String?
    var entries = DocumentEntries(Key.self, isLenient: isLenient)
    while let key = try entries.next(from: &reader) {
      switch key {
      case .id: id = try reader.read(.id, for: key)?.id
      case .name: name = try reader.read(.text, for: key)?.text
      case .colorHex: colorHex = try reader.read(.text, for: key)?.text
      case .sortOrder: sortOrder = try reader.read(.integer, for: key)?.integer
      case .createdAt: createdAt = try reader.read(.instant, for: key)?.instant
      case .updatedAt: updatedAt = try reader.read(.instant, for: key)?.instant
      }
    }
    // Without an id no task could name the list, and each import would create another one.
    guard let id else { throw reader.fault("The list has no id", at: position) }
    guard let name else { throw reader.fault("The list has no name", at: position) }
    (self.id, self.name) = (id, name)
  }

  /// The list that this gives, replacing a stored one if there is one; missing keys keep their stored values.
  ///
  /// - Throws: as ``TaskList/validate()``, without a position.
  func list(
    replacing old: TaskList?, now: Timestamp, date: Timestamp, sortOrder: () throws -> Int64
  ) throws -> TaskList {
    let createdAt = createdAt ?? old?.createdAt ?? now
    var list = TaskList(
      id: id,
      name: name,
      colorHex: colorHex ?? old?.colorHex ?? TaskList.defaultColorHex,
      sortOrder: self.sortOrder ?? old?.sortOrder ?? 0,
      createdAt: createdAt,
      updatedAt: updatedAt ?? old?.updatedAt ?? createdAt
    )
    try list.validate()
    list = list.normalized
    if self.sortOrder == nil, old == nil { list.sortOrder = try sortOrder() }
    if let old, updatedAt == nil, !list.isIdentical(to: old) { list.updatedAt = max(date, old.updatedAt) }
    return list
  }
}
