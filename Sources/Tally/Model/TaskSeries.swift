public import Foundation
public import TallyEngine

/// What the tasks of a series have in common, and when it repeats.
///
/// Each task of the series is made from it, never from the task before, so a change of one task concerns that task
/// alone. Its times are wall-clock times without a zone: nine in the morning is nine where the person is, and a time that
/// the clocks skip on one day is back on the next (RFC 5545, section 3.3.5).
public struct TaskSeries: Identifiable, Hashable, Sendable {
  /// The task of the first day, as if nobody had changed it; its instants are wall-clock times, written as in UTC.
  package private(set) var template: TaskItem
  /// How the tasks repeat.
  public private(set) var recurrence: Recurrence
  /// The day of the first task: `DTSTART` of RFC 5545.
  public private(set) var start: CalendarDay
  /// The name of the zone of the series' times; `nil` for the zone of the person.
  public package(set) var timeZoneIdentifier: String?
  /// The days that a person has left out, ascending.
  public package(set) var skippedDays: [CalendarDay]

  /// The id of the first task.
  public var id: UUID { template.id }
  /// When the series was last changed.
  public var updatedAt: Timestamp { template.updatedAt }

  /// The time of day of the tasks, that of the due date or else of the reminder: `09:00`, `09:00:30`; `nil` for none.
  public var time: String? {
    guard let instant = template.dueDate ?? template.reminderDate else { return nil }
    let text = instant.iso8601.drop { $0 != "T" }.dropFirst().dropLast()
    return String(text.hasSuffix(":00") ? text.dropLast(3) : text)
  }

  /// Creates a series from parts that were stored or sent; `nil` unless the template repeats and is a possible task.
  package init?(template: TaskItem, timeZoneIdentifier: String? = nil, skippedDays: [CalendarDay] = []) {
    guard let recurrence = template.recurrence, let place = template.series, place.id == template.id,
      (try? template.validate()) != nil
    else { return nil }
    (self.template, self.recurrence, start) = (template, recurrence, place.start)
    (self.timeZoneIdentifier, self.skippedDays) = (timeZoneIdentifier, skippedDays)
  }

  /// Creates the same series with another template; `nil` unless the template repeats and is a possible task.
  package init?(template: TaskItem, replacing old: TaskSeries) {
    self.init(template: template, timeZoneIdentifier: old.timeZoneIdentifier, skippedDays: old.skippedDays)
  }

  /// The zone of the series' times, or that of the person.
  func timeZone(or zone: TimeZone) -> TimeZone {
    timeZoneIdentifier.flatMap { TimeZone(identifier: $0) } ?? zone
  }

  /// The series that a task describes by its own values; `nil` if it does not repeat.
  ///
  /// It is what the tasks of earlier versions and of documents belong to, until somebody changes one of them.
  package init?(describedBy task: TaskItem, in timeZone: TimeZone) {
    guard let recurrence = task.recurrence, let place = task.series else { return nil }
    var template = task.again(withID: place.id, at: task.createdAt)
    template.endSnooze()
    template.convertInstants { $0.wallClock(in: timeZone) }
    template.endFloating()
    let first = RecurrenceSeries(startingWith: place.id, on: place.start)
    if let hours = recurrence.hours {
      template.moveDates(from: place, to: first, stepsOfHours: hours)
    } else {
      OccurrenceMove(from: place, to: first, by: recurrence, in: .gmt).apply(to: &template)
    }
    template.updatedAt = task.updatedAt
    (template.series, template.parentID, template.sortOrder) = (first, nil, 0)
    self.init(template: template)
  }
}

extension TaskSeries {
  /// Makes the task at a place in the series.
  ///
  /// - Parameters:
  ///   - place: The place.
  ///   - zone: The zone of the person.
  ///   - now: When the task is created.
  /// - Returns: The task, without the parent that the others have.
  package func task(at place: RecurrenceSeries, in zone: TimeZone, createdAt now: Timestamp) -> TaskItem {
    let local = local(at: place).again(withID: place.taskID, at: now)
    var task = local
    task.convertInstants { Timestamp(wallClock: $0, in: timeZone(or: zone)) }
    if timeZoneIdentifier == nil { task.float(at: local) }
    task.series = self.place(like: place)
    return task
  }

