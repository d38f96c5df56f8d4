package import Foundation
package import GRDB
package import Tally

extension SQLiteTaskStore {
  static let columns = """
    id, title, notes, state, scheduledDay, dueAt, remindAt, listID, sortOrder, createdAt, updatedAt, completedAt, \
    completedOffset
    """

  /// Inserts tasks in one transaction.
  package func insert(_ tasks: some Sequence<TaskItem>) throws {
    try pool.write { database in
      let statement = try database.cachedStatement(
        sql: "INSERT INTO task (\(Self.columns), rank) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      let tagged = try database.cachedStatement(
        sql: "INSERT INTO taskTag (tag, rank, sortOrder, createdAt, taskID) VALUES (?, ?, ?, ?, ?)")
      for task in tasks {
        try statement.execute(arguments: Self.arguments(of: task))
        for tag in task.tags {
          try tagged.execute(
            arguments: [tag, Self.rank(of: task), task.sortOrder, task.createdAt.microsecondsSince1970, task.id])
        }
      }
    }
  }

  /// Creates one task after the others of a list, as Tally's `add` does.
  package static func add(_ title: String, toList listID: UUID, at now: Timestamp, in database: Database) throws {
    let last = try Int64.fetchOne(
      database.cachedStatement(
        sql: "SELECT sortOrder FROM task WHERE listID = ? AND rank = 1 ORDER BY sortOrder DESC LIMIT 1"),
      arguments: [listID])
    let task = TaskItem(title: title, listID: listID, sortOrder: (last ?? 0) + 1 << 20, createdAt: now)
    let statement = try database.cachedStatement(
      sql: "INSERT INTO task (\(columns), rank) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    try statement.execute(arguments: arguments(of: task))
  }

  private static func rank(of task: TaskItem) -> Int {
    switch task.state {
    case .active: 0
    case .notStarted: 1
    case .completed, .cancelled: 2
    }
  }

  private static func arguments(of task: TaskItem) -> StatementArguments {
    [
      task.id, task.title, task.notes, Int64(task.state.rawValue), task.scheduledDate.map { Int64($0.dayNumber) },
      task.dueDate?.microsecondsSince1970, task.reminderDate?.microsecondsSince1970, task.listID, task.sortOrder,
      task.createdAt.microsecondsSince1970, task.updatedAt.microsecondsSince1970,
      task.completedAt?.instant.microsecondsSince1970, task.completedAt?.utcOffsetInMinutes, rank(of: task),
    ]
  }

  /// A row as a value, column by column: faster than decoding by name.
  static func task(_ row: Row) throws -> TaskItem {
    let completedAt: Int64? = row[11]
    let day: Int32? = row[4]
    return TaskItem(
      id: row[0], title: row[1], notes: row[2], state: TaskState(rawValue: row[3]) ?? .notStarted,
      scheduledDate: try day.map { try CalendarDay(dayNumber: $0) }, dueDate: instant(row[5]),
      reminderDate: instant(row[6]), listID: row[7], sortOrder: row[8], createdAt: Timestamp(clamping: row[9] as Int64),
      updatedAt: Timestamp(clamping: row[10] as Int64),
      completedAt: try completedAt.map { try OffsetTimestamp(Timestamp(clamping: $0), utcOffsetInMinutes: row[12]) })
  }

  private static func instant(_ microseconds: Int64?) -> Timestamp? {
    microseconds.map { Timestamp(clamping: $0) }
  }
}
