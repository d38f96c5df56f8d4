import Tally

/// Horizontal bars in text, in eighths of a column: a label, the bar, the value.
struct BarRows {
  let rows: [(label: String, value: Int)]
  /// The longest bar, even if there is room for more.
  var longestBar = 40

  private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

  /// The rows' lines, with bars painted by `paint`; labels must be safe to print.
  func lines(width: Int, paint: (String) -> String) -> [String] {
    let highest = max(1, rows.map(\.value).max() ?? 0)
    let valueWidth = highest.grouped.count
    let labelRoom = max(8, width / 2 - 4)
    let labelWidth = min(labelRoom, rows.map(\.label.displayWidth).max() ?? 0)
    let barWidth = max(4, min(longestBar, width - labelWidth - valueWidth - 6))
    return rows.map { label, value in
      let eighths = value == 0 ? 0 : max(1, (8 * barWidth * value + highest / 2) / highest)
      let bar = String(repeating: "█", count: eighths / 8) + Self.eighths[eighths % 8]
      let name = label.truncated(toWidth: labelWidth).padded(toWidth: labelWidth)
      let number = value.grouped.leftPadded(toWidth: valueWidth)
      return "  \(name)  \(number)" + (bar.isEmpty ? "" : " " + paint(bar))
    }
  }
}

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

/// The steps of a heat map: ranges of counts, each of which gets a shade.
///
/// The steps are quantiles of the days that have any, so that one day of forty tasks does not make all others pale, as
/// steps of equal width would.
struct HeatSteps {
  /// The shades besides the one for none.
  static let shadeCount = 4

  /// The counts of each step, ascending; no more steps than there are different counts.
  let ranges: [ClosedRange<Int>]

  init(_ counts: some Sequence<Int>) {
    let sorted = counts.filter { $0 > 0 }.sorted()
    var ranges: [ClosedRange<Int>] = []
    for step in 1...Self.shadeCount {
      guard let last = sorted.last else { break }
      // The largest count in the first quarter, the first half and so on.
      let upper = step == Self.shadeCount ? last : sorted[(sorted.count * step - 1) / Self.shadeCount]
      let lower = ranges.last.map { $0.upperBound + 1 } ?? sorted[0]
      if lower <= upper { ranges.append(lower...upper) }
    }
    self.ranges = ranges
  }

  /// The shade of a count: 0 for none, else 1 to 4, spread over the steps.
  func shade(of count: Int) -> Int {
    guard let step = ranges.firstIndex(where: { $0.contains(count) }) else { return 0 }
    return shade(ofStep: step)
  }

  /// The shade of a step; the last one is always the darkest, so that few steps are easy to distinguish.
  func shade(ofStep step: Int) -> Int {
    ranges.count == 1 ? Self.shadeCount : 1 + step * (Self.shadeCount - 1) / (ranges.count - 1)
  }

  /// The meaning of each shade, from none on.
  var legend: [(shade: Int, text: String)] {
    [(0, "none")]
      + ranges.enumerated().map { step, range in
        let text =
          range.lowerBound == range.upperBound
          ? range.lowerBound.grouped : "\(range.lowerBound.grouped)–\(range.upperBound.grouped)"
        return (shade(ofStep: step), text)
      }
  }
}

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

/// The values of a chart's grid lines: a few round numbers.
struct ValueScale {
  let lowest: Int
  let highest: Int
  let step: Int

  /// A scale that begins at 0, or below the lowest value if that is so far from 0 that starting there would hide all
  /// change.
  init(lowest: Int = 0, highest: Int) {
    let bottom = 2 * lowest > highest ? lowest : 0
    var step = 1
    // 1, 2, 5, 10, 20, 50 and so on.
    while step * 4 < highest - bottom {
      let isFive = String(step).first == "2"
      step = isFive ? step / 2 * 5 : step * 2
    }
    self.step = step
    self.lowest = bottom / step * step
    self.highest = max(self.lowest + step, (highest + step - 1) / step * step)
  }

  /// The values of the lines, ascending.
  var values: [Int] { Array(stride(from: lowest, through: highest, by: step)) }

  /// The position of a value between the lowest (0) and the highest (1).
  func position(of value: Int) -> Double {
    Double(value - lowest) / Double(highest - lowest)
  }
}

/// Days as a grid: a column per week, a row per weekday, from the first weekday on.
struct WeekGrid {
  /// A place in the grid.
  struct Cell {
    let day: CalendarDay
    let count: Int
  }

  /// The weeks in order; each has seven places, empty for future days and those that the zone skipped.
  let weeks: [[Cell?]]
  /// The first weekday, 1 for Monday to 7 for Sunday (ISO 8601).
  let weekStart: Int

  /// The first day of a number of whole weeks, the last of which contains today.
  static func firstDay(weekCount: Int, to today: CalendarDay, weekStart: Int) -> CalendarDay {
    let daysIntoWeek = (today.weekday - weekStart + 7) % 7
    return CalendarDay(clamping: Int64(today.dayNumber) - Int64(daysIntoWeek + 7 * (weekCount - 1)))
  }
}

extension WeekGrid {
  init(_ days: [DayCount], today: CalendarDay, weekStart: Int) {
    self.weekStart = weekStart
    var weeks: [[Cell?]] = []
    if let first = days.first?.day {
      let start = Self.firstDay(weekCount: 1, to: first, weekStart: weekStart).dayNumber
      let weekCount = Int(today.dayNumber - start) / 7 + 1
      weeks = Array(repeating: Array(repeating: nil, count: 7), count: weekCount)
      for day in days {
        let (week, weekday) = Int(day.day.dayNumber - start).quotientAndRemainder(dividingBy: 7)
        weeks[week][weekday] = Cell(day: day.day, count: day.completed)
      }
    }
    self.weeks = weeks
  }

  /// The last weeks only.
  func suffix(_ count: Int) -> WeekGrid {
    WeekGrid(weeks: Array(weeks.suffix(count)), weekStart: weekStart)
  }

  /// The grid in parts of almost equal length, to be shown one below the other.
  func split(into count: Int) -> [WeekGrid] {
    let length = (weeks.count + count - 1) / max(1, count)
    return stride(from: 0, to: weeks.count, by: max(1, length)).map { start in
      WeekGrid(weeks: Array(weeks[start..<min(start + length, weeks.count)]), weekStart: weekStart)
    }
  }

  /// All days in order.
  var cells: [Cell] { weeks.joined().compactMap { $0 } }

  /// The weekday of each row, 1 for Monday to 7 for Sunday.
  var weekdays: [Int] { (0..<7).map { (weekStart + $0 - 1) % 7 + 1 } }

  /// The weeks in which a month begins, with its number; the first week counts as the beginning of its month.
  var monthStarts: [(week: Int, month: Int, year: Int)] {
    var last: Int?
    return weeks.enumerated().compactMap { index, week in
      guard let day = week.compactMap({ $0?.day }).last, day.month != last else { return nil }
      defer { last = day.month }
      return (index, day.month, day.year)
    }
  }
}
