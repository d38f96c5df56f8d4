import Foundation
import Hummingbird
import Tally

extension WebService {
  func addStatisticsRoutes(to router: Router<BasicRequestContext>) {
    router.get("statistics") { [self] request, _ in
      let (query, calendar) = (try request.query(), calendar(for: request))
      let (selection, clock, lists) = try store.read { transaction in
        (try StatisticsSelection(query, in: transaction), Clock(transaction), try transaction.lists())
      }
      let statistics = try store.statistics(calendar: calendar, selection.options)
      return try page(
        "statistics", title: "Statistics", for: request,
        StatisticsContent(statistics, selection, clock, lists).content)
    }
    router.get("done") { [self] request, _ in
      let content = try completedTasks(try request.query())
      return try page("done", title: "Completed tasks", for: request, content)
    }
  }

  /// The tasks behind a bar: the same days, list and filter; and, of a profile, those of one weekday or hour.
  private func completedTasks(_ query: Form) throws -> [String: Any] {
    let (weekday, hour) = (query.text("weekday").flatMap { Int($0) }, query.text("hour").flatMap { Int($0) })
    return try store.read { transaction in
      let selection = try StatisticsSelection(query, in: transaction)
      let frame = try RowFrame(transaction)
      var (rows, count): ([[String: Any]], Int) = ([], 0)
      try transaction.forEachCompletedTask(matching: selection.options) { task in
        guard let instant = task.completedAt?.instant else { return }
        let time = frame.clock.wallTime(at: instant)
        guard weekday == nil || weekday == time.weekday, hour == nil || hour == time.hour else { return }
        count += 1
        if count <= Self.longestDrillDownInRows { rows.append(frame.row(task)) }
      }
      let deleted =
        weekday == nil && hour == nil
        ? try transaction.completionCountOfDeletedTasks(matching: selection.options) : 0
      return [
        "rows": rows, "hasRows": count > 0, "selected": selection.words(frame.clock),
        "found": count.counted("task") + (count > rows.count ? ", the newest \(rows.count) of which are shown" : "")
          + (deleted > 0 ? ", and \(deleted) that have been deleted since" : ""),
      ]
    }
  }

  private static let longestDrillDownInRows = 200
}

/// Which completions a person asks for, as the address of a screen names it.
struct StatisticsSelection {
  let options: StatisticsOptions
  /// The name of the list, if one is selected.
  let listName: String?
  let query: Form

  init(_ query: Form, in transaction: borrowing StoreReadTransaction) throws {
    var options = StatisticsOptions()
    let reference = transaction.dateReference
    func day(_ name: String) throws -> CalendarDay? {
      try query.text(name).map { try DateExpression($0, as: .day).day(against: reference) }
    }
    (options.from, options.to) = (try day("from"), try day("to"))
    if let unit = query.text("by") {
      guard let known = Series.Unit(rawValue: unit) else {
        throw HTTPError(.badRequest, message: "The unit is unknown.")
      }
      options.unit = known
    }
    options.listID = try query.id("list")
    if let filter = query.text("filter") { options.filter = try TaskFilter(text: filter) }
    if let goal = query.text("goal") { options.goal = try Goal(text: goal) }
    options.dayStartInMinutes = 0
    listName = try options.listID.flatMap { try transaction.list($0)?.name }
    (self.options, self.query) = (options, query)
  }

  /// The selection in words, one for each part.
  func words(_ clock: Clock) -> [String] {
    [
      options.from.map { "from \(clock.name(of: $0))" }, options.to.map { "to \(clock.name(of: $0))" },
      listName.map { "in “\($0.shortened(to: 60))”" }, options.filter == .all ? nil : "matching \(options.filter.text)",
      query.text("hour").map { "completed at \($0) o’clock" },
      query.text("weekday").flatMap { Int($0) }.flatMap { Clock.weekdayName($0) }.map { "completed on a \($0)" },
    ].compactMap(\.self)
  }

  /// The address of the tasks behind a bar: this selection, with some parts replaced.
  func address(_ parts: [String: String]) -> String {
    var all: [String: String] = [:]
    for name in ["from", "to", "list", "filter"] { all[name] = query.text(name) }
    all.merge(parts) { _, new in new }
    return "/done?" + all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.inAddress)" }.joined(separator: "&")
  }
}
