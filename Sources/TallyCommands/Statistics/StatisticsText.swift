import Tally

/// The report as a person reads it: a heading, sentences, then charts of characters.
struct StatisticsText {
  let report: StatisticsReport
  let painter: Painter
  let width: Int

  /// Writes lines of `width` columns; charts grow to a hundred at most, as wider ones are hard to read.
  init(_ report: StatisticsReport, painter: Painter, width: Int?) {
    self.report = report
    self.painter = painter
    self.width = max(20, width ?? 80)
  }

  var statistics: Statistics { report.statistics }
  var chartWidth: Int { min(width, 100) }

  /// The whole report.
  var text: String {
    let (open, goal) = (wrapped(report.openInWords), report.goalInWords.flatMap(wrapped))
    let parts =
      report.isEmpty
      ? [heading, counts, trends, goal, burndown, open]
      : [
        heading, counts, trends, wrapped(report.streakInWords), goal, series, burndown, heatMap, weekdays, hours, lists,
        tags, priorities, open, wrapped(report.cycleTimeInWords),
      ]
    return parts.filter { !$0.isEmpty }.map { $0.map { $0 + "\n" }.joined() }.joined(separator: "\n")
  }
}

extension StatisticsText {
  private var heading: [String] {
    [painter.paint(report.title.truncated(toWidth: width), .heading)]
      + ([report.asOfInWords] + report.conditions).flatMap { $0.wrapped(toWidth: width) }.map {
        painter.paint($0, .detail)
      }
  }

  /// A chart below its title and its extent, if there is room for that; `none` if there is nothing to draw.
  func section(
    _ title: String, covering range: String, of values: some Sequence<Int>, _ lines: @autoclosure () -> [String]
  ) -> [String] {
    let covered = " · \(range)"
    let fits = (title + covered).displayWidth <= width
    return [painter.paint(title.truncated(toWidth: width), .heading) + (fits ? painter.paint(covered, .detail) : "")]
      + (values.contains { $0 != 0 } ? lines() : ["  none"])
  }

  /// Sentences within the line's width; none if there is no text.
  func wrapped(_ text: String?) -> [String] {
    text?.wrapped(toWidth: width) ?? []
  }

  /// A remark below sentences or a chart.
  func detail(_ text: String) -> [String] {
    text.wrapped(toWidth: width - 2).map { "  " + painter.paint($0, .detail) }
  }
}

extension StatisticsText {
  /// The sentences of today, this week and this month, then the other periods.
  var counts: [String] {
    let completed = statistics.completed
    let rows: [[(String, Int)]] = [
      [("last week", completed.lastWeek), ("last month", completed.lastMonth)],
      [("this year", completed.thisYear), ("all time", completed.allTime)],
    ]
    let widths = [0, 1].map { column in rows.map { $0[column].1.grouped.count }.max() ?? 0 }
    return report.messages.flatMap(wrapped)
      + rows.map { row in
        zip(row, widths).map { cell, width in
          "  " + painter.paint(cell.0.padded(toWidth: 10), .detail) + " " + cell.1.grouped.leftPadded(toWidth: width)
        }.joined(separator: " ")
      }
  }

  /// The library's sentences, each with the equal elapsed part of the previous period; one where nothing was completed.
  var trends: [String] {
    if report.isEmpty { return wrapped(statistics.weekTrend.message) }
    return [("week", statistics.weekTrend), ("month", statistics.monthTrend)].flatMap { unit, trend in
      let elapsed =
        "\(trend.elapsedCurrent.grouped) so far, \(trend.elapsedPrevious.grouped) by this time last \(unit)"
      return wrapped(trend.message) + (trend.direction == .none ? [] : detail(elapsed))
    }
  }
}

extension StatisticsText {
  /// Shades from none to most that are distinct without colour.
  private static let glyphs = ["·", "░", "▒", "▓", "█"]
  /// The same on a terminal with colour, from dull to bright, which works on light and dark backgrounds.
  private static let colors = ["808080", "3F7F4F", "379B50", "2FB852", "30D158"]

