import Foundation
import Tally
import TallyEngine

/// The open task of a stored series as other programs must have it: where the rule begins, and what is left of it.
///
/// `DTSTART` is the anchor of a rule, so it is the day that the rule gives the task, at the time of the series by the clock
/// of its zone: a time that the clock skips on that day is written as it is on all others (RFC 5545, section 3.3.5). Only
/// a task that a person has moved begins where it is.
struct CalendarSeries {
  /// The zone of the times.
  let zone: TimeZone
  /// The line of the start.
  let start: ContentLine
  /// The line of the due date; `nil` for a task without one.
  let due: ContentLine?
  /// The rule from this task on, without the days that are left out.
  let rule: RecurrenceRule
  /// The days that the rule and the series leave out.
  let exceptions: [CalendarDay]
}

extension CalendarSeries {
  /// `nil` for a task that does not repeat by a rule, is closed, or has no stored series.
  init?(_ task: TaskItem, _ context: FormatContext) {
    // The start of a rule for hours has a time, even if only a reminder says it.
    let isHourly = task.recurrence?.hours != nil
    let described = isHourly ? TaskSeries(describedBy: task, in: context.timeZone) : nil
    guard task.isOpen, case .rule(let rule)? = task.recurrence, let place = task.series,
      let series = context.series(of: task) ?? described
    else { return nil }
    let zone = series.timeZoneIdentifier.flatMap { TimeZone(identifier: $0) } ?? context.timeZone
    let untouched = series.task(at: place, in: context.timeZone, createdAt: task.createdAt)
    let isMoved =
      task.dueDate != untouched.dueDate || task.dueDay != untouched.dueDay
      || task.scheduledDate != untouched.scheduledDate || isHourly && task.timeOfStep != untouched.timeOfStep
    let first: CalendarDay
    if let instant = isHourly ? task.timeOfStep : task.dueDate {
      var wall = instant.adding(seconds: Int64(zone.secondsFromGMT(for: instant.date)))
      let local = series.local(at: place)
      if !isMoved, let time = isHourly ? local.timeOfStep : local.dueDate { wall = time }
      let day = CalendarDay(clamping: wall.microsecondsSince1970.dividedDown(by: 86_400_000_000))
      // A task that is due days after the day of the rule begins on that day.
      first = isMoved || isHourly || day < place.occurrence ? day : place.occurrence
      let zoned = Self.line("DUE", String(BasicDate.text(wall).dropLast()), instant, in: zone)
      due = task.dueDate == nil ? nil : zoned ?? ContentLine("DUE", BasicDate.text(instant))
      let beginning = first == day ? instant : first.start(in: context.calendar(in: zone))
      let zonedStart = first == day ? zoned : Self.line("DUE", BasicDate.text(first) + "T000000", beginning, in: zone)
      start =
        zonedStart.map { ContentLine("DTSTART", parameters: $0.parameters, $0.value) }
        ?? ContentLine("DTSTART", BasicDate.text(beginning))
    } else {
      let own = isMoved ? task.scheduledDate ?? task.dueDay ?? place.occurrence : place.occurrence
      first = task.dueDay.map { min($0, own) } ?? own
      start = ContentLine("DTSTART", parameters: ";VALUE=DATE", BasicDate.text(first))
      due = task.dueDay.map { ContentLine("DUE", parameters: ";VALUE=DATE", BasicDate.text($0)) }
    }
    self.zone = zone
    self.rule = Self.rule(rule, number: series.number(of: place), from: place, isExplicit: first != place.occurrence)
    let skipped = series.skippedDays.suffix(max(0, RecurrenceRule.mostExceptions - rule.exceptions.count))
    exceptions = Set(rule.exceptions + skipped).sorted()
  }

  /// A local time in a zone; `nil` if its description gives another instant than the one that is meant.
  private static func line(_ name: String, _ local: String, _ instant: Timestamp, in zone: TimeZone) -> ContentLine? {
    let seconds = instant.microsecondsSince1970.dividedDown(by: 1_000_000)
    guard let written = WrittenZone.named(zone.identifier)?.instant(local),
      written.microsecondsSince1970.dividedDown(by: 1_000_000) == seconds
    else { return nil }
    return ContentLine(name, parameters: ";TZID=\(zone.identifier)", local)
  }

