import Foundation
import Tally

/// A chart of the page, described in words, drawn for two sizes of screen, and as a table.
struct PageFigure {
  struct Table {
    struct Row {
      let name: String
      let cells: [String]
    }

    let header: [String]
    let rows: [Row]
  }

  struct Drawn {
    let id: String
    let drawing: Drawing
  }

  struct LegendEntry {
    let role: String
    let text: String
  }

  /// The prefix of the ids of the figure's elements.
  let id: String
  let title: String
  /// A sentence below the title about the chart's extent or meaning.
  let note: String
  /// The chart in words, for readers who cannot see it.
  let description: String
  let legend: [LegendEntry]
  let hasLegend: Bool
  /// None if the chart would be empty.
  let drawings: [Drawn]
  let table: Table
  /// Whether the chart takes the whole width of a screen.
  let isWide: Bool

  init(
    _ id: String, _ title: String, note: String = "", description: String, legend: [LegendEntry] = [],
    isWide: Bool = false, table: Table, draw: (Canvas) -> Drawing
  ) {
    self.id = id
    self.title = title
    self.note = note
    self.description = description
    self.isWide = isWide
    self.table = table
    // An empty chart says nothing that its description does not.
    let isEmpty = !table.rows.contains { $0.cells.contains { $0 != "0" && !$0.isEmpty } }
    self.legend = legend
    hasLegend = !legend.isEmpty && !isEmpty
    drawings =
      isEmpty ? [] : [isWide ? Canvas.wide : .half, .narrow].map { Drawn(id: "\(id)-\($0.name)", drawing: draw($0)) }
  }
}

extension PageFigure.Table {
  /// A table with one number beside each name.
  init(_ header: [String], _ rows: [(String, Int)]) {
    self.init(header: header, rows: rows.map { Row(name: $0, cells: [$1.grouped]) })
  }
}

extension StatisticsReport {
  /// The charts of what changes over time.
  var figuresOverTime: [PageFigure] {
    [seriesFigure, yearFigure] + openFigures
  }

  /// The curve of open tasks, if there is more than one point of it.
  var openFigures: [PageFigure] {
    statistics.series.buckets.count > 1 ? [openFigure] : []
  }

  private var seriesFigure: PageFigure {
    let series = statistics.series
    let buckets = series.buckets
    let figures = ChartFigures(
      names: bucketNames, values: buckets.map(\.completed), ticks: buckets.map(\.created), labels: columnLabels)
    let (completed, created) = (figures.values.reduce(0, +), figures.ticks.reduce(0, +))
    let best = zip(figures.values, figures.names).max { $0.0 < $1.0 }
    let most = best.map { $0.0 == 0 ? "" : "; most in one bar: \($0.0.grouped), \($0.1)" } ?? ""
    let capacity = Drawing.columnCapacity(of: .wide)
    let cut = buckets.count > capacity ? "; the chart shows the last \(capacity.grouped)" : ""
    return PageFigure(
      "series", "Completed by \(series.by.rawValue)",
      note: "\(seriesDays)\(cut)",
      description: "\(completed.counted("task")) completed and \(created.grouped) created, \(seriesDays)\(most).",
      legend: [.init(role: "bar", text: "completed"), .init(role: "tick", text: "created")],
      isWide: true,
      table: .init(
        header: [series.by.rawValue.capitalized, "Completed", "Created"],
        rows: zip(figures.names, buckets).map {
          .init(name: $0, cells: [$1.completed.grouped, $1.created.grouped])
        }
      )
    ) { Drawing.columns(figures.suffix(Drawing.columnCapacity(of: $0)), on: $0) }
  }

  private var openFigure: PageFigure {
    let unit = statistics.series.by.rawValue
    let values = statistics.series.buckets.map(\.open)
    let figures = ChartFigures(names: bucketNames, values: values, labels: columnLabels)
    let (lowest, highest) = (values.min() ?? 0, values.max() ?? 0)
    return PageFigure(
      "open", "Open tasks at the end of each \(unit)",
      note: seriesDays,
      description: "From \((values.first ?? 0).grouped) to \((values.last ?? 0).grouped) open tasks, "
        + "between \(lowest.grouped) and \(highest.grouped).",
      isWide: true,
      table: .init([unit.capitalized, "Open"], Array(zip(figures.names, values)))
    ) { Drawing.curve(figures, on: $0) }
  }

