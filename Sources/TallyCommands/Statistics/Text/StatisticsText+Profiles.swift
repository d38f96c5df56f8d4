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