  /// The rule as it is from a task on: with the number of the tasks to come, and with the days that it takes from the start
  /// of the series, if the task is on another day.
  private static func rule(
    _ rule: RecurrenceRule, number: Int?, from place: RecurrenceSeries, isExplicit: Bool
  ) -> RecurrenceRule {
    var text = rule.textWithoutExceptions
    guard case .rule(let whole)? = try? Recurrence(text: text) else { return rule }
    let isHourly = rule.interval.unit == .hour
    if case .count(let count) = rule.end,
      let number = isHourly ? number : whole.number(of: place.occurrence, from: place.start)
    {
      text = text.replacingOccurrences(of: "COUNT=\(count)", with: "COUNT=\(max(1, count - number + 1))")
    }
    let hasDays = ![rule.monthDays, rule.yearDays].allSatisfy(\.isEmpty) || !rule.weekdays.isEmpty
    if isExplicit, !hasDays {
      let start = place.start
      let weekday = ";BYDAY=" + ["MO", "TU", "WE", "TH", "FR", "SA", "SU"][start.weekday - 1]
      switch rule.interval.unit {
      case .hour, .day: break
      case .week: text += weekday
      case .month: text += ";BYMONTHDAY=\(start.day)"
      case .year where !rule.weekNumbers.isEmpty: text += weekday
      case .year: text += (rule.months.isEmpty ? ";BYMONTH=\(start.month)" : "") + ";BYMONTHDAY=\(start.day)"
      }
    }
    guard case .rule(let rest)? = try? Recurrence(text: text) else { return whole }
    return rest
  }

  /// The text of the rule; its last day is the last second of it in UTC if the start has a time (section 3.3.10).
  func text(_ context: FormatContext) -> String {
    guard case .until(let day) = rule.end, BasicDate.day(start.value) == nil, let next = try? day.adding(days: 1) else {
      return rule.textWithoutExceptions
    }
    let end = next.start(in: context.calendar(in: zone)).adding(microseconds: -1)
    return rule.textWithoutExceptions.replacingOccurrences(
      of: "UNTIL=\(BasicDate.text(day))", with: "UNTIL=\(BasicDate.text(end))")
  }

  /// The line of the days that are left out, in the form of the start (section 3.8.5.1); `nil` for a start in UTC.
  var exceptionLine: ContentLine? {
    if rule.interval.unit == .hour { return hourlyExceptionLine }
    guard BasicDate.instant(start.value) == nil else { return nil }
    let time = start.value.dropFirst(8)
    return ContentLine(
      "EXDATE", parameters: start.parameters, exceptions.map { BasicDate.text($0) + time }.joined(separator: ","))
  }
}

extension CalendarSeries {
  /// The line of the days that a rule for hours leaves out: each hour of them, as the rule gives no others.
  private var hourlyExceptionLine: ContentLine? {
    guard BasicDate.day(start.value) == nil else { return nil }
    let instant = BasicDate.instant(start.value)
    let local = instant.map { BasicDate.text($0.wallClock(in: zone)) } ?? start.value
    let rest = local.dropFirst(11).prefix(4)
    let times = exceptions.flatMap { day in
      (0..<24).map { hour in
        let wall = BasicDate.text(day) + (hour < 10 ? "T0" : "T") + "\(hour)" + rest
        guard instant != nil, let time = BasicDate.instant(wall + "Z") else { return wall }
        return BasicDate.text(Timestamp(wallClock: time, in: zone))
      }
    }
    return ContentLine("EXDATE", parameters: start.parameters, times.joined(separator: ","))
  }
}

extension CalendarRecord {
  /// The rule of a task that other programs are to repeat.
  ///
  /// A closed task of a stored series has none: the open one goes on.
  static func writtenRule(of task: TaskItem, _ context: FormatContext) -> RecurrenceRule? {
    guard case .rule(let rule)? = task.recurrence, task.isOpen || context.series(of: task) == nil else { return nil }
    return rule
  }

