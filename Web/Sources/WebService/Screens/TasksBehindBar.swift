import Foundation
import Hummingbird
import Tally

/// The tasks behind a bar of the statistics: the same days, list and filter; and, of a profile, those of one weekday or
/// hour.
struct TasksBehindBar {
  /// The number of a series that the bar shows.
  enum Kind: String {
    case completed, created, open
  }

  private let kind: Kind
  private let weekday: Int?
  private let hour: Int?
  private let selection: StatisticsSelection

  /// `of=created&from=2026-11-01&to=2026-11-30`; `weekday=1` to 7 from Monday on, or `hour=0` to 23.
  init(_ query: Form, in transaction: borrowing StoreReadTransaction) throws {
    func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
      try query.text(name).map { text in
        guard let number = Int(text), range.contains(number) else {
          throw HTTPError(.badRequest, message: "A weekday is 1 to 7, an hour 0 to 23.")
        }
        return number
      }
    }
    guard let kind = Kind(rawValue: query.text("of") ?? Kind.completed.rawValue) else {
      throw HTTPError(.badRequest, message: "A bar is of completed, created or open tasks.")
    }
    self.kind = kind
    (weekday, hour) = (try number("weekday", in: 1...7), try number("hour", in: 0...23))
    selection = try StatisticsSelection(query, in: transaction)
  }

  /// The content of `done.mustache`.
  func content(_ transaction: borrowing StoreReadTransaction) throws -> [String: Any] {
    let frame = try RowFrame(transaction)
    let (rows, count, deletedCount) =
      kind == .completed
      ? try completed(transaction, frame) : try ofSeries(transaction, frame)
    let profile = [
      hour.map { "completed at \($0) o’clock" }, weekday.map { "completed on a \(CalendarNames.weekdays[$0 - 1])" },
    ]
    return [
      "title": "\(kind.rawValue.prefix(1).uppercased())\(kind.rawValue.dropFirst()) tasks",
      "rows": rows, "hasRows": !rows.isEmpty,
      "selected": selection.words(frame.clock) + profile.compactMap(\.self),
      "found": count.counted("task") + (count > rows.count ? ", the newest \(rows.count) of which are shown" : "")
        + (deletedCount > 0 ? ", and \(deletedCount) that have been deleted since" : ""),
    ]
  }

  private typealias Found = (rows: [[String: Any]], count: Int, deletedCount: Int)

  private static let longestListInRows = 200

  private func completed(_ transaction: borrowing StoreReadTransaction, _ frame: RowFrame) throws -> Found {
    var found: Found = ([], 0, 0)
    try transaction.forEachCompletedTask(matching: selection.options) { task in
      guard let instant = task.completedAt?.instant, isShown(instant, frame.clock) else { return }
      found.count += 1
      if found.count <= Self.longestListInRows { found.rows.append(frame.row(task)) }
    }
    if weekday == nil, hour == nil {
      found.deletedCount = try transaction.completionCountOfDeletedTasks(matching: selection.options)
    }
    return found
  }

  /// Whether the profile of a bar has a completion: by the day to which its night belongs, and by the clock on the wall.
  private func isShown(_ instant: Timestamp, _ clock: DateReference) -> Bool {
    (weekday == nil || weekday == clock.day(of: instant).weekday)
      && (hour == nil || hour == clock.wallTime(at: instant).hour)
  }

  private func ofSeries(_ transaction: borrowing StoreReadTransaction, _ frame: RowFrame) throws -> Found {
    let buckets = try transaction.series(selection.options).buckets
    let counted = kind == .created ? buckets.reduce(0) { $0 + $1.created } : buckets.last?.open ?? 0
    var rows: [[String: Any]] = []
    func add(_ task: TaskItem) -> Bool {
      rows.append(frame.row(task))
      return rows.count < Self.longestListInRows
    }
    if kind == .created {
      try transaction.forEachCreatedTask(matching: selection.options, add)
    } else {
      try transaction.forEachOpenTask(atEndOf: selection.options, add)
    }
    let hasMore = rows.count == Self.longestListInRows
    return (rows, hasMore ? counted : rows.count, hasMore ? 0 : counted - rows.count)
  }
}
