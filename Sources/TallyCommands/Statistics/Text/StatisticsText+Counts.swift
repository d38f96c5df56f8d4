import Tally

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
