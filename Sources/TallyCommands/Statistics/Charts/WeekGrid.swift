import Tally

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