  /// A year of days, a column per week: as many weeks as fit.
  var heatMap: [String] {
    let labelWidth = 6
    let columnWidth = width >= labelWidth + 2 * StatisticsReport.weekCount ? 2 : 1
    let grid = report.year.suffix((width - labelWidth) / columnWidth)
    guard let first = grid.cells.first else { return [] }
    let range = "since \(first.day.shortName(asOf: report.clock.today))"
    let steps = HeatSteps(grid.cells.map(\.count))
    let rows = grid.weekdays.enumerated().map { row, weekday in
      "  \(WeekdayName.short[weekday - 1]) "
        + painted(grid.weeks.map { $0[row].map { steps.shade(of: $0.count) } }, columnWidth: columnWidth)
    }
    return section(
      "Completed each day", covering: range, of: grid.cells.map(\.count),
      [months(of: grid, labelWidth: labelWidth, columnWidth: columnWidth)] + rows + legend(steps)
    )
  }

  private func months(of grid: WeekGrid, labelWidth: Int, columnWidth: Int) -> String {
    var line = ""
    for (week, month, _) in grid.monthStarts {
      let start = labelWidth + week * columnWidth
      let label = MonthName.short[month - 1]
      let end = labelWidth + grid.weeks.count * columnWidth
      guard line.isEmpty || start > line.displayWidth, start + label.count <= max(end, labelWidth + 3) else { continue }
      // The month of the first week may be almost over: its name would displace the next one's.
      let next = grid.monthStarts.first { $0.week > week }?.week ?? .max
      if next != .max, (next - week) * columnWidth <= label.count { continue }
      line = line.padded(toWidth: start) + label
    }
    return painter.paint(line, .detail)
  }

  /// One row of the map; neighbours of one shade are coloured together.
  private func painted(_ shades: [Int?], columnWidth: Int) -> String {
    var text = ""
    for run in shades.chunkedByEquality {
      guard let shade = run.value else {
        text += String(repeating: " ", count: run.count * columnWidth)
        continue
      }
      let cell =
        shade == 0
        ? Self.glyphs[0].padded(toWidth: columnWidth)
        : String(repeating: Self.glyphs[shade], count: columnWidth)
      text += painter.paint(String(repeating: cell, count: run.count), colorHex: Self.colors[shade])
    }
    return text
  }

  private func legend(_ steps: HeatSteps) -> [String] {
    let entries = steps.legend
    var lines = [""]
    var lineWidth = 0
    for (shade, text) in entries {
      let plain = "\(Self.glyphs[shade]) \(text)"
      if lineWidth > 0, 6 + lineWidth + plain.displayWidth > width {
        lines.append("")
        lineWidth = 0
      }
      lines[lines.count - 1] += painter.paint(Self.glyphs[shade], colorHex: Self.colors[shade]) + " \(text)  "
      lineWidth += plain.displayWidth + 2
    }
    return lines.map { "      " + $0.dropLast(2) }
  }
}

extension Array where Element: Equatable {
  /// The runs of equal elements, with their lengths.
  fileprivate var chunkedByEquality: [(value: Element, count: Int)] {
    reduce(into: []) { runs, element in
      if let last = runs.last, last.value == element {
        runs[runs.count - 1].count += 1
      } else {
        runs.append((element, 1))
      }
    }
  }
}

extension StatisticsText {
  /// Completions by day of the week, in the week's order.
  var weekdays: [String] {
    let rows = statistics.byWeekday.enumerated().map { index, count in
      (WeekdayName.short[(statistics.weekStart + index - 1) % 7], count)
    }
    return section(
      "By weekday", covering: report.coveredDays, of: statistics.byWeekday,
      BarRows(rows: rows).lines(width: chartWidth) { painter.paint($0, .done) })
  }

  /// Completions by hour of the day.
  var hours: [String] {
    var columns = ColumnChart(values: statistics.byHour, labels: [0: "00", 6: "06", 12: "12", 18: "18"])
    columns.heightInLines = 4
    return section(
      "By hour of the day", covering: report.coveredDays, of: statistics.byHour,
      columns.lines(width: chartWidth) { painter.paint($0, .done) })
  }

