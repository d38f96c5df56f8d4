import Foundation
import Synchronization
import Tally

/// A time zone as a `VTIMEZONE` component describes it (RFC 5545, section 3.6.5): it decides in its document, whatever
/// its name means elsewhere.
struct DescribedZone: Sendable {
  /// A `STANDARD` or `DAYLIGHT` component: an offset and the times from which it is valid.
  fileprivate struct Observance: Sendable {
    /// The first onset as local time before the change, in seconds since 1970.
    var start: Int64
    var offsetBefore: Int64
    var offset: Int64
    var rule: OnsetRule?
    /// Further onsets, from `RDATE`.
    var dates: [Int64]

    /// The last onsets up to two days after a time, as local times before the change, in seconds since 1970.
    func onsets(near wall: Int64) -> [Int64] {
      let end = wall + 2 * 86_400
      var onsets = [start].filter { $0 != .min } + dates
      if let rule {
        let year = Int(CalendarDay(clamping: wall.floored(by: 86_400)).year)
        let time = start == .min ? 0 : start - start.floored(by: 86_400) * 86_400
        onsets += (year - 1...year + 1).compactMap { rule.day(in: $0) }.map { Int64($0.dayNumber) * 86_400 + time }
          .filter { $0 >= start && $0 - offsetBefore <= rule.until }
      }
      return onsets.filter { $0 <= end }
    }
  }

  private var observances: [Observance] = []

  /// Reads a component; `nil` if it describes no offset.
  init?(_ component: [ContentLine]) {
    var part: [ContentLine] = []
    for line in component.dropFirst().dropLast() {
      part.append(line)
      guard line.name == "END" else { continue }
      if let start = part.lastIndex(where: { $0.name == "BEGIN" }), let read = Self.observance(part[start...]) {
        observances.append(read)
      }
      part = []
    }
    if observances.isEmpty { return nil }
  }

  private static func observance(_ lines: ArraySlice<ContentLine>) -> Observance? {
    func value(_ name: String) -> String? { lines.first { $0.name == name }?.value }
    guard let offset = value("TZOFFSETTO").flatMap(seconds(ofOffset:)) else { return nil }
    let before = value("TZOFFSETFROM").flatMap(seconds(ofOffset:)) ?? offset
    let dates = lines.filter { $0.name == "RDATE" }.flatMap { $0.value.split(separator: ",") }
    return Observance(
      start: value("DTSTART").flatMap { wallSeconds($0[...]) } ?? .min, offsetBefore: before, offset: offset,
      rule: value("RRULE").flatMap { OnsetRule($0) }, dates: dates.compactMap { wallSeconds($0) })
  }

  /// `+0530`, `-080000`.
  private static func seconds(ofOffset text: String) -> Int64? {
    let digits = text.dropFirst()
    guard "+-".contains(text.first ?? " "), [4, 6].contains(digits.count), let number = Int64(digits) else {
      return nil
    }
    let full = digits.count == 4 ? number * 100 : number
    let seconds = full / 10_000 * 3_600 + full / 100 % 100 * 60 + full % 100
    return text.first == "-" ? -seconds : seconds
  }

  /// A local time in seconds since 1970, as if it were UTC.
  static func wallSeconds(_ text: Substring) -> Int64? {
    (BasicDate.instant(String(text.prefix { $0 != "Z" }), in: .gmt)?.microsecondsSince1970).map { $0 / 1_000_000 }
  }

  /// The instant of a local time.
  ///
  /// A repeated time means its first occurrence, and a skipped time is read with the offset before the change
  /// (RFC 5545, section 3.3.5).
  func instant(ofWallSeconds wall: Int64) -> Timestamp {
    let onsets = observances.flatMap { observance in
      observance.onsets(near: wall).map { (instant: $0 - observance.offsetBefore, offset: observance.offset) }
    }.sorted { $0.instant < $1.instant }
    let first = observances.min { $0.start < $1.start }
    let earliest = first.map { $0.start == .min ? $0.offset : $0.offsetBefore } ?? 0
    let offset = { (instant: Int64) in onsets.last { $0.instant <= instant }?.offset ?? earliest }
    let before = offset(wall - 86_400 - earliest)
    let guess = wall - before
    let later = wall - offset(guess)
    let isLater = offset(guess) == offset(later)
    return Timestamp(clamping: (isLater ? later : guess).multipliedReportingOverflow(by: 1_000_000).partialValue)
  }
}

