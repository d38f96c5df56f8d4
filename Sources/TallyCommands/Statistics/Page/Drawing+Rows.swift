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
        row.name.truncated(toWidth: Int((nameWidth / Canvas.textWidthOfColumn).rounded())),
        nameWidth,
        top + 17,
        .end,
        role: "name"
      )
      let length = row.value == 0 ? 0 : max(1.5, longest * Double(row.value) / Double(highest))
      if row.value > 0 {
        drawing.addRectangle(
          start,
          top + 4,
          length,
          rowHeight - 8,
          role: row.role,
          note: "\(row.name): \(row.value.grouped) completed"
        )
      }
      drawing.addLabel(row.value.grouped, start + length + 6, top + 17, role: "value")
    }
    drawing.addLine(start, 0, start, Double(drawing.height), role: "foot")
    return drawing
  }
}
