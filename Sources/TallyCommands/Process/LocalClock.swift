import ArgumentParser
import Foundation
import SystemPackage
import Tally
import TallyEngine

/// The current time and the time zone in which a command answers.
struct LocalClock: DateNaming {
  /// The beginning of the current second: programs such as jq read no fraction.
  let now: Timestamp
  /// The present to the microsecond, by which the store orders its changes.
  let exactNow: Timestamp
  let zone: NamedTimeZone
  let today: CalendarDay
  /// The minutes after midnight at which a day begins.
  let dayStartInMinutes: Int
  /// The first day of the week as Foundation's calendars count; looked up only where weeks count.
  let firstWeekday: @Sendable () throws -> Int
  /// How dates in digits are read, by the setting or the locale.
  let dateOrder: @Sendable () -> DateOrder?

  var timeZone: TimeZone { zone.zone }

  /// The Gregorian calendar in the zone.
  var calendar: Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    return calendar
  }

  /// Creates a clock; `exactNow` is `now` unless it is given.
  init(
    now: Timestamp, exactNow: Timestamp? = nil, in zone: NamedTimeZone,
    beginningDaysAtMinute dayStartInMinutes: Int = 0,
    firstWeekday: @escaping @Sendable () throws -> Int = { 2 },
    dateOrder: @escaping @Sendable () -> DateOrder? = { nil }
  ) {
    self.now = now
    self.exactNow = exactNow ?? now
    self.zone = zone
    self.firstWeekday = firstWeekday
    self.dateOrder = dateOrder
    self.dayStartInMinutes = dayStartInMinutes
    today = CalendarDay(containing: now, in: zone.zone, startingAtMinute: dayStartInMinutes)
  }

  /// An instant in a sentence, which may be unknown: another program may have completed a task without a date.
  func knownName(of instant: Timestamp) -> String {
    instant == TaskDocument.longAgo ? "date unknown" : name(of: instant)
  }

  /// The clock of another zone.
  func `in`(_ zone: NamedTimeZone) -> LocalClock {
    LocalClock(
      now: now, exactNow: exactNow, in: zone, beginningDaysAtMinute: dayStartInMinutes, firstWeekday: firstWeekday,
      dateOrder: dateOrder)
  }

  /// A clock whose days begin some minutes after midnight, so that yesterday may not be over yet.
  func beginningDays(atMinute dayStartInMinutes: Int) -> LocalClock {
    LocalClock(
      now: now, exactNow: exactNow, in: zone, beginningDaysAtMinute: dayStartInMinutes, firstWeekday: firstWeekday,
      dateOrder: dateOrder)
  }
}

extension LocalClock {
  /// Reads the DAY of an option, whose name comes before the message of an error.
  ///
  /// - Throws: ``CommandFailure`` for anything else, and for a day that the calendar does not have.
  func day(
    _ text: String, of option: String, looking direction: DateReference.Direction = .forward
  ) throws -> CalendarDay {
    try read(text, as: .day, of: option, looking: direction) { try $0.day(against: $1) }
  }

  /// Reads the WHEN of an option, whose name comes before the message of an error.
  ///
  /// - Throws: ``CommandFailure`` for anything else, and for an instant that does not exist.
  func instant(
    _ text: String, of option: String, bareDay: TimeOfBareDay, looking direction: DateReference.Direction = .forward
  ) throws -> Timestamp {
    try read(text, as: .instant, of: option, looking: direction) { try $0.instant(against: $1, bareDay: bareDay) }
  }

  /// Reads the WHEN of an option that keeps a day without a time as a day.
  ///
  /// - Throws: ``CommandFailure`` for anything else, and for an instant that does not exist.
  func date(_ text: String, of option: String) throws -> ResolvedDate {
    try read(text, as: .instant, of: option, looking: .forward) { try $0.resolved(against: $1) }
  }

  /// The minutes since midnight of a text that is only a time, such as `14:00`; `nil` for any other.
  func minuteOfDay(_ text: String) -> Int? {
    (try? DateExpression(text, as: .instant, dateOrder: dateOrder()))?.minuteOfDay
  }

  /// The present as the library's words for days and times need it.
  func reference(
    looking direction: DateReference.Direction = .forward, countingWeeks countsWeeks: Bool = true
  ) throws -> DateReference {
    var calendar = calendar
    if countsWeeks { calendar.firstWeekday = try firstWeekday() }
    return DateReference(
      now: now, today: today, calendar: calendar, direction: direction, dateOrder: dateOrder(),
      dayStartInMinutes: dayStartInMinutes)
  }

