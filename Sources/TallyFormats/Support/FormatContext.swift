internal import Foundation
internal import Tally

/// What turns the local times of a format into instants: the store's calendar and its clock.
struct FormatContext: Sendable {
  let calendar: Calendar
  let now: Timestamp
  /// The lists that share their name with another one, which an export must name by their ids.
  var ambiguousLists: Set<UUID> = []

  /// The context of an export.
  init(calendar: Calendar, now: Timestamp, lists: [TaskList]) {
    self.init(calendar: calendar, now: now)
    let byName = Dictionary(grouping: lists, by: \.name)
    ambiguousLists = Set(byName.values.filter { $0.count > 1 }.flatMap { $0 }.map(\.id))
  }

  init(calendar: Calendar, now: Timestamp, ambiguousLists: Set<UUID> = []) {
    (self.calendar, self.now, self.ambiguousLists) = (calendar, now, ambiguousLists)
  }

  var timeZone: TimeZone { calendar.timeZone }

  /// The same in another time zone, if it is known.
  func `in`(_ zone: String?) -> FormatContext {
    guard let zone = zone.flatMap({ TimeZone(identifier: $0) }), zone != timeZone else { return self }
    var calendar = calendar
    calendar.timeZone = zone
    return FormatContext(calendar: calendar, now: now, ambiguousLists: ambiguousLists)
  }

  /// The first instant of a day.
  func start(of day: CalendarDay) -> Timestamp { day.start(in: calendar) }

  /// The day of an instant.
  func day(of instant: Timestamp) -> CalendarDay { CalendarDay(containing: instant, in: calendar) }

  /// The instant that stands for a day on which something was done: noon, or now if that is today and has not come yet.
  func noon(of day: CalendarDay) -> OffsetTimestamp {
    let noon = start(of: day).adding(seconds: 43_200)
    return OffsetTimestamp(day == self.day(of: now) ? min(noon, now) : noon, in: timeZone)
  }

  /// The last instant of a day.
  func end(of day: CalendarDay) -> Timestamp {
    guard let next = try? day.adding(days: 1) else { return .latest }
    return start(of: next).adding(microseconds: -1)
  }
}
