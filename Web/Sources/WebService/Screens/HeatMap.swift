import Foundation
import Tally

/// The completions of each day of a year, as a table with a column for each week.
struct HeatMap {
  private let counts: [DayCount]
  private let selection: StatisticsSelection
  private let clock: DateReference

  init(_ counts: [DayCount], _ selection: StatisticsSelection, _ clock: DateReference) {
    (self.counts, self.selection, self.clock) = (counts, selection, clock)
  }

  /// The weeks of a year up to a day, the first one whole.
  static func days(upTo today: CalendarDay, weekStart: Int) -> ClosedRange<CalendarDay> {
    let daysOfLastWeek = (today.weekday - weekStart + 7) % 7
    return CalendarDay(clamping: Int64(today.dayNumber) - Int64(daysOfLastWeek) - 52 * 7)...today
  }

  /// The content of `statistics.mustache`: a row for each weekday, a cell for each week.
  var content: [String: Any] {
    guard let first = counts.first?.day else { return [:] }
    let greatest = max(1, counts.map(\.completed).max() ?? 1)
    var weeks = Dictionary(grouping: counts) { (Int($0.day.dayNumber) - Int(first.dayNumber)) / 7 }
    let weekCount = (weeks.keys.max() ?? 0) + 1
    for week in 0..<weekCount where weeks[week] == nil { weeks[week] = [] }
    return [
      "total": counts.reduce(0) { $0 + $1.completed }.counted("task"),
      "months": months(from: first, weekCount: weekCount),
      "weekdays": (0..<7).map { row in
        let weekday = (first.weekday - 1 + row) % 7 + 1
        return [
          "name": String(CalendarNames.weekdays[weekday - 1].prefix(3)),
          "cells": (0..<weekCount).map { week in
            cell(weeks[week]?.first { $0.day.weekday == weekday }, greatest)
          },
        ]
      },
    ]
  }

  /// A day; one that is still to come, or that the zone has skipped, is empty.
  private func cell(_ count: DayCount?, _ greatest: Int) -> [String: Any] {
    guard let count else { return ["level": 0] }
    var cell: [String: Any] = [
      // There are four levels; any completion reaches the first one.
      "level": count.completed == 0 ? 0 : 1 + 4 * (count.completed - 1) / greatest,
      "label": "\(clock.name(of: count.day)): \(count.completed.counted("task"))",
    ]
    if count.completed > 0 {
      cell["address"] = selection.address(["from": count.day.iso8601, "to": count.day.iso8601])
    }
    return cell
  }

  /// The month of each week's first day, with the number of its weeks.
  private func months(from first: CalendarDay, weekCount: Int) -> [[String: Any]] {
    var months: [(name: String, span: Int)] = []
    var last: Int?
    for week in 0..<weekCount {
      let day = CalendarDay(clamping: Int64(first.dayNumber) + Int64(7 * week))
      if day.month == last {
        months[months.count - 1].span += 1
      } else {
        months.append((String(CalendarNames.months[day.month - 1].prefix(3)), 1))
        last = day.month
      }
    }
    return months.map { ["name": $0.name, "span": $0.span] }
  }
}