  private func read<Value>(
    _ text: String, as kind: DateExpression.Kind, of option: String, looking direction: DateReference.Direction,
    _ value: (DateExpression, DateReference) throws -> Value
  ) throws -> Value {
    try CommandFailure.naming(option, quoting: text) {
      let expression = try DateExpression(text, as: kind, dateOrder: dateOrder())
      return try value(expression, reference(looking: direction, countingWeeks: expression.countsWeeks))
    }
  }
}

extension LocalClock {
  /// The minutes after midnight of `HH:MM`; hours below ten may have one digit.
  static func minutes(ofTime text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let isTime =
      parts.count == 2 && (1...2).contains(parts[0].utf8.count) && parts[1].utf8.count == 2
      && parts.joined().utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard isTime, let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60 else { return nil }
    return 60 * hour + minute
  }
}

/// A time zone with the name that was written.
///
/// Foundation has one zone for "UTC" and "GMT" and calls it GMT; people should see the name they wrote.
struct NamedTimeZone {
  let name: String
  let zone: TimeZone

  static let utc = NamedTimeZone(name: "UTC", zone: .gmt)
}

extension NamedTimeZone {
  /// The zone with an IANA name; `nil` if there is none.
  ///
  /// Foundation also accepts offsets ("GMT+3") and ambiguous abbreviations ("BST", which it takes for Dhaka's): those are
  /// not names of zones, and the tz database does not have them.
  init?(iana name: String) {
    let database = TimeZoneDatabase.system
    guard database.contains(name) || !database.isThere && (name.contains("/") || name == "UTC"),
      let zone = TimeZone(identifier: name)
    else { return nil }
    self.init(name: name, zone: zone)
  }

  /// The zone that an option names.
  ///
  /// - Throws: ``CommandFailure`` for a name of no zone.
  static func named(_ name: String, by option: String) throws -> NamedTimeZone {
    if let zone = NamedTimeZone(iana: name) { return zone }
    throw CommandFailure.usage(
      "\(option): '\(name.escapedForDisplay())' is not a time zone", code: "unknownTimeZone",
      remedy: "Name a zone, as in \(option) Europe/Istanbul")
  }

  /// The zone that the system is set to, by the rules of the C library (tzset(3)): `TZ`, else `/etc/localtime`.
  ///
  /// Not Foundation's `TimeZone.current`: it knows only names and links, inverts the sign of `UTC-3`, and takes everything
  /// else for UTC, which would silently put work on the wrong day.
  ///
  /// - Throws: ``CommandFailure`` for a setting that cannot be read.
  static func system(environment: EnvironmentVariables) throws -> NamedTimeZone {
    guard let setting = try environment.value(of: "TZ") else {
      let file = FilePath("/etc/localtime")
      guard (try? file.stat()) != nil else { return .utc }
      guard let zone = zone(ofFile: file) else { throw failure("/etc/localtime is not a zone of the tz database") }
      return zone
    }
    guard let zone = zone(ofSetting: setting.hasPrefix(":") ? String(setting.dropFirst()) : setting) else {
      let shown = setting.truncated(toWidth: 60).escapedForDisplay()
      throw failure("TZ is set to '\(shown)', which is not a zone name, a file or a fixed offset")
    }
    return zone
  }

  private static func zone(ofSetting text: String) -> NamedTimeZone? {
    if text.isEmpty { return .utc }
    if text.hasPrefix("/") { return zone(ofFile: FilePath(text)) }
    if let zone = NamedTimeZone(iana: text.hasPrefix("posix/") ? String(text.dropFirst(6)) : text) { return zone }
    return TimeZone(posix: text).map { $0.secondsFromGMT() == 0 ? .utc : NamedTimeZone(name: $0.identifier, zone: $0) }
  }

  private static func zone(ofFile file: FilePath) -> NamedTimeZone? {
    TimeZoneDatabase.system.name(ofFile: file).flatMap { NamedTimeZone(iana: $0) }
  }

  private static func failure(_ message: String) -> CommandFailure {
    .usage(
      message, code: "unknownTimeZone",
      remedy: "Name a zone, as in --time-zone Europe/Istanbul or TZ=Europe/Istanbul")
  }
}

extension LocalClock {
  /// The day on which the statistics count a completion.
  func day(of completion: OffsetTimestamp, countedBy options: StatisticsOptions) -> CalendarDay {
    var local = completion.instant.wholeSeconds - 60 * Int64(options.dayStartInMinutes)
    local +=
      options.usesRecordedOffsets
      ? 60 * Int64(completion.utcOffsetInMinutes) : timeZone.secondsFromGMT(at: completion.instant)
    return CalendarDay(clamping: floorDivide(local, by: 86_400))
  }
}

