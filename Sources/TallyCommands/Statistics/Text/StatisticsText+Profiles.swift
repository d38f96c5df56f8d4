import Tally

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
    let shownCount = 12
    let ranked = report.rankedLists
    let rows = ranked.prefix(shownCount).map { ($0.name.escapedForDisplay(), $0.completed) }
    let hiddenCount = ranked.count - shownCount
    return section(
      "By list", covering: report.coveredDays, of: ranked.map(\.completed),
      BarRows(rows: rows).lines(width: chartWidth) { painter.paint($0, .done) }
    ) + (hiddenCount > 0 ? detail("and \(hiddenCount.counted("list")) more; --plain and --json show all") : [])
  }
}

extension StatisticsReport {
  /// The lists with completions, most first, with a name for every one; not escaped.
  var rankedLists: [(name: String, completed: Int)] {
    statistics.byList.enumerated()
      .sorted { ($1.element.completed, $0.offset) < ($0.element.completed, $1.offset) }
      .map { _, count in
        let missing = count.listID.map { "deleted list \($0.shownEnd)" } ?? "no list"
        return (count.name ?? missing, count.completed)
      }
  }
}
