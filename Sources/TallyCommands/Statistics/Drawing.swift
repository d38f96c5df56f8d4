import Tally

/// A chart as marks in a coordinate system of pixels, which the page's template writes as SVG.
///
/// All values are texts, which the template writes escaped.
struct Drawing {
  /// The attributes of a mark by the template's names for them.
  typealias Mark = [String: String]

  enum Anchor: String {
    case start, middle, end
  }

  /// The name of the style that shows the drawing on screens of its size.
  let size: String
  let width: Int
  let height: Int
  private(set) var rectangles: [Mark] = []
  private(set) var lines: [Mark] = []
  /// Lines in front of the rectangles.
  private(set) var ticks: [Mark] = []
  private(set) var paths: [Mark] = []
  private(set) var dots: [Mark] = []
  private(set) var labels: [Mark] = []

  init(_ canvas: Canvas, height: Int) {
    size = canvas.name
    width = canvas.width
    self.height = height
  }
}

/// The size of a chart, which is drawn separately for a phone, because scaling it down would make its labels illegible.
struct Canvas {
  let name: String
  let width: Int

  /// The whole width of a screen.
  static let wide = Canvas(name: "wide", width: 1_080)
  /// Half the width of a screen.
  static let half = Canvas(name: "wide", width: 500)
  /// A phone.
  static let narrow = Canvas(name: "narrow", width: 322)

  var isNarrow: Bool { name == Self.narrow.name }

  /// Approximately the width of a column of text in the charts' font, which is the reader's.
  static let textWidthOfColumn = 7.3

  /// Approximately the width of a text.
  static func textWidth(_ text: String) -> Double {
    textWidthOfColumn * Double(text.displayWidth)
  }
}

extension Drawing {
  mutating func addRectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double, role: String, note: String) {
    rectangles.append([
      "x": x.inDrawing, "y": y.inDrawing, "width": width.inDrawing, "height": height.inDrawing, "role": role,
      "note": note,
    ])
  }

  mutating func addLine(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, role: String) {
    lines.append(["x1": x1.inDrawing, "y1": y1.inDrawing, "x2": x2.inDrawing, "y2": y2.inDrawing, "role": role])
  }

  mutating func addTick(from x1: Double, to x2: Double, _ y: Double) {
    ticks.append(["x1": x1.inDrawing, "y1": y.inDrawing, "x2": x2.inDrawing, "y2": y.inDrawing])
  }

  mutating func addPath(_ points: [(x: Double, y: Double)], isClosed: Bool = false, role: String) {
    let text = points.enumerated().map { "\($0 == 0 ? "M" : "L")\($1.x.inDrawing) \($1.y.inDrawing)" }.joined()
    paths.append(["points": text + (isClosed ? "Z" : ""), "role": role])
  }

  mutating func addDot(_ x: Double, _ y: Double, note: String) {
    dots.append(["x": x.inDrawing, "y": y.inDrawing, "note": note])
  }

  mutating func addLabel(_ text: String, _ x: Double, _ y: Double, _ anchor: Anchor = .start, role: String = "axis") {
    labels.append(["x": x.inDrawing, "y": y.inDrawing, "anchor": anchor.rawValue, "role": role, "text": text])
  }
}

extension Double {
  /// The number with one decimal, as less than a tenth of a pixel is invisible.
  fileprivate var inDrawing: String {
    let tenths = Int((self * 10).rounded())
    let sign = tenths < 0 ? "-" : ""
    let digit = tenths.magnitude % 10
    return "\(sign)\(tenths.magnitude / 10)" + (digit == 0 ? "" : ".\(digit)")
  }
}

/// The figures of vertical bars or a curve.
struct ChartFigures {
  /// The name of each value, shown by a browser for the mark under the pointer.
  let names: [String]
  let values: [Int]
  /// A second value for each bar, shown as a tick across it.
  var ticks: [Int] = []
  /// The labels below the chart, by the value's index.
  let labels: [Int: String]

  /// The last values only.
  func suffix(_ count: Int) -> ChartFigures {
    let dropped = max(0, values.count - count)
    let shown = labels.filter { $0.key >= dropped }.map { ($0.key - dropped, $0.value) }
    return ChartFigures(
      names: names.suffix(count), values: values.suffix(count), ticks: ticks.suffix(count),
      labels: Dictionary(uniqueKeysWithValues: shown))
  }
}

extension Drawing {
  /// The most bars that are still distinct.
  static func columnCapacity(of canvas: Canvas) -> Int {
    canvas.width / 3
  }