  /// The first task with the dates of a place, whose instants are wall-clock times.
  package func local(at place: RecurrenceSeries) -> TaskItem {
    var task = template
    task.moveDates(from: RecurrenceSeries(startingWith: id, on: start), to: place, stepsOfHours: recurrence.hours)
    return task
  }

  /// The place with the start of this series.
  private func place(like place: RecurrenceSeries, index: Int? = nil) -> RecurrenceSeries {
    RecurrenceSeries(
      id: id, start: start, occurrence: place.occurrence, index: index ?? place.index,
      step: recurrence.hours == nil ? 0 : place.step)
  }

  /// The steps of a series that repeats by hours, which begin at the time of the first task; `nil` for any other series.
  private var steps: HourlySteps? {
    guard case .rule(let rule) = recurrence, rule.hours != nil else { return nil }
    let day: Int64 = 86_400_000_000
    let time = (template.timeOfStep?.microsecondsSince1970 ?? 0) % day
    return HourlySteps(of: rule, from: start, atSecond: Int((time + day) % day / 1_000_000))
  }

  /// Returns the place that the rule gives after another one, whether or not its time has passed.
  ///
  /// - Returns: The place; `nil` if the series has ended, and after completion.
  package func next(after place: RecurrenceSeries) -> RecurrenceSeries? {
    guard case .rule(let rule) = recurrence else { return nil }
    guard let steps else {
      return rule.next(after: place.occurrence, from: start).map {
        RecurrenceSeries(id: id, start: start, occurrence: $0, index: place.index + 1)
      }
    }
    return self.place(like: place).next(by: steps)
  }

  /// The rule with which the series goes on from the day of one of its tasks: of a number of tasks, those that are left.
  ///
  /// - Parameters:
  ///   - rule: The rule by which it goes on.
  ///   - place: The place of the task.
  ///   - day: The day from which it goes on: that of the task, or one to which the task moves.
  /// - Returns: The rule; `nil` if it does not give the day and no task follows.
  package func rest(of rule: RecurrenceRule, at place: RecurrenceSeries, from day: CalendarDay) -> RecurrenceRule? {
    guard case .count(let limit) = rule.end, case .rule(let own) = recurrence else { return rule }
    let passed = steps.map { $0.number(of: place.step) } ?? own.countOfDays(from: start, to: place.occurrence)
    // A day that the rule does not give is not counted by it.
    let isGiven = rule.hours != nil || rule.countOfDays(from: day, to: day) == 1
    let rest = limit - passed + (isGiven ? 1 : 0)
    var left = rule
    left.end = .count(rest)
    return rest > 0 ? left : nil
  }

  /// Returns the place after another one, of the task that follows when that one is closed.
  ///
  /// By a rule, it is the rule's first day or hour after the other one whose time has not passed, and which is not left
  /// out: those in between are skipped, so that they do not pile up. After completion, it is one interval after the day on
  /// which the task was closed, even if that day has passed. The index, and so the id of the task, does not depend on when
  /// it is closed.
  ///
  /// - Parameters:
  ///   - place: The place of the closed task.
  ///   - day: The local day on which it was closed.
  ///   - now: The current time, in the zone of the person.
  /// - Returns: The place; `nil` if the series has ended.
  /// - Complexity: That of ``RecurrenceRule/next(after:from:)``.
  func place(
    after place: RecurrenceSeries, closedOn day: CalendarDay, at now: DateReference
  ) -> RecurrenceSeries? {
    let closed = place
    let place = self.place(like: closed)
    guard case .rule = recurrence else {
      return place.next(by: recurrence, completedOn: day, today: now.today)
    }
    // A task that is due days after its occurrence has not passed with the occurrence.
    let reminder = template.reminderDate.map { CalendarDay(containing: $0, in: .gmt) }
    let last = [template.scheduledDate, template.dueDay(in: .gmt), reminder, start].compactMap(\.self).max() ?? start
    let earliest = CalendarDay(clamping: Int64(now.today.dayNumber) - Int64(last.dayNumber - start.dayNumber) - 1)
    var next: RecurrenceSeries?
    if let steps {
      // A series that has begun elsewhere has other steps.
      let isKnown = closed.start == start
      let last = RecurrenceSeries(
        id: id, start: start, occurrence: place.occurrence, index: place.index, step: isKnown ? place.step : -1)
      next = last.next(by: steps, notBefore: isKnown ? earliest : max(earliest, place.occurrence))
    } else {
      next = place.next(by: recurrence, completedOn: day, today: earliest)
    }
    let task = task(at: place, in: now.timeZone, createdAt: now.now)
    while let found = next, skippedDays.contains(found.occurrence) || hasPassed(found, after: task, at: now) {
      next = self.next(after: found).map { self.place(like: $0, index: found.index) }
    }
    return next
  }

