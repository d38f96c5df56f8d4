import Tally

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
