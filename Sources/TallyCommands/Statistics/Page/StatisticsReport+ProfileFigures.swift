import Foundation
import Tally

extension StatisticsReport {
  /// The charts that compare the present with the past.
  var trendFigures: [PageFigure] {
    let completed = statistics.completed
    return [
      trendFigure("week", statistics.weekTrend, current: completed.thisWeek, previous: completed.lastWeek),
      trendFigure("month", statistics.monthTrend, current: completed.thisMonth, previous: completed.lastMonth),
    ]
  }

  private func trendFigure(_ unit: String, _ trend: Trend, current: Int, previous: Int) -> PageFigure {
    let rows = [
      RowFigure(name: "this \(unit) so far", value: trend.elapsedCurrent),
      RowFigure(name: "last \(unit) by now", value: trend.elapsedPrevious, role: "past"),
      RowFigure(name: "all of last \(unit)", value: previous, role: "past"),
    ]
    return PageFigure(
      "trend-\(unit)",
      trend.message,
      description: "\(trend.message). \(rows.map { "\($0.name): \($0.value.grouped)" }.joined(separator: "; ")).",
      table: .init(["Period", "Completed"], rows.map { ($0.name, $0.value) } + [("all of this \(unit)", current)])
    ) { Drawing.rows(rows, on: $0) }
  }

  /// The charts of when and where work gets done.
  var profileFigures: [PageFigure] {
    [weekdayFigure, hourFigure] + groupFigures
  }

  private var weekdayFigure: PageFigure {
    let names = year.weekdays.map { WeekdayName.full[$0 - 1] }
    let rows = zip(names, statistics.byWeekday).map { RowFigure(name: $0, value: $1) }
    return PageFigure(
      "weekday",
      "By weekday",
      note: coveredDays,
      description: Self.most(of: rows),
      table: .init(["Weekday", "Completed"], rows.map { ($0.name, $0.value) })
    ) { Drawing.rows(rows, on: $0) }
  }

  private var hourFigure: PageFigure {
    let names = statistics.byHour.indices.map { "\($0 < 10 ? "0" : "")\($0):00–\($0 < 10 ? "0" : "")\($0):59" }
    let labels = [0: "0", 6: "6", 12: "12", 18: "18", 23: "23"]
    let figures = ChartFigures(names: names, values: statistics.byHour, labels: labels)
    return PageFigure(
      "hour",
      "By hour of the day",
      note: coveredDays,
      description: Self.most(of: zip(names, statistics.byHour).map { RowFigure(name: $0, value: $1) }),
      table: .init(["Hour", "Completed"], Array(zip(names, statistics.byHour)))
    ) { Drawing.columns(figures, on: $0) }
  }

  /// The charts of lists, of tags and of priorities, each where there is something to compare.
  private var groupFigures: [PageFigure] {
    let haveLists = !statistics.byList.isEmpty && options.listID == nil
    let havePriorities = statistics.byPriority.contains { $0.priority != .none }
    return [
      haveLists ? groupFigure("lists", "list", rankedLists) : nil,
      statistics.byTag.isEmpty ? nil : groupFigure("tags", "tag", rankedTags),
      havePriorities ? groupFigure("priorities", "priority", rankedPriorities) : nil,
    ].compactMap(\.self)
  }

  private func groupFigure(_ id: String, _ noun: String, _ ranked: [RankedGroup]) -> PageFigure {
    let shownCount = 12
    let rows = ranked.prefix(shownCount).map { RowFigure(name: $0.name.escapedForDisplay(), value: $0.completed) }
    let rest = ranked.count > shownCount ? "; the chart shows \(shownCount) of \(ranked.count.grouped)" : ""
    return PageFigure(
      id,
      "By \(noun)",
      note: coveredDays + rest,
      description: Self.most(of: rows),
      table: .init([noun.capitalized, "Completed"], ranked.map { ($0.name.escapedForDisplay(), $0.completed) })
    ) { Drawing.rows(rows, on: $0) }
  }

  private static func most(of rows: [RowFigure]) -> String {
    guard let most = rows.max(by: { $0.value < $1.value }), most.value > 0 else { return "No completions." }
    return "Most: \(most.name), \(most.value.grouped)."
  }
}