  /// Whether it is too late for the task at a place: it would be overdue, or planned for a day before today.
  ///
  /// By hours, two steps that the clocks put at one instant, as one of them is skipped, are one.
  private func hasPassed(_ place: RecurrenceSeries, after closed: TaskItem, at now: DateReference) -> Bool {
    let task = task(at: place, in: now.timeZone, createdAt: now.now)
    if recurrence.hours != nil, let time = task.timeOfStep { return time < now.now || time == closed.timeOfStep }
    if task.overdueDate != nil || task.dueDay != nil { return task.isOverdue(at: now.now, on: now.today) }
    return task.scheduledDate.map { $0 < now.today } ?? false
  }
}

extension TaskSeries {
  /// Takes over what a person has changed of one task, for the tasks that follow it.
  ///
  /// Of the days that are left out, those stay that the recurrence gives, from the start on.
  ///
  /// - Parameters:
  ///   - task: The task as changed; with another start of its series, all dates keep their distance to the start.
  ///   - old: The task before.
  ///   - zone: The zone of the person.
  mutating func adopt(_ task: TaskItem, replacing old: TaskItem, in zone: TimeZone) {
    let zone = timeZone(or: zone)
    guard let former = TaskSeries(describedBy: old, in: zone), let new = TaskSeries(describedBy: task, in: zone) else {
      return
    }
    var (before, after) = (former.template, new.template)
    // Another open task of the series may have another rule or start, which this change leaves.
    if new.start != former.start {
      template.moveDates(byDays: Int64(new.start.dayNumber) - Int64(start.dayNumber))
      (start, template.series) = (new.start, new.template.series)
    }
    if task.recurrence != old.recurrence { recurrence = new.recurrence }
    if task.recurrence != old.recurrence || new.start != former.start {
      skippedDays = skippedDays.filter { gives($0) }
    }
    before.moveDates(byDays: Int64(start.dayNumber) - Int64(former.start.dayNumber))
    after.moveDates(byDays: Int64(start.dayNumber) - Int64(new.start.dayNumber))
    for field in Self.commonFields where !before.hasSame(field, as: after) { template[field] = after[field] }
    template.updatedAt = task.updatedAt
  }

  /// Whether the recurrence gives a day.
  private func gives(_ day: CalendarDay) -> Bool {
    guard case .rule(let rule) = recurrence, day >= start else { return false }
    return rule.next(after: CalendarDay(clamping: Int64(day.dayNumber) - 1), from: start) == day
  }

  /// The fields that a series gives its tasks; the others belong to each task.
  static let commonFields: [TaskField] = [
    .text, .notes, .scheduledDate, .dueDate, .dueDay, .reminderDate, .listID, .priority, .tags, .recurrence,
    .attributes, .reminders, .startDay,
  ]

  /// Whether another series makes the same tasks, whenever either was changed.
  ///
  /// After completion, the day on which a series began makes no difference.
  package func makesSameTasks(as other: TaskSeries) -> Bool {
    var other = other
    other.touch(at: updatedAt)
    if case .afterCompletion = recurrence, other.start != start {
      other.template.moveDates(byDays: Int64(start.dayNumber) - Int64(other.start.dayNumber))
      (other.start, other.template.series) = (start, template.series)
    }
    return self == other
  }

  /// Sets the time of the last change.
  package mutating func touch(at time: Timestamp) { template.updatedAt = time }

  /// Moves the dates along, after the series got another start.
  package mutating func moveDates(from former: CalendarDay) {
    template.moveDates(byDays: Int64(start.dayNumber) - Int64(former.dayNumber))
  }

  /// Puts the tasks to come into another list.
  mutating func move(toList id: UUID?) { template.listID = id }
}

/// Moves the sub-tasks of a task of a series along with it, in local time.
///
/// The copies have wall-clock times of their own, so that a time which the clocks skip on one day is back on the next.
struct PartMove {
  private let move: OccurrenceMove
  private let old: RecurrenceSeries
  private let new: RecurrenceSeries
  private let hours: Int?
  private let zone: TimeZone
  private let isFloating: Bool

