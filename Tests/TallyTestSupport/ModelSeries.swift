import Foundation
import Tally
import TallyEngine

/// What the tasks of a series have in common, as distances from each occurrence: the reference for ``TaskSeries``.
struct ModelSeries: Hashable, Sendable {
  /// A day some days after the occurrence, and the time that clocks show on it.
  struct Moment: Hashable, Sendable {
    var days: Int64
    /// Microseconds since midnight; `nil` for a day without a time.
    var time: Int64?
  }

  var recurrence: Recurrence
  var start: CalendarDay
  private var title: String
  private var notes: String?
  private var listID: UUID?
  private var priority: Priority
  private var tags: TagSet
  private var attributes: [String: AttributeValue]
  private var planned: Moment?
  private var due: Moment?
  private var reminder: Moment?
  /// The other reminders: those at an instant, and the relative ones.
  private var others: Set<Moment> = []
  private var relative: ReminderSet = []
  private var begin: Moment?

  /// The series that a task describes by its own values; `nil` if it does not repeat.
  init?(of task: TaskItem, in zone: TimeZone) {
    guard let recurrence = task.recurrence, let series = task.series else { return nil }
    var task = task
    ReminderModel.forget(&task)
    (self.recurrence, start) = (recurrence, series.start)
    (title, notes, listID, priority) = (task.title, task.notes, task.listID, task.priority)
    (tags, attributes) = (task.tags, task.attributes)
    let following = series.next(by: recurrence, completedOn: series.occurrence, today: series.occurrence)
    let dates = (
      planned: task.scheduledDate.map { Moment(of: $0) },
      due: task.dueDay.map { Moment(of: $0) } ?? task.dueDate.map { Moment(of: $0, in: zone) },
      reminder: task.reminderDate.map { Moment(of: $0, in: zone) }
    )
    let others = task.otherReminders.compactMap(\.instant).sorted().map { Moment(of: $0, in: zone) }
    let begin = task.start?.day.map { Moment(of: $0) }
    relative = ReminderSet(task.otherReminders.filter { $0.instant == nil })
    let occurrence = Int64(series.occurrence.dayNumber)
    let end = Int64((following?.occurrence ?? .latest).dayNumber)
    // The date that belongs to the occurrence.
    let isOfDue = dates.due?.days == occurrence && dates.planned.map { $0.days < occurrence } ?? true
    guard let own = isOfDue ? dates.due?.days : (dates.planned ?? dates.due ?? dates.reminder ?? others.first)?.days
    else {
      planned = Moment(days: 0)
      self.begin = begin.map { Moment(days: $0.days - occurrence) }
      return
    }
    func distance(_ moment: Moment) -> Moment {
      let base = moment.days < end ? occurrence : own
      return Moment(days: moment.days == own ? 0 : moment.days - base, time: moment.time)
    }
    (planned, due, reminder) = (dates.planned.map(distance), dates.due.map(distance), dates.reminder.map(distance))
    self.begin = begin.map(distance)
    self.others = Set(others.map(distance))
    guard let last = [planned, due].compactMap({ $0?.days }).max() else { return }
    if let days = reminder?.days { reminder?.days = min(days, last) }
    self.others = Set(self.others.map { Moment(days: min($0.days, last), time: $0.time) })
  }

  /// Takes over what has changed of one task.
  mutating func adopt(_ new: TaskItem, replacing old: TaskItem, in zone: TimeZone) {
    guard let before = ModelSeries(of: old, in: zone), let after = ModelSeries(of: new, in: zone) else { return }
    if before.recurrence != after.recurrence { recurrence = after.recurrence }
    if before.start != after.start { start = after.start }
    if before.title != after.title { title = after.title }
    if before.notes != after.notes { notes = after.notes }
    if before.listID != after.listID { listID = after.listID }
    if before.priority != after.priority { priority = after.priority }
    if before.tags != after.tags { tags = after.tags }
    if before.attributes != after.attributes { attributes = after.attributes }
    if before.planned != after.planned { planned = after.planned }
    if before.due != after.due { due = after.due }
    if before.reminder != after.reminder { reminder = after.reminder }
    if before.begin != after.begin { begin = after.begin }
    if before.others != after.others || before.relative != after.relative {
      (others, relative) = (after.others, after.relative)
    }
  }

  /// The task at a place of the series.
  func task(at place: RecurrenceSeries, at now: Timestamp, in zone: TimeZone) -> TaskItem {
    let instants = others.compactMap { $0.instant(from: place.occurrence, in: zone) }
    let reminders = Array(relative) + instants.map { Reminder.at($0) }
    return TaskItem(
      id: place.taskID, title: title, notes: notes, scheduledDate: planned?.day(from: place.occurrence),
      dueDate: due?.instant(from: place.occurrence, in: zone),
      reminderDate: reminder?.instant(from: place.occurrence, in: zone), listID: listID, createdAt: now,
      dueDay: due?.time == nil ? due?.day(from: place.occurrence) : nil, priority: priority, tags: tags,
      recurrence: recurrence,
      series: RecurrenceSeries(id: place.id, start: start, occurrence: place.occurrence, index: place.index),
      attributes: attributes, otherReminders: ReminderSet(reminders),
      start: begin.map { .day($0.day(from: place.occurrence)) })
  }

