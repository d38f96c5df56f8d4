package import Foundation
package import GRDB
package import Tally

extension SQLiteTaskStore {
  package static func task(_ id: UUID, in database: Database) throws -> TaskItem? {
    let statement = try database.cachedStatement(sql: "SELECT \(columns) FROM task WHERE id = ?")
    let rows = try Row.fetchCursor(statement, arguments: [id])
    return try rows.next().map { try task($0) }
  }

  /// A list's tasks in the order of Tally's view.
  package static func tasks(ofList listID: UUID, in database: Database) throws -> [TaskItem] {
    let statement = try database.cachedStatement(
      sql: "SELECT \(columns) FROM task WHERE listID = ? ORDER BY rank, sortOrder, createdAt, id")
    var tasks: [TaskItem] = []
    let rows = try Row.fetchCursor(statement, arguments: [listID])
    while let row = try rows.next() { tasks.append(try task(row)) }
    return tasks
  }

  /// The first open tasks with a text in their title, which SQLite looks for without regard to the case of ASCII.
  package static func openTasks(
    withTitleContaining text: String, limit: Int, in database: Database
  ) throws -> [TaskItem] {
    let statement = try database.cachedStatement(
      sql: """
        SELECT \(columns) FROM task WHERE rank < 2 AND title LIKE '%' || ? || '%'
        ORDER BY rank, sortOrder, createdAt, id LIMIT ?
        """)
    return try tasks(statement, [text, limit])
  }

  /// The first open tasks with a tag.
  package static func openTasks(withTag tag: String, limit: Int, in database: Database) throws -> [TaskItem] {
    let statement = try database.cachedStatement(
      sql: """
        SELECT \(columns.split(separator: ", ").map { "task.\($0)" }.joined(separator: ", "))
        FROM taskTag JOIN task ON task.id = taskTag.taskID
        WHERE taskTag.tag = ? AND taskTag.rank < 2
        ORDER BY taskTag.rank, taskTag.sortOrder, taskTag.createdAt, taskTag.taskID LIMIT ?
        """)
    return try tasks(statement, [tag, limit])
  }

  private static func tasks(_ statement: Statement, _ arguments: StatementArguments) throws -> [TaskItem] {
    var tasks: [TaskItem] = []
    let rows = try Row.fetchCursor(statement, arguments: arguments)
    while let row = try rows.next() { tasks.append(try task(row)) }
    return tasks
  }

  /// The number of tasks completed in an interval, or in all.
  package static func completionCount(in interval: Range<Timestamp>?, in database: Database) throws -> Int {
    guard let interval else {
      return try Int.fetchOne(
        database.cachedStatement(sql: "SELECT COUNT(*) FROM task WHERE completedAt IS NOT NULL")) ?? 0
    }
    return try Int.fetchOne(
      database.cachedStatement(sql: "SELECT COUNT(*) FROM task WHERE completedAt >= ? AND completedAt < ?"),
      arguments: [interval.lowerBound.microsecondsSince1970, interval.upperBound.microsecondsSince1970]) ?? 0
  }

  /// Completions by weekday (from Monday), by hour and by list, in UTC: a part of Tally's statistics.
  package static func profiles(in database: Database) throws -> (byWeekday: [Int], byHour: [Int], byList: [UUID?: Int])
  {
    let day = 86_400_000_000
    var (byWeekday, byHour) = ([Int](repeating: 0, count: 7), [Int](repeating: 0, count: 24))
    // 1 January 1970 was a Thursday.
    let weekdays = try database.cachedStatement(
      sql: "SELECT (completedAt / \(day) + 3) % 7, COUNT(*) FROM task WHERE completedAt IS NOT NULL GROUP BY 1")
    for row in try Row.fetchAll(weekdays) { byWeekday[row[0]] = row[1] }
    let hours = try database.cachedStatement(
      sql: "SELECT completedAt % \(day) / 3600000000, COUNT(*) FROM task WHERE completedAt IS NOT NULL GROUP BY 1")
    for row in try Row.fetchAll(hours) { byHour[row[0]] = row[1] }
    let lists = try database.cachedStatement(
      sql: "SELECT listID, COUNT(*) FROM task WHERE rank = 2 GROUP BY listID")
    var byList: [UUID?: Int] = [:]
    for row in try Row.fetchAll(lists) { byList[row[0]] = row[1] }
    return (byWeekday, byHour, byList)
  }
}
