/// Vertical bars in text, in eighths of a line.
struct ColumnChart {
  /// A bar for each.
  let values: [Int]
  /// The labels below some of the bars, by the bar's index.
  var labels: [Int: String] = [:]
  /// The value at the foot; if that is not 0, a bar shows at least its lowest eighth.
  var lowest = 0
  var heightInLines = 5

  private static let eighths = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

  /// How many bars fit at one column each.
  static func capacity(ofWidth width: Int, highest: Int) -> Int {
    max(1, width - highest.grouped.count - 4)
  }

  /// The chart's lines, with bars painted by `paint`.
  func lines(width: Int, paint: (String) -> String) -> [String] {
    let highest = max(values.max() ?? 0, lowest + 1)
    let axisWidth = max(highest.grouped.count, lowest.grouped.count)
    let barWidth = min(3, max(1, (width - axisWidth - 4) / max(1, values.count)))
    let rows = (1...heightInLines).reversed().map { line in
      let label = (line == heightInLines ? highest.grouped : "").leftPadded(toWidth: axisWidth)
      let bars = values.map { bar(eighths(of: $0, highest: highest), line: line, width: barWidth) }.joined()
      return "  \(label) \(line == heightInLines ? "┤" : "│")" + paint(bars.trimmingTrailingBlanks)
    }
    let foot =
      "  \(lowest.grouped.leftPadded(toWidth: axisWidth)) └"
      + String(repeating: "─", count: barWidth * values.count)
    return rows + [foot] + labelLine(indentation: axisWidth + 4, barWidth: barWidth, width: width)
  }

  private func eighths(of value: Int, highest: Int) -> Int {
    let full = 8 * heightInLines
    guard value > lowest else { return value > 0 && lowest > 0 ? 1 : 0 }
    return max(1, (full * (value - lowest) + (highest - lowest) / 2) / (highest - lowest))
  }

  private func bar(_ eighths: Int, line: Int, width: Int) -> String {
    let glyph = Self.eighths[min(8, max(0, eighths - 8 * (line - 1)))]
    // A gap separates neighbours if there is room for one.
    return String(repeating: glyph, count: max(1, width - 1)) + (width > 1 ? " " : "")
  }

  /// The labels that fit; one that would touch the previous one is left out.
  private func labelLine(indentation: Int, barWidth: Int, width: Int) -> [String] {
    var line = String(repeating: " ", count: indentation)
    var isEmpty = true
    for (index, label) in labels.sorted(by: { $0.key < $1.key }) {
      let start = indentation + index * barWidth
      guard isEmpty || start > line.displayWidth, start + label.displayWidth <= width else { continue }
      line = line.padded(toWidth: start) + label
      isEmpty = false
    }
    return isEmpty ? [] : [line]
  }
}

extension String {
  /// The text after enough spaces to fill `width` columns.
  func leftPadded(toWidth width: Int) -> String {
    String(repeating: " ", count: Swift.max(0, width - displayWidth)) + self
  }

  fileprivate var trimmingTrailingBlanks: String {
    String(self[..<(lastIndex { $0 != " " }.map { index(after: $0) } ?? startIndex)])
  }
}