/// The first day of a week, numbered as Foundation's calendars count.
enum WeekStart: Int, CaseIterable, ExpressibleByArgument {
  case monday = 2, tuesday, wednesday, thursday, friday, saturday
  case sunday = 1

  static let allValueStrings = allCases.map { "\($0)" }

  /// Parses the day's name or its first three letters, as in every argument that names a day.
  init?(argument: String) {
    guard let number = WeekdayName.number(of: argument) else { return nil }
    self = Self.allCases[number - 1]
  }
}

extension WeekStart {
  /// The first weekday of the locale's week as Foundation's calendars count.
  ///
  /// A calendar created by its identifier starts its weeks on Sunday, and Foundation on Linux ignores the variables that
  /// name the locale there. "C" and "POSIX" name none; ISO 8601's Monday is used then.
  ///
  /// - Throws: ``CommandFailure`` if the variable that decides is not UTF-8.
  static func firstWeekday(environment: EnvironmentVariables) throws -> Int {
    var calendar = Calendar(identifier: .gregorian)
    if let name = try localeName(environment: environment) {
      calendar.locale = Locale(identifier: name)
    } else {
      #if canImport(Darwin)
        calendar.locale = .current
      #else
        // The current locale is that of the variables, of whatever form.
        return WeekStart.monday.rawValue
      #endif
    }
    return calendar.firstWeekday
  }

  /// How people of the locale write dates in digits; `nil` if the variables name no locale.
  ///
  /// Without Foundation's locale, whose data takes longer to load than most commands run.
  static func dateOrder(environment: EnvironmentVariables) -> DateOrder? {
    guard let name = try? localeName(environment: environment) else { return nil }
    let parts = name.split(separator: "_").map(String.init)
    // The script, if there is one, has four letters.
    return DateOrder(language: parts.first, region: parts.dropFirst().first { $0.utf8.count < 4 })
  }

  /// The locale that the variables name; `nil` for "C", "POSIX" and texts that are no name.
  private static func localeName(environment: EnvironmentVariables) throws -> String? {
    let name =
      try environment.nonEmptyValue(of: "LC_ALL") ?? environment.nonEmptyValue(of: "LC_TIME")
      ?? environment.nonEmptyValue(of: "LANG")
    return name.map { $0.prefix { $0 != "." && $0 != "@" } }.flatMap { isLocale($0) ? String($0) : nil }
  }

  /// Whether a name has the form of a locale's, such as `tr`, `tr_TR` or `zh_Hant_TW`; "C" and "POSIX" do not.
  ///
  /// ICU ends the process over others, such as one with a language of twelve letters.
  private static func isLocale(_ name: Substring) -> Bool {
    let parts = name.split(separator: "_", omittingEmptySubsequences: false)
    let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    return isPlain && (1...3).contains(parts.count) && (2...3).contains(parts[0].count)
      && parts.dropFirst().allSatisfy { (2...8).contains($0.count) }
  }
}

extension LocalClock {
  /// The start of an open task in words: `waits until Fri 27 Nov`, `someday`; of a day that has come, that it does not wait.
  func words(for start: TaskStart) -> String {
    guard let day = start.day else { return "someday" }
    let name = relativeName(of: day)
    return day > today ? "waits until \(name)" : "does not wait, as its start (\(name)) has come"
  }

  /// Words after those of a change that brings a waiting task to no view: `; it still waits until Fri 27 Nov`; none for
  /// any other task.
  func waitingSuffix(of task: TaskItem) -> String {
    guard task.isWaiting(on: today), let start = task.start else { return "" }
    return "; it still \(start.day == nil ? "waits for someday" : words(for: start))"
  }

  /// Reminders of a task in words: `Fri 27 Nov 09:00`, `1 day before it is due (Thu 26 Nov 17:00)`.
  ///
  /// Of several at one instant, only the first one says when that is.
  func words(for reminders: [Reminder], of task: TaskItem) -> String {
    var named: Set<Timestamp> = []
    let words = reminders.compactMap { reminder -> String? in
      let instant = task.instant(of: reminder, in: timeZone)
      let time = instant.flatMap { named.insert($0).inserted ? name(of: $0) : nil }
      guard let relative = reminder.relative else { return time }
      if instant == nil { return "\(relative), a date that it does not have" }
      return "\(relative)\(time.map { " (\($0))" } ?? "")"
    }
    return words.joined(separator: ", ")
  }
}