  /// Vertical bars with lines of round values behind them.
  static func columns(_ figures: ChartFigures, on canvas: Canvas) -> Drawing {
    let scale = ValueScale(highest: max(figures.values.max() ?? 0, figures.ticks.max() ?? 0))
    let frame = ChartFrame(scale, count: figures.values.count, canvas: canvas)
    var drawing = Drawing(canvas, height: frame.height)
    drawing.addScale(frame)
    for (index, value) in figures.values.enumerated() where value > 0 {
      let top = frame.y(of: value)
      var note = "\(figures.names[index]): \(value.grouped) completed"
      if !figures.ticks.isEmpty { note += ", \(figures.ticks[index].grouped) created" }
      drawing.addRectangle(
        frame.x(of: index) - frame.barWidth / 2, top, frame.barWidth, frame.bottom - top, role: "bar", note: note)
    }
    for (index, value) in figures.ticks.enumerated() where value > 0 {
      let (x, y, reach) = (frame.x(of: index), frame.y(of: value), min(frame.pitch, frame.barWidth + 4) / 2)
      drawing.addTick(from: x - reach, to: x + reach, y)
    }
    drawing.addValues(figures, frame)
    drawing.addNames(figures.labels, frame)
    return drawing
  }

  /// The bars' values above them if all fit; else only the highest one's.
  private mutating func addValues(_ figures: ChartFigures, _ frame: ChartFrame) {
    let texts = figures.values.map { $0 == 0 ? "" : $0.grouped }
    let haveRoom = texts.allSatisfy { Canvas.textWidth($0) + 1 <= frame.pitch }
    let highest = figures.values.max() ?? 0
    let first = figures.values.firstIndex(of: highest)
    for (index, text) in texts.enumerated() where !text.isEmpty && (haveRoom || index == first) {
      let reach = Canvas.textWidth(text) / 2
      let x = min(max(frame.x(of: index), frame.left + reach), frame.right - reach)
      // A tick just above the bar would strike through the number.
      let tick = figures.ticks.isEmpty ? 0 : figures.ticks[index]
      let y = frame.y(of: figures.values[index])
      let tickY = frame.y(of: tick)
      addLabel(text, x, (tickY < y && y - tickY < 16 ? tickY : y) - 6, .middle, role: "value")
    }
  }
}

/// The geometry of a chart with a vertical scale.
struct ChartFrame {
  let scale: ValueScale
  let left: Double
  let right: Double
  let top = 20.0
  let bottom: Double
  let height: Int
  /// From one bar to the next.
  let pitch: Double

  init(_ scale: ValueScale, count: Int, canvas: Canvas) {
    self.scale = scale
    height = canvas.isNarrow ? 190 : canvas.width > 600 ? 240 : 210
    bottom = Double(height - 24)
    left = Canvas.textWidth(scale.highest.grouped) + 8
    right = Double(canvas.width) - 2
    pitch = (right - left) / Double(max(1, count))
  }

  var barWidth: Double { pitch >= 4 ? min(44, pitch * 0.72) : pitch }

  func x(of index: Int) -> Double { left + (Double(index) + 0.5) * pitch }
  func y(of value: Int) -> Double { bottom - (bottom - top) * scale.position(of: value) }
}

extension Drawing {
  /// Lines at round values, with their numbers.
  mutating func addScale(_ frame: ChartFrame) {
    for value in frame.scale.values {
      let y = frame.y(of: value)
      addLine(frame.left, y, frame.right, y, role: value == frame.scale.lowest ? "foot" : "grid")
      addLabel(value.grouped, frame.left - 6, y + 4, .end)
    }
  }

  /// The labels below the bars; one that would touch the previous one is left out.
  mutating func addNames(_ names: [Int: String], _ frame: ChartFrame) {
    var end = -Double.infinity
    for (index, name) in names.sorted(by: { $0.key < $1.key }) {
      let width = Canvas.textWidth(name)
      let isNarrowerThanBar = width <= frame.pitch
      // A label wider than its bar begins at it, as a date begins a week.
      let start = isNarrowerThanBar ? frame.x(of: index) - width / 2 : frame.x(of: index) - min(frame.pitch, 12) / 2
      guard start > end + 6, start + width <= frame.right + 4 else { continue }
      addLabel(name, start, frame.bottom + 17)
      end = start + width
    }
  }
}

extension ChartFigures {
  /// The indexes of the first, the last, the lowest and the highest value.
  fileprivate var marked: [Int] {
    guard let lowest = values.min(), let highest = values.max() else { return [] }
    return Set([0, values.count - 1, values.firstIndex(of: lowest), values.firstIndex(of: highest)].compactMap { $0 })
      .sorted()
  }
}

extension Drawing {
  /// A curve with its first, last, lowest and highest value; the area below is filled if the scale begins at 0.
  static func curve(_ figures: ChartFigures, on canvas: Canvas) -> Drawing {
    let scale = ValueScale(lowest: figures.values.min() ?? 0, highest: figures.values.max() ?? 0)
    let frame = ChartFrame(scale, count: figures.values.count, canvas: canvas)
    var drawing = Drawing(canvas, height: frame.height)
    drawing.addScale(frame)
    let points = figures.values.enumerated().map { (x: frame.x(of: $0), y: frame.y(of: $1)) }
    if scale.lowest == 0, let first = points.first, let last = points.last {
      drawing.addPath(
        [(x: first.x, y: frame.bottom)] + points + [(x: last.x, y: frame.bottom)], isClosed: true, role: "area")
    }
    drawing.addPath(points, role: "curve")
    drawing.addMarks(figures, points, frame)
    drawing.addNames(figures.labels, frame)
    return drawing
  }

