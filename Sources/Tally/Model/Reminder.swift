public import Foundation
public import TallyEngine

/// A reminder of a task: at an instant, or some time before the task is due or planned.
///
/// ```swift
/// let morning = try Timestamp(iso8601: "2026-12-01T08:00:00Z")
/// let reminders: ReminderSet = [.at(morning), .before(try RelativeReminder(daysBefore: 1))]
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

extension ReminderSet {
  /// The size of the stored form in bytes.
  var storedByteCount: Int { Reminder.Code.byteCount * count }
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

  /// The date from which a relative reminder of this task counts, unless it names one: the due date if there is one.
  package var reminderAnchor: RelativeReminder.Anchor? {
    dueDate != nil || dueDay != nil ? .due : scheduledDate != nil ? .scheduled : nil
  }

  /// Removes the reminder that is also ``reminderDate`` from the others, as a document may have it twice.
  package mutating func dropRepeatedReminder() {
    guard extrasBox != nil, let reminderDate, otherReminders.contains(.at(reminderDate)) else { return }
    let floating = self[.floatingReminders]
    otherReminders.remove(.at(reminderDate))
    if let floating { self[.floatingReminders] = floating }
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
