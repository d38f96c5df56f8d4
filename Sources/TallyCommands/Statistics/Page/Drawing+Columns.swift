/// What vertical bars or a curve show.
struct ChartFigures {
  /// What each value stands for, shown by a browser for the mark under the pointer.
  let names: [String]
  let values: [Int]
  /// A second value for each bar, shown as a tick across it.
  var ticks: [Int] = []
  /// The labels below the chart, by the value's index.
  let labels: [Int: String]

  /// The last values only.
  func suffix(_ count: Int) -> ChartFigures {
    let dropped = max(0, values.count - count)
    let kept = labels.filter { $0.key >= dropped }.map { ($0.key - dropped, $0.value) }
    return ChartFigures(
      names: names.suffix(count),
      values: values.suffix(count),
      ticks: ticks.suffix(count),
      labels: Dictionary(uniqueKeysWithValues: kept)
    )
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
        frame.x(of: index) - frame.barWidth / 2,
        top,
        frame.barWidth,
        frame.bottom - top,
        role: "bar",
        note: note
      )
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
