import Foundation
import GRDB
package import SystemPackage
import Tally

/// Tally's document as `Codable` values, for Foundation's encoder and decoder.
///
/// Instants are written and read by Tally's own functions, which are faster than Foundation's.
package struct PeerDocument: Codable {
  private struct Task: Codable {
    let id: UUID
    let text: String
    let notes: String?
    let state: String
    let scheduledDate: String?
    let dueDate: String?
    let reminderDate: String?
    let listID: UUID?
    let sortOrder: Int64
    let createdAt: String
    let updatedAt: String
    let completedAt: String?

    init(_ task: TaskItem) {
      id = task.id
      text = task.title
      notes = task.notes
      state = task.state.name
      scheduledDate = task.scheduledDate?.iso8601
      dueDate = task.dueDate?.iso8601
      reminderDate = task.reminderDate?.iso8601
      listID = task.listID
      sortOrder = task.sortOrder
      createdAt = task.createdAt.iso8601
      updatedAt = task.updatedAt.iso8601
      completedAt = task.completedAt?.iso8601
    }

    func item() throws -> TaskItem {
      TaskItem(
        id: id, title: text, notes: notes, state: try TaskState(name: state),
        scheduledDate: try scheduledDate.map { try CalendarDay(iso8601: $0) },
        dueDate: try dueDate.map { try Timestamp(iso8601: $0) },
        reminderDate: try reminderDate.map { try Timestamp(iso8601: $0) }, listID: listID, sortOrder: sortOrder,
        createdAt: try Timestamp(iso8601: createdAt), updatedAt: try Timestamp(iso8601: updatedAt),
        completedAt: try completedAt.map { try OffsetTimestamp(iso8601: $0) })
    }
  }

  private var schemaVersion = 1
  private var tasks: [Task] = []
}

extension SQLiteTaskStore {
  /// Writes all tasks as indented JSON.
  package func export(to file: FilePath) throws {
    let document = try pool.read { database in
      var document = PeerDocument()
      let statement = try database.cachedStatement(sql: "SELECT \(Self.columns) FROM task ORDER BY id")
      let rows = try Row.fetchCursor(statement)
      while let row = try rows.next() { document.append(try Self.task(row)) }
      return document
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .prettyPrinted
    try encoder.encode(document).write(to: URL(filePath: file.string), options: .atomic)
  }

  /// Reads such a document into an empty database.
  package func importDocument(from file: FilePath) throws {
    let data = try Data(contentsOf: URL(filePath: file.string))
    try insert(try JSONDecoder().decode(PeerDocument.self, from: data).items())
  }
}

extension PeerDocument {
  fileprivate mutating func append(_ task: TaskItem) {
    tasks.append(Task(task))
  }

  fileprivate func items() throws -> [TaskItem] {
    try tasks.map { try $0.item() }
  }
}