  /// The occurrence from which the sub-tasks move.
  var occurrence: CalendarDay { old.occurrence }

  init(from old: RecurrenceSeries, to new: RecurrenceSeries, of series: TaskSeries, in zone: TimeZone) {
    move = OccurrenceMove(from: old, to: new, by: series.recurrence, in: .gmt)
    (self.old, self.new, hours) = (old, new, series.recurrence.hours)
    (self.zone, isFloating) = (series.timeZone(or: zone), series.timeZoneIdentifier == nil)
  }

  /// Moves the dates of a sub-task.
  func apply(to task: inout TaskItem) {
    task.endSnooze()
    let times = task.floating
    var local = task
    local.endFloating()
    local.convertInstants { $0.wallClock(in: zone) }
    if let due = times?.due { local.dueDate = due.local }
    if let reminder = times?.reminder { local.reminderDate = reminder.local }
    if let reminders = times?.reminders { local.otherReminders = reminders.local }
    if let hours {
      local.moveDates(from: old, to: new, stepsOfHours: hours)
    } else {
      move.apply(toPart: &local)
    }
    task = local
    task.convertInstants { Timestamp(wallClock: $0, in: zone) }
    if isFloating { task.float(at: local) }
  }
}

extension TaskItem {
  /// Moves the days from one place of a series to another, and the instants by the steps between them, or by whole days.
  fileprivate mutating func moveDates(
    from old: RecurrenceSeries, to new: RecurrenceSeries, stepsOfHours hours: Int?
  ) {
    moveDates(
      byDays: Int64(new.occurrence.dayNumber) - Int64(old.occurrence.dayNumber),
      hours: hours.map { Int64($0 * (new.step - old.step)) })
  }

  /// Moves the days by a number of days, and the instants by a number of hours, or by whole days of 24 hours.
  fileprivate mutating func moveDates(byDays count: Int64, hours: Int64? = nil) {
    guard count != 0 || hours ?? 0 != 0 else { return }
    func moved(_ day: CalendarDay) -> CalendarDay { CalendarDay(clamping: Int64(day.dayNumber) + count) }
    scheduledDate = scheduledDate.map(moved)
    if let dueDay { self.dueDay = moved(dueDay) }
    if let day = start?.day { start = .day(moved(day)) }
    convertInstants { $0.adding(seconds: hours.map { 3_600 * $0 } ?? 86_400 * count) }
  }

  /// Whether a field has the same value, byte for byte, in another task.
  func hasSame(_ field: TaskField, as other: TaskItem) -> Bool {
    guard case .text(let mine)? = self[field], case .text(let others)? = other[field] else {
      return self[field] == other[field]
    }
    return mine.utf8.elementsEqual(others.utf8)
  }

  /// Replaces the instants at which it is due and at which it reminds.
  fileprivate mutating func convertInstants(_ convert: (Timestamp) -> Timestamp) {
    if let dueDate { self.dueDate = convert(dueDate) }
    reminderDate = reminderDate.map(convert)
    if extrasBox != nil, !otherReminders.isEmpty { otherReminders = otherReminders.movingInstants(convert) }
  }
}

extension TaskSeries: Codable {
  private enum CodingKeys: String, CodingKey { case task, timeZone, skippedDays }

  /// Decodes a stored series.
  ///
  /// - Throws: `DecodingError` also for a task that is not the template of a series.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let zone = try container.decodeIfPresent(String.self, forKey: .timeZone)
    let series = TaskSeries(
      template: try container.decode(TaskItem.self, forKey: .task),
      timeZoneIdentifier: zone,
      skippedDays: try container.decodeIfPresent([CalendarDay].self, forKey: .skippedDays) ?? [])
    guard let series else {
      throw DecodingError.dataCorruptedError(
        forKey: .task, in: container, debugDescription: "The task does not repeat, or is not a possible one.")
    }
    self = series
  }

  /// Encodes the series as it is stored: its task with wall-clock times, its zone and the days left out.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(template, forKey: .task)
    try container.encodeIfPresent(timeZoneIdentifier, forKey: .timeZone)
    if !skippedDays.isEmpty { try container.encode(skippedDays, forKey: .skippedDays) }
  }
}
