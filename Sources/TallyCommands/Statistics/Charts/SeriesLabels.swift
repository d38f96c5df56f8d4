import Tally

extension StatisticsReport {
  /// Dates below bars, by the bar's index: where a week begins, or a month or year if there are too many weeks.
  func labels(of buckets: ArraySlice<Series.Bucket>) -> [Int: String] {
    let unit = statistics.series.by
    var labels: [Int: String] = [:]
    var last: Series.Bucket?
    for (index, bucket) in buckets.enumerated() {
      defer { last = bucket }
      let start = bucket.start
      switch unit {
      case .day where buckets.count <= 62:
        if start.weekday == statistics.weekStart { labels[index] = "\(start.day) \(MonthName.short[start.month - 1])" }
      case .day, .week:
        if let last, last.start.month != start.month { labels[index] = MonthName.short[start.month - 1] }
      case .month, .year:
        if last.map({ $0.start.year != start.year }) ?? true { labels[index] = String(start.year) }
      }
    }
    // A few days may lie within one week.
    if labels.isEmpty, let first = buckets.first { labels[0] = first.name(by: unit, asOf: clock.today) }
    return labels
  }
}
