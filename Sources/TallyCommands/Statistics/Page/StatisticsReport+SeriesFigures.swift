import Foundation
import Tally

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
      names: bucketNames,
      values: buckets.map(\.completed),
      ticks: buckets.map(\.created),
      labels: columnLabels
    )
    let (completed, created) = (figures.values.reduce(0, +), figures.ticks.reduce(0, +))
    let best = zip(figures.values, figures.names).max { $0.0 < $1.0 }
    let most = best.map { $0.0 == 0 ? "" : "; most in one bar: \($0.0.grouped), \($0.1)" } ?? ""
    let capacity = Drawing.columnCapacity(of: .wide)
    let cut = buckets.count > capacity ? "; the chart shows the last \(capacity.grouped)" : ""
    return PageFigure(
      "series",
      "Completed by \(series.by.rawValue)",
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
      "open",
      "Open tasks at the end of each \(unit)",
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
      "year",
      "Completed each day",
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