extension Int64 {
  /// The quotient, rounded down.
  fileprivate func floored(by divisor: Int64) -> Int64 { self >= 0 ? self / divisor : (self - divisor + 1) / divisor }
}

/// On which day of a year an observance begins: a day of a month, or a weekday in it.
struct OnsetRule: Sendable {
  private let month: Int
  /// Days of the month from which the weekday is chosen, or the day itself.
  private var monthDays: [Int] = []
  /// From 1 for Monday, with its number in the month, from the end if negative.
  private var weekday: (number: Int, ordinal: Int)?
  /// The last onset at the latest, in seconds since 1970.
  private(set) var until = Int64.max

  /// Reads a rule such as `FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU`; `nil` for one of another kind.
  init?(_ text: String) {
    let pairs = text.uppercased().split(separator: ";").compactMap { part -> (String, String)? in
      let halves = part.split(separator: "=", maxSplits: 1)
      return halves.count == 2 ? (String(halves[0]), String(halves[1])) : nil
    }
    let parts = Dictionary(pairs) { first, _ in first }
    guard parts["FREQ"] == "YEARLY", let month = parts["BYMONTH"].flatMap({ Int($0) }), (1...12).contains(month) else {
      return nil
    }
    self.month = month
    monthDays = parts["BYMONTHDAY"]?.split(separator: ",").compactMap { Int($0) } ?? []
    if let text = parts["BYDAY"] {
      guard let number = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"].firstIndex(of: String(text.suffix(2))) else {
        return nil
      }
      weekday = (number + 1, Int(text.dropLast(2)) ?? 1)
    }
    guard weekday != nil || !monthDays.isEmpty else { return nil }
    if let text = parts["UNTIL"] { until = DescribedZone.wallSeconds(text[...]) ?? .max }
  }

  func day(in year: Int) -> CalendarDay? {
    let days = (1...31).compactMap { try? CalendarDay(year: year, month: month, day: $0) }
    let allowed = monthDays.isEmpty ? days : days.filter { monthDays.contains($0.day) }
    guard let weekday else { return allowed.first }
    let matching = allowed.filter { $0.weekday == weekday.number }
    if !monthDays.isEmpty { return matching.first }
    let index = weekday.ordinal > 0 ? weekday.ordinal - 1 : matching.count + weekday.ordinal
    return matching.indices.contains(index) ? matching[index] : nil
  }
}

/// A time zone as a `VTIMEZONE` component that is written beside the times in the zone (RFC 5545, section 3.6.5).
///
/// The component has the offsets of now and the rule of their changes. For other times it may be wrong. ``instant(_:)``
/// is the instant that a reader of the component will compute; if it differs, the caller writes UTC.
struct WrittenZone {
  let component: [ContentLine]
  private let described: DescribedZone

  /// The year whose changes of the clock are described.
  ///
  /// A fixed one, so that a task has the same bytes whenever it is written.
  private static let year = 2_026
  private static let firstYear = 2_008

  /// The zones that were asked for: finding their rules takes a millisecond or two.
  private static let known = Mutex<[String: WrittenZone?]>([:])

