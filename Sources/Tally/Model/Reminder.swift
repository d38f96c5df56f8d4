public import Foundation
public import TallyEngine

/// A reminder of a task: at an instant, or some time before the task is due or planned.
///
/// ```swift
/// let reminders: ReminderSet = [.at(instant), .before(try RelativeReminder(daysBefore: 1))]
/// ```
public enum Reminder: Hashable, Sendable {
  /// At an instant.
  case at(Timestamp)
  /// Some time before the task is due, or before its planned day.
  case before(RelativeReminder)

  /// The instant, if it does not depend on the task.
  public var instant: Timestamp? { if case .at(let instant) = self { instant } else { nil } }

  /// The rule, if the instant depends on the task.
  public var relative: RelativeReminder? { if case .before(let relative) = self { relative } else { nil } }
}

/// A distance from the time at which a task is due, or from its planned day.
///
/// It is a distance in local time: one day before 10:00 is 10:00, whatever the clocks do in between. A day without a
/// time counts as 09:00, and so does a due time in the last second of a day, which stands for the whole day. The instant depends on the task and on the time zone of the person; see
/// ``TaskItem/reminderInstants(in:)``.
public struct RelativeReminder: Hashable, Sendable {
  /// What the distance is measured from.
  public enum Anchor: String, CaseIterable, Sendable {
    /// The due time or the due day.
    case due
    /// The planned day.
    case scheduled
  }

  /// What the distance is measured from.
  public let anchor: Anchor
  /// The days before it.
  public let days: Int
  /// The minutes before it, besides the days; zero with a time.
  public let minutes: Int
  /// The minute of the day at which to remind, if that is not the time of the anchor.
  public let minuteOfDay: Int?

  /// The maximum number of days.
  public static let maximumDays = 3_650
  /// The maximum number of minutes: those of a year.
  public static let maximumMinutes = 527_040

  /// Creates a distance.
  ///
  /// - Throws: `valueOutOfRange` for a negative or too large number, a minute outside the day, or minutes beside a minute
  ///   of the day.
  public init(
    daysBefore days: Int = 0, minutesBefore minutes: Int = 0, _ anchor: Anchor = .due, atMinute minuteOfDay: Int? = nil
  ) throws(TallyError) {
    guard (0...Self.maximumDays).contains(days), (0...Self.maximumMinutes).contains(minutes),
      minuteOfDay.map({ (0..<1_440).contains($0) && minutes == 0 }) ?? true
    else {
      throw TallyError(
        .valueOutOfRange, "The reminder is too far before the task, or its time does not exist",
        remedy: "Write at most \(Self.maximumDays) days, or a time as in '9:00 the day before'")
    }
    (self.anchor, self.days, self.minutes, self.minuteOfDay) = (anchor, days, minutes, minuteOfDay)
  }

  /// The instant for the dates of a task; `nil` if the task has no such date.
  func instant(due: Timestamp?, dueDay: CalendarDay?, planned: CalendarDay?, in timeZone: TimeZone) -> Timestamp? {
    let due = anchor == .due ? due : nil
    guard let day = due.map({ CalendarDay(containing: $0, in: timeZone) }) ?? (anchor == .due ? dueDay : planned) else {
      return nil
    }
    let earlier = CalendarDay(clamping: Int64(day.dayNumber) - Int64(days))
    guard let due, minuteOfDay == nil, !WallTime(at: due, in: timeZone).isLastSecondOfDay else {
      let minute = minuteOfDay ?? DateExpression.TimeOfDay.morning.minute
      return earlier.instant(atMinute: minute, in: timeZone).adding(seconds: -60 * Int64(minutes))
    }
    let instant = days == 0 ? due : due.moved(from: day, to: earlier, in: timeZone)
    return instant.adding(seconds: -60 * Int64(minutes))
  }
}

/// The reminders of a task besides its ``TaskItem/reminderDate``, without duplicates.
///
/// Those at an instant come first, in the order of time.
public struct ReminderSet: Hashable, Sendable {
  private var reminders: [Reminder] = []

  /// The maximum number of reminders of a task besides its ``TaskItem/reminderDate``.
  public static let maximumCount = 32

  /// Creates an empty set.
  public init() {}

  /// Creates a set of reminders; of equal ones, one is kept.
  public init(_ reminders: some Sequence<Reminder>) {
    self.reminders = Set(reminders).sorted { $0.code < $1.code }
  }

  /// Inserts a reminder.
  public mutating func insert(_ reminder: Reminder) { self = ReminderSet(reminders + [reminder]) }

  /// Removes a reminder, if the set has it.
  public mutating func remove(_ reminder: Reminder) { reminders.removeAll { $0 == reminder } }

  /// The first ones, as many as a task can have.
  package var allowed: ReminderSet { ReminderSet(prefix(Self.maximumCount)) }

  /// Checks that a task may have them.
  func validate() throws(TallyError) {
    guard count <= Self.maximumCount else {
      throw TallyError(
        .valueOutOfRange, "The task has \(count + 1) reminders", remedy: "Keep at most \(Self.maximumCount + 1)")
    }
  }
}

