import Foundation

/// Columns of text for a terminal and for a page of Markdown alike.
struct Table {
  private var rows: [[String]]

  init(columns: [String]) {
    rows = [columns, columns.map { _ in "---" }]
  }

  mutating func add(_ cells: [String]) {
    rows.append(cells)
  }

  var text: String {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      "| " + zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: " | ") + " |"
    }.joined(separator: "\n")
  }
}

extension Int {
  /// With commas between thousands.
  var groupedText: String { formatted(.number.locale(Locale(identifier: "en_US"))) }
}

extension Double {
  /// Three digits: a repeated run agrees on no more.
  var shortText: String {
    let digits = self < 9.995 ? 2 : self < 99.95 ? 1 : 0
    return formatted(.number.precision(.fractionLength(digits)).locale(Locale(identifier: "en_US")))
  }
}
