import ArgumentParser
import Foundation
import SystemPackage
import Tally

extension TaskState {
  /// A sign for the state, distinct without colour.
  ///
  /// Each is one column wide in every terminal: common circles and squares have ambiguous width and take two columns in
  /// East Asian setups.
  var glyph: String {
    switch self {
    case .notStarted: "◦"
    case .active: "▸"
    case .completed: "✓"
    case .cancelled: "✗"
    }
  }

  /// The state in words.
  var words: String {
    switch self {
    case .notStarted: "not started"
    case .active: "active"
    case .completed: "done"
    case .cancelled: "cancelled"
    }
  }
}

extension Int {
  /// The number with its noun: `1 task`, `2 tasks`.
  func counted(_ noun: String) -> String {
    "\(grouped) \(noun)\(self == 1 ? "" : "s")"
  }

  /// The number with commas between thousands.
  var grouped: String {
    var result = ""
    for (index, digit) in String(magnitude).enumerated() {
      if index > 0, (String(magnitude).count - index) % 3 == 0 { result.append(",") }
      result.append(digit)
    }
    return (self < 0 ? "-" : "") + result
  }
}

/// The weekdays' names, from Monday on, whose number is 1 (ISO 8601).
enum WeekdayName {
  static let full = CalendarNames.weekdays
  static let short = full.map { String($0.prefix(3)) }

  /// ISO 8601's number of a weekday, by its name or the name's first three letters, in any case.
  static func number(of name: String) -> Int? {
    let name = name.lowercased()
    return full.map { $0.lowercased() }.firstIndex { $0 == name || $0.prefix(3) == name }.map { $0 + 1 }
  }
}

/// The months' names, from January on.
enum MonthName {
  static let short = CalendarNames.months.map { String($0.prefix(3)) }
}

extension Series.Bucket {
  /// The bucket's period as a label: `21 Nov` for a day or the week that begins with it, `Nov`, `2026`.
  ///
  /// A month has its year if that is not the year of `today`.
  func name(by unit: Series.Unit, asOf today: CalendarDay) -> String {
    switch unit {
    case .day, .week: start.shortName(asOf: today)
    case .month: MonthName.short[start.month - 1] + (start.year == today.year ? "" : " \(start.year)")
    case .year: String(start.year)
    }
  }
}

extension Int64 {
  /// The seconds in the unit that a person would use, rounded up: what took that long is within it.
  var inWordsAsSeconds: String {
    let units: [(limit: Int64, size: Int64, name: String)] = [
      (120, 1, "second"), (7_200, 60, "minute"), (172_800, 3_600, "hour"), (.max, 86_400, "day"),
    ]
    let unit = units.first { self < $0.limit } ?? units[3]
    return Int((self + unit.size - 1) / unit.size).counted(unit.name)
  }
}

extension TagSet {
  /// The tags with their number signs; `nil` for none.
  var inWords: String? { isEmpty ? nil : map { "#" + $0.escapedForDisplay() }.joined(separator: " ") }
}

extension Int64 {
  /// The size in the largest binary unit that leaves a whole part.
  var inBytes: String {
    var (value, unit) = (Double(self), 0)
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while value >= 1_024, unit < units.count - 1 {
      value /= 1_024
      unit += 1
    }
    return (unit == 0 ? String(self) : String(format: "%.1f", value)) + " " + units[unit]
  }
}

extension String {
  /// Whether the value of an option says that there is to be none.
  var isNone: Bool { lowercased() == "none" }
}