  private mutating func addMarks(_ figures: ChartFigures, _ points: [(x: Double, y: Double)], _ frame: ChartFrame) {
    var labeled: [(x: Double, y: Double)] = []
    for index in figures.marked {
      let (point, text) = (points[index], figures.values[index].grouped)
      addDot(point.x, point.y, note: "\(figures.names[index]): \(text) open")
      let reach = Canvas.textWidth(text) / 2
      let x = min(max(point.x, frame.left + reach + 2), frame.right - reach)
      let isLow = figures.values[index] == figures.values.min() && point.y + 18 < frame.bottom
      let y = isLow ? point.y + 17 : point.y - 9
      if labeled.contains(where: { abs($0.x - x) < 2 * reach + 4 && abs($0.y - y) < 14 }) { continue }
      labeled.append((x, y))
      addLabel(text, x, y, .middle, role: "value")
    }
  }
}

extension Drawing {
  /// Days as shaded squares, a column per week; on a phone in two parts, one below the other.
  static func heat(_ grid: WeekGrid, steps: HeatSteps, asOf today: CalendarDay, on canvas: Canvas) -> Drawing {
    let parts = grid.split(into: canvas.isNarrow ? 2 : 1)
    let columnCount = parts.map(\.weeks.count).max() ?? 1
    let (labelWidth, headHeight, gap) = (32.0, 20.0, 14.0)
    let pitch = (Double(canvas.width) - labelWidth) / Double(max(1, columnCount))
    let partHeight = headHeight + 7 * pitch
    let height = Double(parts.count) * (partHeight + gap) - gap
    var drawing = Drawing(canvas, height: Int(height.rounded(.up)))
    for (index, part) in parts.enumerated() {
      let top = Double(index) * (partHeight + gap) + headHeight
      drawing.addHeat(part, steps, today, left: labelWidth, top: top, pitch: pitch)
    }
    return drawing
  }

  private mutating func addHeat(
    _ grid: WeekGrid, _ steps: HeatSteps, _ today: CalendarDay, left: Double, top: Double, pitch: Double
  ) {
    // Every other row if the letters are taller than the rows.
    for (row, weekday) in grid.weekdays.enumerated() where pitch >= 14 || row % 2 == 0 {
      addLabel(WeekdayName.short[weekday - 1], left - 6, top + (Double(row) + 0.5) * pitch + 4, .end)
    }
    let size = pitch - max(1, pitch * 0.14)
    for (column, week) in grid.weeks.enumerated() {
      for (row, cell) in week.enumerated() {
        guard let cell else { continue }
        addRectangle(
          left + Double(column) * pitch, top + Double(row) * pitch, size, size,
          role: "shade\(steps.shade(of: cell.count))",
          note: "\(cell.day.shortName(asOf: today)): \(cell.count.grouped) completed")
      }
    }
    addMonths(grid, left: left, top: top, pitch: pitch)
  }

  private mutating func addMonths(_ grid: WeekGrid, left: Double, top: Double, pitch: Double) {
    let starts = grid.monthStarts
    for (index, start) in starts.enumerated() {
      let name = MonthName.short[start.month - 1]
      let end = index + 1 < starts.count ? starts[index + 1].week : grid.weeks.count
      // The first month may be almost over, the last one hardly begun.
      guard Double(end - start.week) * pitch >= Canvas.textWidth(name) + 3 else { continue }
      addLabel(name, left + Double(start.week) * pitch, top - 7)
    }
  }
}

/// A horizontal bar.
struct RowFigure {
  let name: String
  let value: Int
  var role = "bar"
}

extension Drawing {
  private static let rowHeight = 26.0

  /// Horizontal bars: a name, the bar, the value after it.
  static func rows(_ rows: [RowFigure], on canvas: Canvas) -> Drawing {
    let width = Double(canvas.width)
    let nameRoom = width * 0.42
    let nameWidth = min(nameRoom, 6 + (rows.map { Canvas.textWidth($0.name) }.max() ?? 0))
    let highest = max(1, rows.map(\.value).max() ?? 0)
    let start = nameWidth + 10
    let longest = width - start - Canvas.textWidth(highest.grouped) - 12
    var drawing = Drawing(canvas, height: Int(rowHeight) * max(1, rows.count))
    for (index, row) in rows.enumerated() {
      let top = Double(index) * rowHeight
      drawing.addLabel(
        row.name.truncated(toWidth: Int((nameWidth / Canvas.textWidthOfColumn).rounded())), nameWidth, top + 17, .end,
        role: "name")
      let length = row.value == 0 ? 0 : max(1.5, longest * Double(row.value) / Double(highest))
      if row.value > 0 {
        drawing.addRectangle(
          start, top + 4, length, rowHeight - 8, role: row.role, note: "\(row.name): \(row.value.grouped) completed")
      }
      drawing.addLabel(row.value.grouped, start + length + 6, top + 17, role: "value")
    }
    drawing.addLine(start, 0, start, Double(drawing.height), role: "foot")
    return drawing
  }
}
