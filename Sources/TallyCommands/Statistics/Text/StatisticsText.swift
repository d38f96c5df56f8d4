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

  /// A chart below its title and what it covers, if there is room for that; `none` if there is nothing to draw.
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