  /// The rule; its last day is an instant in UTC if the start has a time (RFC 5545, section 3.3.10).
  func text(of rule: RecurrenceRule, _ context: FormatContext) -> String {
    guard case .until(let day) = rule.end, first("DTSTART").map({ BasicDate.day($0.value) == nil }) ?? false else {
      return rule.textWithoutExceptions
    }
    return rule.textWithoutExceptions.replacingOccurrences(
      of: "UNTIL=\(BasicDate.text(day))", with: "UNTIL=\(BasicDate.text(context.end(of: day)))")
  }

  /// The days that a rule leaves out: the imported lines, if they still say these days, else one line.
  ///
  /// They have the time of the start if it has one (RFC 5545, section 3.8.5.1).
  func exceptions(
    _ series: CalendarSeries?, of rule: RecurrenceRule, from task: TaskItem, _ context: FormatContext
  ) -> [ContentLine] {
    let exceptions = series?.exceptions ?? rule.exceptions
    if case .text(let text)? = task.attributes["EXDATE"], let lines = Self.written(text, of: "EXDATE"),
      Set(days(lines, context).filter { $0 > task.series?.start ?? .earliest }) == Set(exceptions)
    {
      return lines
    }
    guard !exceptions.isEmpty else { return [] }
    if let line = series?.exceptionLine, line.parameters == first("DTSTART")?.parameters { return [line] }
    guard let start = first("DTSTART") ?? first("DUE"), BasicDate.day(start.value) == nil,
      let instant = WrittenDate(start, zones: zones, context)?.instant(context)
    else {
      let days = exceptions.map(BasicDate.text).joined(separator: ",")
      return [ContentLine("EXDATE", parameters: ";VALUE=DATE", days)]
    }
    let day = context.day(of: instant)
    let lines = exceptions.map { exception in
      let moved = instant.moved(from: day, to: exception, in: context.timeZone)
      return start.parameter("TZID") == nil
        ? ContentLine("EXDATE", BasicDate.text(moved)) : zonedLine("EXDATE", moved, context)
    }
    guard let line = lines.first, lines.allSatisfy({ $0.parameters == line.parameters }) else { return lines }
    return [ContentLine("EXDATE", parameters: line.parameters, lines.map(\.value).joined(separator: ","))]
  }

  /// The days in properties that list dates; without those that are not understood.
  func days(_ lines: [ContentLine], _ context: FormatContext) -> [CalendarDay] {
    lines.flatMap { line in
      line.value.split(separator: ",").compactMap { value in
        // The parts that are not understood are named with their to-do.
        context.remarks.discarding {
          WrittenDate(ContentLine(line.name, parameters: line.parameters, String(value)), zones: zones, context)
        }?.day(context)
      }
    }
  }

  /// Whether `DTSTART` is the day before which the task waits, and not the day for which it is planned.
  var startIsOwn: Bool { first(Self.startName) != nil && first("RRULE") == nil }

  /// Reads the day before which the task waits: `DTSTART`, which other programs may have changed, unless a rule counts
  /// from it, or Tally left it out because the task is due before.
  func readStart(_ written: CalendarDay?, into document: inout TaskDocument, _ context: FormatContext) {
    guard let line = first(Self.startName) else { return }
    let own = BasicDate.day(line.value)
    let isLeftOut = own.map { day in document.task.dueDay(in: context.timeZone).map { $0 <= day } ?? false } ?? false
    let day = startIsOwn ? written ?? (isLeftOut ? own : nil) : own
    document.start = day.map { .day($0) }
  }
}

extension FormatContext {
  /// The calendar in another zone.
  fileprivate func calendar(in zone: TimeZone) -> Calendar {
    var calendar = calendar
    calendar.timeZone = zone
    return calendar
  }
}

extension Int64 {
  /// The quotient, rounded down.
  fileprivate func dividedDown(by divisor: Int64) -> Int64 { (self >= 0 ? self : self - divisor + 1) / divisor }
}
