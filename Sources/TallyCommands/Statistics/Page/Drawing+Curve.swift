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
        [(x: first.x, y: frame.bottom)] + points + [(x: last.x, y: frame.bottom)],
        isClosed: true,
        role: "area"
      )
    }
    drawing.addPath(points, role: "curve")
    drawing.addMarks(figures, points, frame)
    drawing.addNames(figures.labels, frame)
    return drawing
  }

  private mutating func addMarks(_ figures: ChartFigures, _ points: [(x: Double, y: Double)], _ frame: ChartFrame) {
    var taken: [(x: Double, y: Double)] = []
    for index in figures.marked {
      let (point, text) = (points[index], figures.values[index].grouped)
      addDot(point.x, point.y, note: "\(figures.names[index]): \(text) open")
      let reach = Canvas.textWidth(text) / 2
      let x = min(max(point.x, frame.left + reach + 2), frame.right - reach)
      let isLow = figures.values[index] == figures.values.min() && point.y + 18 < frame.bottom
      let y = isLow ? point.y + 17 : point.y - 9
      if taken.contains(where: { abs($0.x - x) < 2 * reach + 4 && abs($0.y - y) < 14 }) { continue }
      taken.append((x, y))
      addLabel(text, x, y, .middle, role: "value")
    }
  }
}
