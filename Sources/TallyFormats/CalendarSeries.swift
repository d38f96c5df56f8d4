import Foundation
import Tally
import TallyEngine

/// The open task of a stored series as other programs must have it: where the rule begins, and what is left of it.
///
/// `DTSTART` is the anchor of a rule, so it is the day that the rule gives the task, at the time of the series by the clock
/// of its zone: a time that the clock skips on that day is written as it is on all others (RFC 5545, section 3.3.5). Only
/// a task that a person has moved begins where it is.
struct CalendarSeries {
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
      let own = isMoved || isHourly ? nil : Self.start(of: task, on: first, in: zone, context)
      let zonedStart =
        own ?? (first == day ? zoned : Self.line("DUE", BasicDate.text(first) + "T000000", beginning, in: zone))
      start =
        zonedStart.map { ContentLine("DTSTART", parameters: $0.parameters, $0.value) }
        ?? ContentLine("DTSTART", BasicDate.text(beginning))
    } else {
      let own = isMoved ? task.scheduledDate ?? task.dueDay ?? place.occurrence : place.occurrence
      first = task.dueDay.map { min($0, own) } ?? own
      start = ContentLine("DTSTART", parameters: ";VALUE=DATE", BasicDate.text(first))
      due = task.dueDay.map { ContentLine("DUE", parameters: ";VALUE=DATE", BasicDate.text($0)) }
    }
    let rest = series.rest(of: rule, at: place, from: place.occurrence) ?? rule
    self.rule = Self.rule(rest.with(exceptions: []), from: place, isExplicit: first != place.occurrence)
    let skipped = series.skippedDays.suffix(max(0, RecurrenceRule.mostExceptions - rule.exceptions.count))
    exceptions = Set(rule.exceptions + skipped).sorted()
  }

  /// The start on a day at the imported time of the clock; `nil` without one, or if the task is due before.
  private static func start(
    of task: TaskItem, on day: CalendarDay, in zone: TimeZone, _ context: FormatContext
  ) -> ContentLine? {
    guard case .text(let text)? = task.attributes["DTSTART"], let due = task.dueDate,
      let imported = CalendarRecord.written(text, of: "DTSTART")?.first,
      case .instant(let instant)? = context.remarks.discarding({
        WrittenDate(imported, zones: CalendarZones(), context)
      }),
      case let time = BasicDate.text(instant.wallClock(in: zone)).dropFirst(8).dropLast(),
      let start = BasicDate.instant(BasicDate.text(day) + time, in: zone), start <= due
    else { return nil }
    return line("DTSTART", BasicDate.text(day) + time, start, in: zone)
  }

  /// A local time in a zone; `nil` if its description gives another instant than the one that is meant.
  private static func line(_ name: String, _ local: String, _ instant: Timestamp, in zone: TimeZone) -> ContentLine? {
    let seconds = instant.microsecondsSince1970.dividedDown(by: 1_000_000)
    guard let written = WrittenZone.named(zone.identifier)?.instant(local),
      written.microsecondsSince1970.dividedDown(by: 1_000_000) == seconds
    else { return nil }
    return ContentLine(name, parameters: ";TZID=\(zone.identifier)", local)
  }

  /// The rule as it is from a task on: with the days that it takes from the start of the series, if the task is on another
  /// day.
  private static func rule(_ rule: RecurrenceRule, from place: RecurrenceSeries, isExplicit: Bool) -> RecurrenceRule {
    let hasDays = ![rule.monthDays, rule.yearDays].allSatisfy(\.isEmpty) || !rule.weekdays.isEmpty
    guard isExplicit, !hasDays, let weekday = try? RecurrenceWeekday(place.start.weekday) else { return rule }
    switch rule.interval.unit {
    case .hour, .day: return rule
    case .week: return rule.with(weekdays: [weekday])
    case .month: return rule.with(monthDays: [place.start.day])
    case .year where !rule.weekNumbers.isEmpty: return rule.with(weekdays: [weekday])
    case .year:
      let months = rule.months.isEmpty ? [place.start.month] : rule.months
      return rule.with(monthDays: [place.start.day], months: months)
    }
  }

  /// The line of days that are left out, in the form of the start (section 3.8.5.1); `nil` for a start in UTC.
  ///
  /// The context has the zone of the series.
  func exceptionLine(of exceptions: [CalendarDay], _ context: FormatContext) -> ContentLine? {
    if rule.interval.unit == .hour { return hourlyExceptionLine(of: exceptions, context) }
    guard BasicDate.instant(start.value) == nil else { return nil }
    let time = start.value.dropFirst(8)
    return ContentLine(
      "EXDATE", parameters: start.parameters, exceptions.map { BasicDate.text($0) + time }.joined(separator: ","))
  }
}

