internal import Foundation

/// A list as an object of a document; `nil` for keys that the object lacks.
struct ListDocument {
  /// The keys, in the order in which they are written.
  enum Key: String, DocumentKey {
    case id, name, colorHex, sortOrder, createdAt, updatedAt

    static let table = DocumentKeyTable<Key>()
  }

  var id: UUID
  var name: String
  var colorHex: String?
  var sortOrder: Int64?
  var createdAt: Timestamp?
  var updatedAt: Timestamp?
}

extension ListDocument {
  /// Writes a whole list.
  static func write(_ list: TaskList, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("id")
    writer.value(list.id)
    writer.key("name")
    writer.value(list.name)
    writer.key("colorHex")
    writer.value(list.colorHex)
    writer.key("sortOrder")
    writer.value(list.sortOrder)
    writer.key("createdAt")
    writer.value(list.createdAt)
    writer.key("updatedAt")
    writer.value(list.updatedAt)
    writer.endObject()
  }

  /// Reads a list whose object has just begun.
  init(from reader: inout JSONReader, isLenient: Bool) throws {
    let position = reader.tokenPosition
    var id: UUID?
    var name: String?
    var colorHex: String?
    var sortOrder: Int64?
    var createdAt: Timestamp?
    var updatedAt: Timestamp?
    try reader.readEntries(Key.self, isLenient: isLenient) { reader, key in
      switch key {
      case .id: id = try reader.read(.id, for: key)
      case .name: name = try reader.read(.text, for: key)
      case .colorHex: colorHex = try reader.read(.text, for: key)
      case .sortOrder: sortOrder = try reader.read(.integer, for: key)
      case .createdAt: createdAt = try reader.read(.instant, for: key)
      case .updatedAt: updatedAt = try reader.read(.instant, for: key)
      }
    }
    // Without an id no task could name the list, and each import would create another one.
    guard let id else { throw reader.fault("The list has no id", at: position) }
    guard let name else { throw reader.fault("The list has no name", at: position) }
    self.init(
      id: id,
      name: name,
      colorHex: colorHex,
      sortOrder: sortOrder,
      createdAt: createdAt,
      updatedAt: updatedAt
    )
  }

  /// The list that this gives, replacing a stored one if there is one; missing keys keep their stored values.
  ///
  /// - Throws: as ``TaskList/validate()``, without a position.
  func list(replacing old: TaskList?, now: Timestamp, sortOrder: () throws -> Int64) throws -> TaskList {
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
    // A change that the document does not date happens now.
    if let old, updatedAt == nil, !list.isIdentical(to: old) { list.updatedAt = max(now, old.updatedAt) }
    return list
  }
}
