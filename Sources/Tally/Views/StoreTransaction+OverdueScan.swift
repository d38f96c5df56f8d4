import Foundation
import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// Walks the overdue tasks, oldest first: instants and days are two parts of the index, which two cursors merge.
  ///
  /// When a day ends depends on the zone, so one order for all zones is impossible.
  func scanOverdue(after position: ViewKey?, _ body: ViewBody) throws -> ViewKey? {
    let start = position.map(OverdueStart.init)
    var instants = try tables.byDue.cursor(in: base)
    var days = try tables.byDue.cursor(in: base)
    var isAtInstant = try instants.move(toFirstAtOrAfter: DueKey(.open, start?.instant ?? .start(at: .min)))
    let firstDay = start.map { CalendarDay(containing: Timestamp(clamping: $0.instant.microseconds), in: calendar) }
    var isAtDay = try days.move(
      toFirstAtOrAfter: firstDay.map { .start(of: $0.dayNumber, isCompleted: false) }
        ?? DueKey(.openDay, .start(at: .min)))
    let (lastInstant, lastDay) = (
      DueKey(.open, .start(at: now.microsecondsSince1970)), DueKey.start(of: today.dayNumber, isCompleted: false)
    )
    var accepted = position
    while true {
      let instant = isAtInstant ? try Self.overdueInstant(instants.key(), before: lastInstant) : nil
      let day = isAtDay ? try overdueDay(days.key(), before: lastDay) : nil
      guard let next = [instant, day].compactMap({ $0 }).min(by: { $0.key < $1.key }) else { return nil }
      if accepted.map({ $0 < next.key }) ?? true {
        guard try body(next.id, nil) else { return accepted }
        accepted = next.key
      }
      if next.key == instant?.key { isAtInstant = try instants.next() } else { isAtDay = try days.next() }
    }
  }

  private static func overdueInstant(_ key: DueKey, before end: DueKey) -> (key: ViewKey, id: UUID)? {
    guard key.encodedBytes.lexicographicallyPrecedes(end.encodedBytes) else { return nil }
    return (ViewKey(overdue: key.due.microseconds, key.id), key.id)
  }

  private func overdueDay(_ key: DueKey, before end: DueKey) -> (key: ViewKey, id: UUID)? {
    guard key.encodedBytes.lexicographicallyPrecedes(end.encodedBytes) else { return nil }
    return (ViewKey(overdue: CalendarDay(clamping: Int64(key.dayNumber)), key.id, in: calendar), key.id)
  }
}

/// The instant of a position among the overdue tasks.
private struct OverdueStart {
  let instant: InstantKey

  init(_ position: ViewKey) {
    let key = position.indexKey(isReversed: false)
    // A position from outside may be too short.
    instant = key.encodedByteCount == InstantKey.width ? InstantKey(fields: key.bytes) : .start(at: .min)
  }
}

extension ViewKey {
  /// The position of a task that becomes overdue after an instant.
  init(overdue microseconds: Int64, _ id: UUID) {
    self.init(prefix: KeyBytes(), InstantKey(microseconds: microseconds, id: id))
  }

  /// The position of a task that becomes overdue when a day ends.
  init(overdue day: CalendarDay, _ id: UUID, in calendar: Calendar) {
    let end = (try? day.adding(days: 1))?.start(in: calendar).microsecondsSince1970
    self.init(overdue: end.map { $0 - 1 } ?? Timestamp.latest.microsecondsSince1970, id)
  }
}