extension CalendarSeries {
  /// The line of the days that a rule for hours leaves out: each hour of them, as the rule gives no others.
  private func hourlyExceptionLine(of exceptions: [CalendarDay], _ context: FormatContext) -> ContentLine? {
    let zone = context.timeZone
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

  /// The rule; its last day is the last second of it in UTC if the start has a time (RFC 5545, section 3.3.10).
  func text(of rule: RecurrenceRule, _ context: FormatContext) -> String {
    guard case .until(let day) = rule.end, first("DTSTART").map({ BasicDate.day($0.value) == nil }) ?? false else {
      return rule.textWithoutExceptions
    }
    return "\(rule.with(end: .never).textWithoutExceptions);UNTIL=\(BasicDate.text(context.end(of: day)))"
  }

  /// The days that a rule leaves out: the imported lines, if they still say these days, else one line.
  ///
  /// They have the time of the start if it has one (RFC 5545, section 3.8.5.1). A day that the document describes beside
  /// the series is none of them: readers would leave it out, too. The context has the zone of the series.
  func exceptions(
    _ series: CalendarSeries?, of rule: RecurrenceRule, from task: TaskItem, _ context: FormatContext
  ) -> [ContentLine] {
    let described = Set(days(context.occurrences[Self.uid(of: task)] ?? [], context))
    let exceptions = (series?.exceptions ?? rule.exceptions).filter { !described.contains($0) }
    if case .text(let text)? = task.attributes["EXDATE"], let lines = Self.written(text, of: "EXDATE"),
      Set(days(lines, context).filter { $0 > task.series?.start ?? .earliest }) == Set(exceptions)
    {
      return lines
    }
    guard !exceptions.isEmpty else { return [] }
    if let line = series?.exceptionLine(of: exceptions, context), line.parameters == first("DTSTART")?.parameters {
      return [line]
    }
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

  /// The zone of the times of an open series.
  ///
  /// - Returns: `nil` if the times are those of the person's clock. That is so, too, if the clock of a zone is not known,
  ///   which leaves a remark.
  func seriesZone(_ context: FormatContext) -> TimeZone? {
    guard first("RRULE") != nil, context.remarks.discarding({ !state(context).isClosed }),
      let line = [first("DTSTART"), first("DUE")].compactMap(\.self).first(where: { $0.parameter("TZID") != nil }),
      let name = line.parameter("TZID"), BasicDate.day(line.value) == nil
    else { return nil }
    let zone = zones.zone(named: name, at: line.value, or: context.timeZone)
    if zone == nil { context.remarks.add("zone", name) }
    return zone == context.timeZone ? nil : zone
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

extension TaskDocument {
  /// Leaves the days out of an open series that a document describes beside it, and fixes its times to a zone.
  ///
  /// - Parameters:
  ///   - days: The described days.
  ///   - isFixed: Whether the times are fixed to the context's zone.
  ///   - context: The context, in the zone of the series.
  mutating func describeSeries(besides days: Set<CalendarDay>, isFixed: Bool, _ context: FormatContext) {
    guard let day = advance(past: days, context) else { return }
    describedDays = days
    let later = days.filter { $0 > day }
    guard isFixed || !later.isEmpty else { return }
    let values = seriesValues ?? SeriesValues(describedIn: context.timeZone, isFixed: isFixed)
    seriesValues = values.leavingOut(later)
  }

  /// Fixes the times of an open series to a zone that is known, and is not the person's.
  mutating func fixSeries(to zone: String?, _ context: FormatContext) {
    let local = context.in(zone)
    guard local.timeZone != context.timeZone, task.timeOfStep != nil else { return }
    describeSeries(besides: [], isFixed: true, local)
  }

  /// Advances an open series and its dates to the first occurrence that is neither in `days` nor left out by the rule.
  ///
  /// - Returns: The day of that occurrence; `nil` if it is no open task that repeats by a rule.
  private mutating func advance(past days: Set<CalendarDay>, _ context: FormatContext) -> CalendarDay? {
    let place = self[.series]?.series
    guard case .recurrence(.rule(let rule))? = self[.recurrence], self[.state].flatMap(\.state)?.isClosed != true,
      let first = place?.occurrence ?? firstDay(context)
    else { return nil }
    let days = days.union(rule.exceptions)
    guard !days.isEmpty, rule.interval.unit != .hour else { return first }
    let all = rule.with(exceptions: [])
    var (day, count) = (first, 0)
    while days.contains(day), let next = all.next(after: day, from: place?.start ?? first) {
      (day, count) = (next, count + 1)
    }
    if let place {
      self[.series] = .series(
        RecurrenceSeries(id: place.id, start: place.start, occurrence: day, index: place.index))
    } else {
      var rest = rule.with(exceptions: rule.exceptions.filter { $0 > day })
      if case .count(let whole) = rule.end, whole > count { rest = rest.with(end: .count(whole - count)) }
      self[.recurrence] = .recurrence(.rule(rest))
    }
    let distance = Int(day.dayNumber) - Int(first.dayNumber)
    guard distance > 0 else { return day }
    // By the clock of the series' zone.
    let moved = { (instant: Timestamp) in
      context.calendar.date(byAdding: .day, value: distance, to: instant.date).map { Timestamp(clamping: $0) }
        ?? instant
    }
    for field in [TaskField.scheduledDate, .dueDay, .startDay] {
      if case .day(let day)? = self[field] { self[field] = (try? day.adding(days: distance)).map { .day($0) } }
    }
    for field in [TaskField.dueDate, .reminderDate] {
      if case .instant(let instant)? = self[field] { self[field] = .instant(moved(instant)) }
    }
    if case .reminders(let reminders)? = self[.reminders] {
      self[.reminders] = .reminders(ReminderSet(reminders.map { $0.instant.map { .at(moved($0)) } ?? $0 }))
    }
    return day
  }

  /// A rule without some days; `nil` if the text is not a rule.
  static func recurrence(
    _ text: String, except days: [CalendarDay], in timeZone: TimeZone = .gmt
  ) -> Recurrence? {
    let exceptions = days.isEmpty ? "" : ";EXDATE=\(days.map(BasicDate.text).joined(separator: ","))"
    return try? Recurrence(text: text + exceptions, timeZone: timeZone)
  }

  private func firstDay(_ context: FormatContext) -> CalendarDay? {
    if case .day(let day)? = self[.scheduledDate] ?? self[.dueDay] { return day }
    if case .instant(let instant)? = self[.dueDate] { return context.day(of: instant) }
    return nil
  }
}

extension RecurrenceRule {
  /// The same rule with other parts; itself if they cannot be together.
  func with(
    weekdays: [RecurrenceWeekday]? = nil, monthDays: [Int]? = nil, months: [Int]? = nil,
    exceptions: [CalendarDay]? = nil, end: RecurrenceEnd? = nil
  ) -> RecurrenceRule {
    let rule = try? RecurrenceRule(
      every: interval, on: weekdays ?? self.weekdays, onMonthDays: monthDays ?? self.monthDays, onYearDays: yearDays,
      inWeeks: weekNumbers, inMonths: months ?? self.months, atPositions: positions,
      except: exceptions ?? self.exceptions, end: end ?? self.end, weekStart: weekStart)
    return rule ?? self
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
