import Tally

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
