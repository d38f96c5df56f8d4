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