  /// The zone of a name; `nil` for one that is not known, or whose changes follow no rule.
  static func named(_ name: String) -> WrittenZone? {
    if let zone = known.withLock({ $0[name] }) { return zone }
    // The names come from documents, so only those of known zones are stored.
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

  /// The rule by which a change and those of its kind come in all years: a weekday of a month, counted from its end
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

/// The names of time zones in Windows, with the zone of the tz database that has the same clock.
///
/// Source: `windowsZones.xml` of the Common Locale Data Repository, version 45, territory 001.
enum WindowsZones {
  /// The name in the tz database; `nil` for one that Windows does not have.
  static func identifier(of name: String) -> String? {
    let ending = " Standard Time"
    return name.hasSuffix(ending) ? identifiers[String(name.dropLast(ending.count))] : others[name]
  }

  /// The zones whose names do not end with the words "Standard Time".
  private static let others: [String: String] = [
    "UTC": "Etc/UTC", "Coordinated Universal Time": "Etc/UTC", "Central Standard Time (Mexico)": "America/Mexico_City",
    "Eastern Standard Time (Mexico)": "America/Cancun", "Mountain Standard Time (Mexico)": "America/Mazatlan",
    "Pacific Standard Time (Mexico)": "America/Tijuana",
  ]

  /// The other zones, by their names without these words.
  private static let identifiers: [String: String] = [
    "Afghanistan": "Asia/Kabul", "Alaskan": "America/Anchorage", "Arab": "Asia/Riyadh", "Arabian": "Asia/Dubai",
    "Arabic": "Asia/Baghdad", "Argentina": "America/Buenos_Aires", "Atlantic": "America/Halifax",
    "AUS Central": "Australia/Darwin", "AUS Eastern": "Australia/Sydney", "Azerbaijan": "Asia/Baku",
    "Azores": "Atlantic/Azores", "Bangladesh": "Asia/Dhaka", "Belarus": "Europe/Minsk",
    "Canada Central": "America/Regina", "Cape Verde": "Atlantic/Cape_Verde", "Caucasus": "Asia/Yerevan",
    "Cen. Australia": "Australia/Adelaide", "Central America": "America/Guatemala", "Central Asia": "Asia/Bishkek",
    "Central Brazilian": "America/Cuiaba", "Central Europe": "Europe/Budapest", "Central European": "Europe/Warsaw",
    "Central Pacific": "Pacific/Guadalcanal", "Central": "America/Chicago", "China": "Asia/Shanghai",
    "Dateline": "Etc/GMT+12", "E. Africa": "Africa/Nairobi", "E. Australia": "Australia/Brisbane",
    "E. Europe": "Europe/Chisinau", "E. South America": "America/Sao_Paulo", "Eastern": "America/New_York",
    "Egypt": "Africa/Cairo", "Ekaterinburg": "Asia/Yekaterinburg", "Fiji": "Pacific/Fiji", "FLE": "Europe/Kiev",
    "Georgian": "Asia/Tbilisi", "GMT": "Europe/London", "Greenland": "America/Godthab",
    "Greenwich": "Atlantic/Reykjavik", "GTB": "Europe/Bucharest", "Hawaiian": "Pacific/Honolulu",
    "India": "Asia/Calcutta", "Iran": "Asia/Tehran", "Israel": "Asia/Jerusalem", "Jordan": "Asia/Amman",
    "Kaliningrad": "Europe/Kaliningrad", "Korea": "Asia/Seoul", "Mauritius": "Indian/Mauritius",
    "Middle East": "Asia/Beirut", "Montevideo": "America/Montevideo", "Morocco": "Africa/Casablanca",
    "Mountain": "America/Denver", "Myanmar": "Asia/Rangoon", "N. Central Asia": "Asia/Novosibirsk",
    "Namibia": "Africa/Windhoek", "Nepal": "Asia/Katmandu", "New Zealand": "Pacific/Auckland",
    "Newfoundland": "America/St_Johns", "North Asia East": "Asia/Irkutsk", "North Asia": "Asia/Krasnoyarsk",
    "Pacific SA": "America/Santiago", "Pacific": "America/Los_Angeles", "Pakistan": "Asia/Karachi",
    "Paraguay": "America/Asuncion", "Romance": "Europe/Paris", "Russian": "Europe/Moscow",
    "SA Eastern": "America/Cayenne", "SA Pacific": "America/Bogota", "SA Western": "America/La_Paz",
    "SE Asia": "Asia/Bangkok", "Singapore": "Asia/Singapore", "South Africa": "Africa/Johannesburg",
    "Sri Lanka": "Asia/Colombo", "Syria": "Asia/Damascus", "Taipei": "Asia/Taipei", "Tasmania": "Australia/Hobart",
    "Tokyo": "Asia/Tokyo", "Tonga": "Pacific/Tongatapu", "Turkey": "Europe/Istanbul",
    "US Eastern": "America/Indianapolis", "US Mountain": "America/Phoenix", "Venezuela": "America/Caracas",
    "Vladivostok": "Asia/Vladivostok", "W. Australia": "Australia/Perth", "W. Central Africa": "Africa/Lagos",
    "W. Europe": "Europe/Berlin", "West Asia": "Asia/Tashkent", "West Pacific": "Pacific/Port_Moresby",
    "Yakutsk": "Asia/Yakutsk",
  ]
}
