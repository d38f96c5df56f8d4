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
    var parts = [heading]
    if report.isEmpty {
      parts += [wrapped("No data available yet"), open]
    } else {
      parts += [counts, trends, streak, series, burndown, heatMap, weekdays, hours, lists, open, cycleTime]
    }
    return parts.filter { !$0.isEmpty }.map { $0.map { $0 + "\n" }.joined() }.joined(separator: "\n")
  }
}

extension StatisticsText {
  private var heading: [String] {
    let title = report.list.map { "Statistics of \($0.name.escapedForDisplay())" } ?? "Statistics"
    return [painter.paint(title.truncated(toWidth: width), .heading)]
      + ([report.asOfInWords] + report.conditions).flatMap { $0.wrapped(toWidth: width) }.map {
        painter.paint($0, .detail)
      }
  }
}

extension StatisticsText {
  /// A section's title, with what it covers if there is room.
  func title(_ text: String, covering range: String? = nil) -> String {
    let covered = range.map { " · \($0)" } ?? ""
    let fits = (text + covered).displayWidth <= width
    return painter.paint(text.truncated(toWidth: width), .heading) + (fits ? painter.paint(covered, .detail) : "")
  }

  /// A chart, or `none` if there is nothing to draw.
  func chart(of values: some Sequence<Int>, _ lines: @autoclosure () -> [String]) -> [String] {
    values.contains { $0 != 0 } ? lines() : ["  none"]
  }

  /// Sentences within the line's width.
  func wrapped(_ text: String) -> [String] {
    text.wrapped(toWidth: width)
  }
}