  private var yearFigure: PageFigure {
    let grid = year
    let steps = HeatSteps(grid.cells.map(\.count))
    let today = clock.today
    let first = grid.cells.first.map { $0.day.shortName(asOf: today) } ?? ""
    let busy = grid.cells.count { $0.count > 0 }
    return PageFigure(
      "year", "Completed each day",
      note: "since \(first)",
      description: "Completions on \(busy.counted("day")) of the last \(grid.cells.count.grouped), a column per week.",
      legend: steps.legend.map { .init(role: "shade\($0.shade)", text: $0.text) },
      isWide: true,
      table: .init(
        header: ["Week of"] + grid.weekdays.map { WeekdayName.short[$0 - 1] },
        rows: grid.weeks.map { week in
          let start = week.compactMap { $0?.day }.first
          return .init(
            name: start.map { $0.shortName(asOf: today) } ?? "",
            cells: week.map { $0.map { $0.count.grouped } ?? "" }
          )
        }
      )
    ) { Drawing.heat(grid, steps: steps, asOf: today, on: $0) }
  }

  /// The days that the series covers.
  var seriesDays: String {
    let (from, to) = (statistics.series.from, statistics.series.to)
    return from == to
      ? from.shortName(asOf: clock.today)
      : "\(from.shortName(asOf: clock.today)) – \(to.shortName(asOf: clock.today))"
  }

  /// The days that the profiles and cycle times cover.
  var coveredDays: String { options.hasNamedDays ? seriesDays : "all time" }

  private var bucketNames: [String] {
    let by = statistics.series.by
    return statistics.series.buckets.map {
      (by == .week ? "week of " : "") + $0.name(by: by, asOf: clock.today)
    }
  }

  /// Each bar's name if there are few.
  private var columnLabels: [Int: String] {
    let (by, buckets) = (statistics.series.by, statistics.series.buckets)
    guard by != .day, buckets.count <= 14 else { return labels(of: buckets[...]) }
    return Dictionary(uniqueKeysWithValues: buckets.enumerated().map { ($0, $1.name(by: by, asOf: clock.today)) })
  }
}

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
      "trend-\(unit)", trend.message,
      description: "\(trend.message). \(rows.map { "\($0.name): \($0.value.grouped)" }.joined(separator: "; ")).",
      table: .init(["Period", "Completed"], rows.map { ($0.name, $0.value) } + [("all of this \(unit)", current)])
    ) { Drawing.rows(rows, on: $0) }
  }

  /// The charts of when and where work gets done.
  var profileFigures: [PageFigure] {
    [weekdayFigure, hourFigure] + groupFigures
  }

  private var weekdayFigure: PageFigure {
    let rows = zip(year.weekdays, statistics.byWeekday).map { (WeekdayName.full[$0 - 1], $1) }
    return rowsFigure("weekday", "weekday", rows)
  }

  /// A chart of the first rows as horizontal bars, and a table of all of them.
  private func rowsFigure(
    _ id: String, _ noun: String, _ all: [(name: String, completed: Int)], shownCount: Int = .max
  ) -> PageFigure {
    let rows = all.prefix(shownCount).map { RowFigure(name: $0.name, value: $0.completed) }
    let rest = all.count > shownCount ? "; the chart shows \(shownCount) of \(all.count.grouped)" : ""
    return PageFigure(
      id, "By \(noun)", note: coveredDays + rest, description: Self.most(of: rows),
      table: .init([noun.capitalized, "Completed"], all)
    ) { Drawing.rows(rows, on: $0) }
  }

  private var hourFigure: PageFigure {
    let names = statistics.byHour.indices.map { "\($0 < 10 ? "0" : "")\($0):00–\($0 < 10 ? "0" : "")\($0):59" }
    let labels = [0: "0", 6: "6", 12: "12", 18: "18", 23: "23"]
    let figures = ChartFigures(names: names, values: statistics.byHour, labels: labels)
    return PageFigure(
      "hour", "By hour of the day", note: coveredDays,
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
    rowsFigure(id, noun, ranked.map { ($0.name.escapedForDisplay(), $0.completed) }, shownCount: 12)
  }

  private static func most(of rows: [RowFigure]) -> String {
    guard let most = rows.max(by: { $0.value < $1.value }), most.value > 0 else { return "No completions." }
    return "Most: \(most.name), \(most.value.grouped)."
  }
}
