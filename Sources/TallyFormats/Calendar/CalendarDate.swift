internal import Foundation
internal import Tally

/// A `DATE` or `DATE-TIME` of iCalendar (RFC 5545, sections 3.3.4 and 3.3.5).
enum CalendarDate {
  case day(CalendarDay)
  case instant(Timestamp)

  /// Reads the value of a property: a day, an instant in UTC, one in the zone that `TZID` names, or a local time.
  ///
  /// A zone that is not known leaves a remark, and the time is that of the context's zone.
  /// - Returns: `nil` for a value of none of these forms.
  init?(_ line: ContentLine, zones: CalendarZones, _ context: FormatContext) {
    let value = line.value.trimmed
    if let day = BasicDate.day(value) ?? (try? CalendarDay(iso8601: value)) {
      self = .day(day)
    } else if let instant = BasicDate.instant(value) {
      self = .instant(instant)
    } else if let name = line.parameter("TZID"), let instant = zones.instant(value, in: name) {
      self = .instant(instant)
    } else if let instant = BasicDate.instant(value, in: context.timeZone) {
      if let name = line.parameter("TZID") { context.remarks.add("zone", name) }
      self = .instant(instant)
    } else if case .instant(let instant)? = WrittenDate(value, context) {
      self = .instant(instant)
    } else {
      return nil
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
  /// The zones that `VTIMEZONE` components describe.
  private var described: [String: DescribedZone] = [:]
  /// The locations that they name, `X-LIC-LOCATION`.
  private var locations: [String: String] = [:]

  /// Notes a `VTIMEZONE` component.
  mutating func note(_ component: [ContentLine]) {
    guard let name = component.first(where: { $0.name == "TZID" })?.value else { return }
    described[name] = DescribedZone(component)
    locations[name] = component.first { $0.name == "X-LIC-LOCATION" }?.value
  }

  /// The instant of a local time in the zone of a name, as the document describes it, or as it is known elsewhere; `nil` for
  /// a name that nobody knows.
  func instant(_ local: String, in name: String) -> Timestamp? {
    if let zone = described[name], let wall = DescribedZone.wallSeconds(local[...]) {
      return zone.instant(ofWallSeconds: wall)
    }
    return (locations[name].flatMap(Self.named) ?? Self.named(name)).flatMap { BasicDate.instant(local, in: $0) }
  }

  /// A zone of the tz database, whose name may stand behind a prefix, as in `/example.org/20260101/Europe/Berlin`, or one
  /// that Windows names.
  static func named(_ name: String) -> TimeZone? {
    let parts = name.split(separator: "/")
    for count in [parts.count, 3, 2, 1] where count <= parts.count && count > 0 {
      if let zone = TimeZone(identifier: parts.suffix(count).joined(separator: "/")) { return zone }
    }
    return WindowsZones.identifier(of: name).flatMap { TimeZone(identifier: $0) }
  }
}
