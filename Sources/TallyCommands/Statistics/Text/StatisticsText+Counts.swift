import Tally

extension StatisticsText {
  /// The day's sentence, then each period beside the one it is compared with.
  var counts: [String] {
    let completed = statistics.completed
    let rows: [[(String, Int)]] = [
      [("this week", completed.thisWeek), ("last week", completed.lastWeek)],
      [("this month", completed.thisMonth), ("last month", completed.lastMonth)],
      [("this year", completed.thisYear), ("all time", completed.allTime)],
    ]
    let widths = [0, 1].map { column in rows.map { $0[column].1.grouped.count }.max() ?? 0 }
    return wrapped(completed.todayMessage)
      + rows.map { row in
        zip(row, widths).map { cell, width in
          "  " + painter.paint(cell.0.padded(toWidth: 10), .detail) + " " + cell.1.grouped.leftPadded(toWidth: width)
        }.joined(separator: " ")
      }
  }

  /// The library's sentences, each with the equal elapsed part of the previous period.
  var trends: [String] {
    [("week", statistics.weekTrend), ("month", statistics.monthTrend)].flatMap { unit, trend in
      let elapsed =
        "\(trend.elapsedCurrent.grouped) so far, \(trend.elapsedPrevious.grouped) by this time last \(unit)"
      return wrapped(trend.message) + (trend.direction == .none ? [] : detail(elapsed))
    }
  }
}
