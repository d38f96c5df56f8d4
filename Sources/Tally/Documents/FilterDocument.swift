/// A saved filter as an object of a document.
enum FilterDocument {
  /// The keys, in the order in which they are written.
  enum Key: String, DocumentKey {
    case name, filter, updatedAt

    static let table = DocumentKeyTable<Key>()
  }

  /// Writes a saved filter.
  static func write(_ filter: SavedFilter, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.entry("name", .text(filter.name))
    writer.entry("filter", .text(filter.text))
    writer.entry("updatedAt", .instant(filter.updatedAt))
    writer.endObject()
  }

  /// Reads a saved filter whose object has just begun.
  ///
  /// - Throws: `invalidFilter` for a name or a text that cannot be one.
  static func read(from reader: inout JSONReader, isLenient: Bool) throws -> SavedFilter {
    let position = reader.tokenPosition
    var name: String?, text: String?, updatedAt: Timestamp?
    var entries = DocumentEntries(Key.self, isLenient: isLenient)
    while let key = try entries.next(from: &reader) {
      switch key {
      case .name: name = try reader.read(.text, for: key)?.text
      case .filter: text = try reader.read(.text, for: key)?.text
      case .updatedAt: updatedAt = try reader.read(.instant, for: key)?.instant
      }
    }
    guard let name else { throw reader.fault("The filter has no name", at: position) }
    guard let text else { throw reader.fault("The filter has no text", at: position) }
    // Else each import would be another change.
    guard let updatedAt else { throw reader.fault("The filter has no updatedAt", at: position) }
    do {
      return try SavedFilter(TaskFilter(text: text), as: name, updatedAt: updatedAt)
    } catch {
      throw TallyError(.malformedDocument, error.message, remedy: error.remedy, at: position, cause: error)
    }
  }
}