  /// Completions by the list they happened in, most first.
  var lists: [String] {
    guard report.options.listID == nil, statistics.byList.contains(where: { $0.listID != nil }) else { return [] }
    return ranking(report.rankedLists, "list")
  }

  /// Completions by the tags of the moment, most first.
  var tags: [String] {
    statistics.byTag.isEmpty ? [] : ranking(report.rankedTags, "tag")
  }

  /// Completions by the priority of the moment, the highest first.
  var priorities: [String] {
    statistics.byPriority.contains { $0.priority != .none } ? ranking(report.rankedPriorities, "priority") : []
  }

  /// Bars of groups, a dozen at most.
  private func ranking(_ ranked: [StatisticsReport.RankedGroup], _ noun: String) -> [String] {
    let shownCount = 12
    let rows = ranked.prefix(shownCount).map { ($0.name.escapedForDisplay(), $0.completed) }
    let hiddenCount = ranked.count - shownCount
    return section(
      "By \(noun)", covering: report.coveredDays, of: ranked.map(\.completed),
      BarRows(rows: rows).lines(width: chartWidth) { painter.paint($0, .done) }
    ) + (hiddenCount > 0 ? detail("and \(hiddenCount.counted(noun)) more; --plain and --json show all") : [])
  }
}

extension StatisticsText {
  /// The buckets that fit, the newest ones.
  private func fittingBuckets(highest: Int) -> ArraySlice<Series.Bucket> {
    statistics.series.buckets.suffix(ColumnChart.capacity(ofWidth: chartWidth, highest: highest))
  }

  /// Completions over time: horizontal bars if there are few, vertical ones if there are many.
  var series: [String] {
    let series = statistics.series
    let values = series.buckets.map(\.completed)
    var (lines, omitted): ([String], [String]) = ([], [])
    if series.by != .day, series.buckets.count <= 14 {
      let rows = series.buckets.map { ($0.name(by: series.by, asOf: report.clock.today), $0.completed) }
      lines = BarRows(rows: rows).lines(width: chartWidth) { painter.paint($0, .done) }
    } else {
      let buckets = fittingBuckets(highest: values.max() ?? 0)
      let columns = ColumnChart(values: buckets.map(\.completed), labels: report.labels(of: buckets))
      lines = columns.lines(width: chartWidth) { painter.paint($0, .done) }
      omitted = omission(showing: buckets)
    }
    return section("Completed by \(series.by.rawValue)", covering: report.seriesDays, of: values, lines) + omitted
  }

  /// Open tasks over time, and how many were created and completed.
  var burndown: [String] {
    let series = statistics.series
    let buckets = fittingBuckets(highest: series.buckets.map(\.open).max() ?? 0)
    guard let first = buckets.first, let last = buckets.last, buckets.count > 1 else { return [] }
    let open = buckets.map(\.open)
    guard let lowest = open.min(), let highest = open.max(), highest > 0 else { return [] }
    let chart = ColumnChart(values: open, labels: report.labels(of: buckets), lowest: lowest == highest ? 0 : lowest)
    let (created, completed) = (buckets.map(\.created).reduce(0, +), buckets.map(\.completed).reduce(0, +))
    let sums =
      "\(first.open.grouped) at the first, \(last.open.grouped) at the last, between \(lowest.grouped) and "
      + "\(highest.grouped); \(created.grouped) created, \(completed.grouped) completed"
    return section(
      "Open tasks at the end of each \(series.by.rawValue)", covering: report.seriesDays, of: open,
      chart.lines(width: chartWidth) { painter.paint($0, .active) } + detail(sums)
    )
  }

  private func omission(showing buckets: ArraySlice<Series.Bucket>) -> [String] {
    let series = statistics.series
    guard buckets.count < series.buckets.count else { return [] }
    let shown = "the last \(buckets.count.grouped) of \(series.buckets.count.counted(series.by.rawValue))"
    let remedies: [Series.Unit: String] = [.day: "--by month or ", .week: "--by month or ", .month: "--by year or "]
    return detail("\(shown); \(remedies[series.by] ?? "")a wider terminal shows more")
  }
}
