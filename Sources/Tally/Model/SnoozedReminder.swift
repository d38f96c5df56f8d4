/// The reminder that an occurrence of a series had before it was put off or dismissed for this once.
///
/// An attribute of the task holds the series' reminder, a slash, and the reminder that replaced it. Either may be
/// empty. The next occurrence gets the series' reminder.
///
/// The attribute counts only while the task has the second reminder. If any program sets another reminder, or copies
/// the attribute to a task with another reminder, it no longer counts.
struct SnoozedReminder: Hashable, Sendable {
  /// The name of the attribute; it is stored and sent: do not change it.
  static let attributeName = "tally.snoozed"

  /// The reminder by the series; `nil` if the series gives none.
  let original: Timestamp?
  /// The reminder instead; `nil` if it was dismissed.
  let current: Timestamp?
}

extension SnoozedReminder {
  /// Reads what a task says; `nil` if its reminder is the one by the series.
  init?(of task: TaskItem) {
    guard task.extrasBox != nil, case .text(let text)? = task.attributes[Self.attributeName] else { return nil }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    let instants = parts.map { try? Timestamp(iso8601: String($0)) }
    guard parts.count == 2, zip(parts, instants).allSatisfy({ $0.isEmpty || $1 != nil }),
      instants[1] == task.reminderDate
    else { return nil }
    self.init(original: instants[0], current: instants[1])
  }

  /// Writes it into a task, unless its attributes leave no room for it: a reminder can be put off in any case.
  func store(in task: inout TaskItem) {
    let attributes = task.attributes
    guard original != current else { return task.attributes[Self.attributeName] = nil }
    task.attributes[Self.attributeName] = .text([original, current].map { $0?.iso8601 ?? "" }.joined(separator: "/"))
    if (try? AttributeValue.validate(task.attributes)) == nil { task.attributes = attributes }
  }
}

extension TaskItem {
  /// Whether the reminder of a repeating task was put off or dismissed once, so that the next task gets another one.
  public var isReminderSnoozed: Bool { SnoozedReminder(of: self) != nil }

  /// The attributes that people and applications have set: all but the note of a snooze.
  package var ownAttributes: [String: AttributeValue] {
    attributes.filter { $0.key != SnoozedReminder.attributeName }
  }

  /// Replaces the reminder for this once; the next occurrence gets the one that the series gives.
  mutating func snooze(until instant: Timestamp?) {
    let snooze = SnoozedReminder(of: self) ?? SnoozedReminder(original: reminderDate, current: reminderDate)
    reminderDate = instant
    SnoozedReminder(original: snooze.original, current: instant).store(in: &self)
  }

  /// Gives the task the reminder of the series again, for the next occurrence.
  mutating func endSnooze() {
    guard extrasBox != nil, attributes[SnoozedReminder.attributeName] != nil else { return }
    if let snooze = SnoozedReminder(of: self) { reminderDate = snooze.original }
    attributes[SnoozedReminder.attributeName] = nil
  }

  /// Forgets the reminder of the series where somebody has set another one since.
  mutating func dropOverwrittenSnooze(replacing old: TaskItem) {
    guard extrasBox != nil, reminderDate != old.reminderDate, attributes[SnoozedReminder.attributeName] != nil,
      !isReminderSnoozed
    else { return }
    attributes[SnoozedReminder.attributeName] = nil
  }
}