  /// The place after a closed task, found day by day.
  func place(
    after place: RecurrenceSeries, closedOn day: CalendarDay, now: Timestamp, in zone: TimeZone
  ) -> RecurrenceSeries? {
    let place = RecurrenceSeries(id: place.id, start: start, occurrence: place.occurrence, index: place.index)
    guard case .rule = recurrence else { return place.next(by: recurrence, completedOn: day, today: day) }
    let today = CalendarDay(containing: now, in: zone)
    var next = place.next(by: recurrence, completedOn: day, today: place.occurrence)
    while let found = next {
      let task = task(at: found, at: now, in: zone)
      let hasPassed: Bool =
        if let due = task.dueDate {
          due < now
        } else if let due = task.dueDay {
          due < today
        } else if let reminder = task.reminderDate {
          reminder < now
        } else {
          task.scheduledDate.map { $0 < today } ?? false
        }
      let skipped = RecurrenceSeries(id: place.id, start: start, occurrence: found.occurrence, index: place.index)
      if !hasPassed { return found }
      next = skipped.next(by: recurrence, completedOn: day, today: found.occurrence)
    }
    return nil
  }
}

extension ModelSeries {
  /// A rule whose series moves to a day, found in its text: one that names a single day names that day.
  static func rule(_ recurrence: Recurrence, movedTo day: CalendarDay) -> Recurrence {
    guard case .rule(let rule) = recurrence else { return recurrence }
    let text = rule.text
    let isOpen = !text.contains("BY")
    if !isOpen, rule.occurrences(from: day).first(where: { _ in true }) == day { return recurrence }
    if let months = text.firstMatch(of: /BYMONTH=([0-9,]+)/)?.1.split(separator: ",").compactMap({ Int($0) }),
      !months.contains(day.month)
    {
      return recurrence
    }
    let length = (28...31).last { (try? CalendarDay(year: day.year, month: day.month, day: $0)) != nil } ?? 28
    var moved = text
    if let weekday = text.firstMatch(of: /BYDAY=(-?[0-9]*)[A-Z]{2}(;|$)/) {
      let (fromStart, fromEnd) = ((day.day + 6) / 7, -(length - day.day) / 7 - 1)
      let ordinal = weekday.1.isEmpty ? "" : weekday.1.hasPrefix("-") || fromStart == 5 ? "\(fromEnd)" : "\(fromStart)"
      let name = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"][day.weekday - 1]
      moved = text.replacing(/BYDAY=[^;]+/, with: "BYDAY=\(ordinal)\(name)")
    } else if rule.interval.unit == .month, isOpen && day.day > 28 || isOfOneMonthDay(text) {
      let parts = text.split(separator: ";").filter { !$0.hasPrefix("BYMONTHDAY") && !$0.hasPrefix("BYSETPOS") }
      let days = Array(28..<max(day.day, 28) + 1).map { "\($0)" }.joined(separator: ",")
      moved = parts.joined(separator: ";")
      switch day.day {
      case ...28: moved += ";BYMONTHDAY=\(day.day)"
      case 31: moved += ";BYMONTHDAY=-1"
      default: moved += ";BYMONTHDAY=\(days);BYSETPOS=-1"
      }
    } else if isOpen, rule.interval.unit == .year, (day.month, day.day) == (2, 29) {
      moved += ";BYMONTH=2;BYMONTHDAY=-1"
    }
    return (try? Recurrence(text: moved)) ?? recurrence
  }

  /// Whether a rule names one day of the month, or the last one where a month is too short for it.
  private static func isOfOneMonthDay(_ text: String) -> Bool {
    text.contains(/BYMONTHDAY=(-?[0-9]+|28,29(,30)?;BYSETPOS=-1)(;|$)/)
  }
}

extension ModelSeries.Moment {
  init(of day: CalendarDay) { self.init(days: Int64(day.dayNumber)) }

  init(of instant: Timestamp, in zone: TimeZone) {
    let day = CalendarDay(containing: instant, in: zone)
    let midnight = Int64(day.dayNumber) * 86_400_000_000
    self.init(days: Int64(day.dayNumber), time: instant.wallClock(in: zone).microsecondsSince1970 - midnight)
  }

  func day(from occurrence: CalendarDay) -> CalendarDay {
    CalendarDay(clamping: Int64(occurrence.dayNumber) + days)
  }

  /// The instant at which clocks show the time on the day; `nil` without a time.
  func instant(from occurrence: CalendarDay, in zone: TimeZone) -> Timestamp? {
    guard let time else { return nil }
    let clock = (Int64(occurrence.dayNumber) + days) * 86_400_000_000 + time
    return (try? Timestamp(microsecondsSince1970: clock)).map { Timestamp(wallClock: $0, in: zone) }
  }
}
