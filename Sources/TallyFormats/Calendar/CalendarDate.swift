internal import Foundation
internal import Tally

/// A `DATE` or `DATE-TIME` of iCalendar (RFC 5545, sections 3.3.4 and 3.3.5).
enum CalendarDate {
  case day(CalendarDay)
  case instant(Timestamp)

  /// Reads the value of a property: a day, an instant in UTC, one in the zone that `TZID` names, or a local time.
  ///
  /// - Throws: `invalidInstant` for a value of none of these forms or a zone that is not known.
  init(_ line: ContentLine, zones: CalendarZones, _ context: FormatContext) throws {
    if let day = BasicDate.day(line.value) {
      self = .day(day)
    } else if let instant = BasicDate.instant(line.value) {
      self = .instant(instant)
    } else if let instant = BasicDate.instant(
      line.value, in: try line.parameter("TZID").map { try zones.zone($0) } ?? context.timeZone)
    {
      self = .instant(instant)
    } else {
      throw TallyError(
        .invalidInstant, "The value of \(line.name) is not a date or a time of iCalendar",
        remedy: "Write it as 20261121, 20261121T090000Z or with a TZID")
    }
  }

  func day(in context: FormatContext) -> CalendarDay {
    switch self {
    case .day(let day): day
    case .instant(let instant): context.day(of: instant)
    }
  }

  func instant(in context: FormatContext) -> Timestamp {
    switch self {
    case .day(let day): context.start(of: day)
    case .instant(let instant): instant
    }
  }
}

/// The time zones that a document names.
struct CalendarZones: Sendable {
  /// The zones that `VTIMEZONE` components describe, as far as their name or location is one of the tz database.
  private var known: [String: TimeZone] = [:]

  /// Notes the name of a described zone with its location, `X-LIC-LOCATION`.
  mutating func note(_ name: String, location: String) {
    known[name] = Self.named(location)
  }

  /// Notes a zone with one offset all year; others need a name.
  mutating func note(_ name: String, offsetInSeconds: Int) {
    if known[name] == nil { known[name] = TimeZone(secondsFromGMT: offsetInSeconds) }
  }

  /// The zone of a name.
  func zone(_ name: String) throws(TallyError) -> TimeZone {
    if let zone = known[name] ?? Self.named(name) { return zone }
    throw TallyError(
      .invalidInstant, "The time zone of a TZID is not known", remedy: "Name a zone of the tz database, or write UTC")
  }

  /// A zone of the tz database, whose name may stand behind a prefix: `/example.org/20260101/Europe/Berlin`.
  private static func named(_ name: String) -> TimeZone? {
    let parts = name.split(separator: "/")
    for count in [parts.count, 3, 2, 1] where count <= parts.count && count > 0 {
      if let zone = TimeZone(identifier: parts.suffix(count).joined(separator: "/")) { return zone }
    }
    return nil
  }
}
