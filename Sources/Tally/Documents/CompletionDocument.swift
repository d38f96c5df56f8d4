internal import Foundation

/// A completion as an object of a document: one whose task is gone, or was in another list then.
enum CompletionDocument {
  /// The keys, in the order in which they are written.
  enum Key: String, DocumentKey {
    case taskID, completedAt, createdAt, listID, taskDeleted, priority, tags

    static let table = DocumentKeyTable<Key>()
  }

  /// Writes a completion.
  static func write(_ completion: Completion, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.entry("taskID", .id(completion.taskID))
    writer.entry("completedAt", .offsetInstant(completion.completedAt))
    writer.entry("createdAt", .instant(completion.createdAt))
    let classification = completion.classification
    writer.entry("listID", classification.listID.map { .id($0) })
    writer.key("taskDeleted")
    writer.value(completion.isTaskDeleted)
    writer.entry("priority", classification.priority == .none ? nil : .priority(classification.priority))
    writer.entry("tags", classification.tags.isEmpty ? nil : .tags(classification.tags))
    writer.endObject()
  }

  /// Reads a completion whose object has just begun.
  static func read(from reader: inout JSONReader, isLenient: Bool) throws -> Completion {
    let position = reader.tokenPosition
    var taskID: UUID?, completedAt: OffsetTimestamp?, createdAt: Timestamp?, isTaskDeleted: Bool?
    var classification = Classification()
    var entries = DocumentEntries(Key.self, isLenient: isLenient)
    while let key = try entries.next(from: &reader) {
      switch key {
      case .taskID: taskID = try reader.read(.id, for: key)?.id
      case .completedAt: completedAt = try reader.read(.offsetInstant, for: key)?.offsetInstant
      case .createdAt: createdAt = try reader.read(.instant, for: key)?.instant
      case .listID: classification.listID = try reader.read(.id, for: key, orNull: true)?.id
      case .taskDeleted: isTaskDeleted = try reader.readFlag(for: key)
      case .priority: classification.priority = try reader.read(.priority, for: key, orNull: true)?.priority ?? .none
      case .tags: classification.tags = try reader.read(.tags, for: key, orNull: true)?.tags ?? []
      }
    }
    guard let taskID else { throw reader.fault("The completion has no taskID", at: position) }
    guard let completedAt else { throw reader.fault("The completion has no completedAt", at: position) }
    guard let createdAt else { throw reader.fault("The completion has no createdAt", at: position) }
    guard let isTaskDeleted else { throw reader.fault("The completion has no taskDeleted", at: position) }
    do {
      try classification.tags.validate()
    } catch {
      throw error.at(position)
    }
    return Completion(
      taskID: taskID, completedAt: completedAt, createdAt: createdAt, classification: classification,
      isTaskDeleted: isTaskDeleted)
  }
}
