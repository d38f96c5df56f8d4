import Tally

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
          left + Double(column) * pitch,
          top + Double(row) * pitch,
          size,
          size,
          role: "shade\(steps.shade(of: cell.count))",
          note: "\(cell.day.shortName(asOf: today)): \(cell.count.grouped) completed"
        )
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
