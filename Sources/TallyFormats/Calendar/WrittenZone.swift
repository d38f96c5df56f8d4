internal import Foundation
internal import Synchronization
internal import Tally

/// A time zone as a `VTIMEZONE` component that goes out with the times in it (RFC 5545, section 3.6.5).
///
/// The component has the offsets of now and the rule of their changes. For other times it may be wrong. ``instant(_:)``
/// gives the instant that a reader of the component will compute; if it differs, the caller writes UTC.
struct WrittenZone {
  let component: [ContentLine]
  private let described: DescribedZone

  /// The year whose changes of the clock are described, and from which on they hold.
  ///
  /// A fixed one, so that a task has the same bytes whenever it is written.
  private static let year = 2_026
  private static let firstYear = 2_008

  /// The zones that were asked for: finding their rules takes a millisecond or two.
  private static let known = Mutex<[String: WrittenZone?]>([:])

  /// The zone of a name; `nil` for one that is not known, or whose changes follow no rule.
  static func named(_ name: String) -> WrittenZone? {
    if let zone = known.withLock({ $0[name] }) { return zone }
    // The names come from documents, so only those of known zones are kept.
    guard CalendarZones.named(name) != nil else { return nil }
    let zone = WrittenZone(name)
    known.withLock { $0[name] = .some(zone) }
    return zone
  }

  private init?(_ name: String) {
    guard let zone = CalendarZones.named(name) else { return nil }
    var lines = [ContentLine("BEGIN", "VTIMEZONE"), ContentLine("TZID", name)]
    // After 28 years the weekdays come on the same days again.
    let changes = (Self.year..<Self.year + 28).flatMap { Self.changes(of: zone, in: $0) }
    if changes.isEmpty {
      let offset = zone.secondsFromGMT(for: Self.start(of: Self.year).date)
      lines += Self.observance("STANDARD", "19700101T000000", offset, offset, rule: nil)
    }
    for change in changes where Self.wallDay(change.wall).year == Self.year {
      guard let rule = Self.rule(of: change, among: changes),
        let first = Self.onset(rule, at: change, in: Self.firstYear)
      else { return nil }
      let kind = change.offset > change.offsetBefore ? "DAYLIGHT" : "STANDARD"
      lines += Self.observance(kind, first, change.offsetBefore, change.offset, rule: rule)
    }
    component = lines + [ContentLine("END", "VTIMEZONE")]
    guard let described = DescribedZone(component) else { return nil }
    self.described = described
  }

  /// The instant that a reader of the component computes for a local time.
  func instant(_ local: String) -> Timestamp? {
    DescribedZone.wallSeconds(local[...]).map { described.instant(ofWallSeconds: $0) }
  }

  private struct Change {
    let instant: Timestamp
    let offsetBefore: Int
    let offset: Int

    /// The local time before the change, as if it were UTC.
    var wall: Timestamp { instant.adding(seconds: Int64(offsetBefore)) }
  }

  private static func start(of year: Int) -> Timestamp {
    (try? CalendarDay(year: year, month: 1, day: 1)).map { Timestamp(clamping: Int64($0.dayNumber) * 86_400_000_000) }
      ?? Timestamp(clamping: 0)
  }

  /// The changes of a year, found hour by hour of the days that have one.
  private static func changes(of zone: TimeZone, in year: Int) -> [Change] {
    var changes: [Change] = []
    let end = start(of: year + 1)
    var instant = start(of: year)
    var offset = zone.secondsFromGMT(for: instant.date)
    while instant < end {
      let next = instant.adding(seconds: 86_400)
      let nextOffset = zone.secondsFromGMT(for: next.date)
      if nextOffset != offset {
        var (low, high) = (Int64(0), Int64(86_400))
        while high - low > 1 {
          let middle = (low + high) / 2
          if zone.secondsFromGMT(for: instant.adding(seconds: middle).date) == offset {
            low = middle
          } else {
            high = middle
          }
        }
        changes.append(Change(instant: instant.adding(seconds: high), offsetBefore: offset, offset: nextOffset))
      }
      (instant, offset) = (next, nextOffset)
    }
    return changes
  }

  /// The rule that gives a change and those of its kind in the other years: a weekday of a month, counted from its end
  /// or its beginning, or the first one from some day on; `nil` if none does.
  private static func rule(of change: Change, among changes: [Change]) -> String? {
    let alike = changes.filter { $0.offset == change.offset && $0.offsetBefore == change.offsetBefore }
    let (day, days) = (wallDay(change.wall), alike.map { wallDay($0.wall).day })
    guard alike.count == 28, let first = days.min() else { return nil }
    let weekday = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"][day.weekday - 1]
    let week = (first..<first + 7).map(String.init).joined(separator: ",")
    let rules = [
      "BYDAY=-1\(weekday)", "BYDAY=\((day.day - 1) / 7 + 1)\(weekday)", "BYMONTHDAY=\(week);BYDAY=\(weekday)",
    ]
    return rules.map { "FREQ=YEARLY;BYMONTH=\(day.month);\($0)" }.first { rule in
      alike.allSatisfy { onset(rule, at: change, in: wallDay($0.wall).year) == text($0.wall) }
    }
  }

  private static func wallDay(_ wall: Timestamp) -> CalendarDay {
    CalendarDay(clamping: (wall.microsecondsSince1970 / 86_400_000_000))
  }

  private static func text(_ wall: Timestamp) -> String { String(BasicDate.text(wall).dropLast()) }

  /// The onset of a rule in a year, at the clock time of a change.
  private static func onset(_ rule: String, at change: Change, in year: Int) -> String? {
    OnsetRule(rule)?.day(in: year).map { BasicDate.text($0) + text(change.wall).dropFirst(8) }
  }

  private static func observance(
    _ kind: String, _ start: String, _ offsetBefore: Int, _ offset: Int, rule: String?
  ) -> [ContentLine] {
    [
      ContentLine("BEGIN", kind), ContentLine("DTSTART", start),
      ContentLine("TZOFFSETFROM", text(offset: offsetBefore)),
      ContentLine("TZOFFSETTO", text(offset: offset)),
    ] + (rule.map { [ContentLine("RRULE", $0)] } ?? []) + [ContentLine("END", kind)]
  }

  private static func text(offset: Int) -> String {
    let seconds = abs(offset)
    let digits = { (number: Int) in (number < 10 ? "0" : "") + String(number) }
    let rest = seconds % 60 == 0 ? "" : digits(seconds % 60)
    return (offset < 0 ? "-" : "+") + digits(seconds / 3_600) + digits(seconds / 60 % 60) + rest
  }
}
