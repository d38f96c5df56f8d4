internal import Foundation

/// A completion as an object of a document: one whose task is gone, or was in another list then.
enum CompletionDocument {
  /// The keys, in the order in which they are written.
  enum Key: String, DocumentKey {
    case taskID, completedAt, createdAt, listID, taskDeleted

    static let table = DocumentKeyTable<Key>()
  }

  /// Writes a completion.
  static func write(_ completion: Completion, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.entry("taskID", .id(completion.taskID))
    writer.entry("completedAt", .offsetInstant(completion.completedAt))
    writer.entry("createdAt", .instant(completion.createdAt))
    writer.entry("listID", completion.listID.map { .id($0) })
    writer.key("taskDeleted")
    writer.value(completion.isTaskDeleted)
    writer.endObject()
  }

  /// Reads a completion whose object has just begun.
  static func read(from reader: inout JSONReader, isLenient: Bool) throws -> Completion {
    let position = reader.tokenPosition
    var taskID: UUID?, completedAt: OffsetTimestamp?, createdAt: Timestamp?, listID: UUID?, isTaskDeleted: Bool?
    var entries = DocumentEntries(Key.self, isLenient: isLenient)
    while let key = try entries.next(from: &reader) {
      switch key {
      case .taskID: taskID = try reader.read(.id, for: key)?.id
      case .completedAt: completedAt = try reader.read(.offsetInstant, for: key)?.offsetInstant
      case .createdAt: createdAt = try reader.read(.instant, for: key)?.instant
      case .listID: listID = try reader.read(.id, for: key, orNull: true)?.id
      case .taskDeleted: isTaskDeleted = try reader.readFlag(for: key)
      }
    }
    guard let taskID else { throw reader.fault("The completion has no taskID", at: position) }
    guard let completedAt else { throw reader.fault("The completion has no completedAt", at: position) }
    guard let createdAt else { throw reader.fault("The completion has no createdAt", at: position) }
    guard let isTaskDeleted else { throw reader.fault("The completion has no taskDeleted", at: position) }
    return Completion(
      taskID: taskID, completedAt: completedAt, createdAt: createdAt, listID: listID, isTaskDeleted: isTaskDeleted)
  }
}
