import Foundation
import LMDB

// Today, Upcoming and Past walk `byDay`, which keeps open and completed tasks apart: a day's view is the day's open
// range, then its completed range.

extension StoreTransaction where Base: ~Copyable {
  func scanToday(
    after position: ViewPosition.Key?, _ body: (UUID, CalendarDay?) throws -> Bool
  ) throws -> ViewPosition.Key? {
    let walk = try scanDay(today.dayNumber, after: try position?.dayKey()) { try body($0.id, nil) }
    return walk.stop
  }

  func scanUpcoming(
    after position: ViewPosition.Key?, _ body: (UUID, CalendarDay?) throws -> Bool
  ) throws -> ViewPosition.Key? {
    var last = try position?.dayKey()
    // Midnight may have passed since the last page: its day is then no longer one to come.
    var dayNumber = last.map(\.dayNumber).flatMap { $0 > today.dayNumber ? $0 : nil }
    if dayNumber == nil { dayNumber = try firstDayNumber(after: today.dayNumber) }
    while let number = dayNumber {
      let day = CalendarDay(clamping: Int64(number))
      let walk = try scanDay(number, after: last) { try body($0.id, day) }
      if walk.wasStopped { return walk.stop }
      last = walk.last
      dayNumber = try firstDayNumber(after: number)
    }
    return nil
  }

  func scanPast(
    after position: ViewPosition.Key?, _ body: (UUID, CalendarDay?) throws -> Bool
  ) throws -> ViewPosition.Key? {
    var last = try position?.dayKey()
    // The clock may have been set back since the last page: its day is then no longer past.
    var dayNumber = last.map(\.dayNumber).flatMap { $0 < today.dayNumber ? $0 : nil }
    if dayNumber == nil { dayNumber = try lastOpenDayNumber(before: today.dayNumber) }
    while let number = dayNumber {
      let day = CalendarDay(clamping: Int64(number))
      let walk = try scanDay(number, includesCompleted: false, after: last) { try body($0.id, day) }
      if walk.wasStopped { return walk.stop }
      last = walk.last
      dayNumber = try lastOpenDayNumber(before: number)
    }
    return nil
  }

  /// Walks one day's tasks: the open ones, then the completed ones.
  private func scanDay(
    _ dayNumber: Int32, includesCompleted: Bool = true, after position: DayKey?, _ body: (DayKey) throws -> Bool
  ) throws -> DayWalk {
    var walk = DayWalk(last: position)
    let isOpenDone = position.map { $0.dayNumber == dayNumber && $0.isCompleted } ?? false
    for isCompleted in [false, true] where isCompleted ? includesCompleted : !isOpenDone {
      let isResumed = position.map { $0.dayNumber == dayNumber && $0.isCompleted == isCompleted } ?? false
      _ = try scan(
        tables.byDay, from: .start(of: dayNumber, isCompleted: isCompleted),
        to: .end(of: dayNumber, isCompleted: isCompleted), after: isResumed ? position : nil
      ) { key in
        walk.wasStopped = try !body(key)
        if !walk.wasStopped { walk.last = key }
        return !walk.wasStopped
      }
      if walk.wasStopped { break }
    }
    return walk
  }

  /// The first day after another one that has any task.
  private func firstDayNumber(after dayNumber: Int32) throws -> Int32? {
    var days: [Int32] = []
    for isCompleted in [false, true] {
      var cursor = try tables.byDay.cursor(in: base)
      guard try cursor.move(toFirstAtOrAfter: .end(of: dayNumber, isCompleted: isCompleted)) else { continue }
      let key = try cursor.key()
      if key.isCompleted == isCompleted { days.append(key.dayNumber) }
    }
    return days.min()
  }

  /// The last day before another one that has an open task.
  private func lastOpenDayNumber(before dayNumber: Int32) throws -> Int32? {
    var cursor = try tables.byDay.cursor(in: base)
    return try cursor.move(toLastBefore: .start(of: dayNumber, isCompleted: false)) ? try cursor.key().dayNumber : nil
  }
}

/// How far a walk over days has come.
private struct DayWalk {
  /// The last task that was accepted, in this day or an earlier one of the walk.
  var last: DayKey?
  var wasStopped = false

  /// The position to go on from if the walk was stopped.
  var stop: ViewPosition.Key? { wasStopped ? last.map { .day($0) } : nil }
}

extension ViewPosition.Key {
  fileprivate func dayKey() throws -> DayKey {
    try extract { if case .day(let key) = $0 { key } else { nil } }
  }
}