extension ReminderSet: RandomAccessCollection {
  /// The position of the first reminder.
  public var startIndex: Int { reminders.startIndex }
  /// The position after the last reminder.
  public var endIndex: Int { reminders.endIndex }
  /// The reminder at a position.
  public subscript(position: Int) -> Reminder { reminders[position] }
}

extension ReminderSet: ExpressibleByArrayLiteral {
  /// Creates a set of reminders; of equal ones, one is kept.
  public init(arrayLiteral elements: Reminder...) { self.init(elements) }
}

extension TaskItem {
  /// All reminders: the one at ``reminderDate`` and the ``otherReminders``.
  ///
  /// Setting them keeps ``reminderDate`` if it is among them; otherwise it becomes the earliest one at an instant.
  public var reminders: [Reminder] {
    get {
      let main = reminderDate.map { Reminder.at($0) }
      return (main.map { [$0] } ?? []) + otherReminders.filter { $0 != main }
    }
    set {
      var others = ReminderSet(newValue)
      if reminderDate.map({ others.contains(.at($0)) }) != true { reminderDate = others.first?.instant }
      if let reminderDate { others.remove(.at(reminderDate)) }
      if others != otherReminders { otherReminders = others }
    }
  }

  /// The instants of all reminders, ascending and without duplicates.
  ///
  /// - Parameter timeZone: The time zone of the person.
  /// - Returns: The instants, without those before a date that the task lacks.
  public func reminderInstants(in timeZone: TimeZone) -> [Timestamp] {
    // Nearly all tasks have at most one.
    guard extrasBox != nil, !otherReminders.isEmpty else { return reminderDate.map { [$0] } ?? [] }
    return Set(reminders.compactMap { instant(of: $0, in: timeZone) }).sorted()
  }

  /// The instant of a reminder; `nil` if it is before a date that the task does not have.
  public func instant(of reminder: Reminder, in timeZone: TimeZone) -> Timestamp? {
    switch reminder {
    case .at(let instant): instant
    case .before(let relative):
      relative.instant(due: dueDate, dueDay: dueDay, planned: scheduledDate, in: timeZone)
    }
  }

  /// The next reminder from an instant on, or the last one if all have passed; `nil` without reminders.
  public func nextReminder(from instant: Timestamp, in timeZone: TimeZone) -> Timestamp? {
    let instants = reminderInstants(in: timeZone)
    return instants.first { $0 >= instant } ?? instants.last
  }

  /// What a relative reminder of this task counts from, unless it says so: the due date if there is one.
  package var reminderAnchor: RelativeReminder.Anchor? {
    dueDate != nil || dueDay != nil ? .due : scheduledDate != nil ? .scheduled : nil
  }

  /// Removes the reminder that is also ``reminderDate`` from the others, as a document may have it twice.
  package mutating func dropRepeatedReminder() {
    guard extrasBox != nil, let reminderDate, otherReminders.contains(.at(reminderDate)) else { return }
    otherReminders.remove(.at(reminderDate))
  }
}

// The stored form: nine bytes, a kind and a number, in whose order the reminders are.

extension Reminder {
  /// The kind and the number of a stored reminder.
  struct Code: Hashable, Comparable {
    let kind: UInt8
    let number: UInt64

    static let byteCount = 9

    static func < (left: Code, right: Code) -> Bool { (left.kind, left.number) < (right.kind, right.number) }
  }

  private static let noTime: UInt64 = 0xFFFF

  var code: Code {
    switch self {
    case .at(let instant):
      return Code(kind: 0, number: UInt64(bitPattern: instant.microsecondsSince1970) ^ 1 << 63)
    case .before(let relative):
      let time = relative.minuteOfDay.map { UInt64($0) } ?? Self.noTime
      let number = UInt64(relative.days) << 48 | UInt64(relative.minutes) << 16 | time
      return Code(kind: relative.anchor == .due ? 1 : 2, number: number)
    }
  }

  /// Creates a reminder from its stored form; `nil` for a number that no reminder has.
  init?(_ code: Code) {
    switch code.kind {
    case 0:
      let microseconds = Int64(bitPattern: code.number ^ 1 << 63)
      let instant = Timestamp(clamping: microseconds)
      guard instant.microsecondsSince1970 == microseconds else { return nil }
      self = .at(instant)
    case 1, 2:
      let time = code.number & 0xFFFF
      guard
        let relative = try? RelativeReminder(
          daysBefore: Int(code.number >> 48), minutesBefore: Int(code.number >> 16 & 0xFFFF_FFFF),
          code.kind == 1 ? .due : .scheduled, atMinute: time == Self.noTime ? nil : Int(time))
      else { return nil }
      self = .before(relative)
    default: return nil
    }
  }
}

extension Reminder {
  /// The stored form of one reminder.
  package var storedBytes: [UInt8] { FieldValue.reminders([self]).storedBytes }

  /// Creates a reminder from its stored form; `nil` for other bytes.
  package init?(storedBytes bytes: [UInt8]) {
    guard let reminders = try? FieldValue(.reminders, storedBytes: bytes).reminders, reminders.count == 1 else {
      return nil
    }
    self = reminders[0]
  }
}
