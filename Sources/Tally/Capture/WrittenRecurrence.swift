public import TallyEngine

/// A recurrence as people write it, whose meaning depends on the day on which its series begins.
///
/// ```swift
/// let reference = DateReference(now: Timestamp.now(), calendar: .current)
/// let written = try WrittenRecurrence("every month starting 31 january", reference: reference)
/// var task = TaskItem(title: "Close the books", createdAt: Timestamp.now())
/// written.apply(to: &task, reference: reference) // planned for January 31, then for the last day of each month
/// ```
public struct WrittenRecurrence: Hashable, Sendable {
  /// The recurrence, before it is known when the series begins.
  public let recurrence: Recurrence
  /// The earliest day of the series, if the words name one.
  public let start: CalendarDay?
  /// Whether it is written as a rule of RFC 5545, whose meaning does not depend on the first day.
  private let isRule: Bool

  /// Reads a phrase of ``Recurrence/init(phrase:)``, in which dates need no year, and which may have a first day:
  /// `starting 1 march`, `starting next monday`, `from 1 april to 10 april`.
  ///
  /// - Throws: `invalidRecurrence` for any other text.
  public init(_ text: String, reference: DateReference) throws(TallyError) {
    isRule = text.contains("=")
    guard !isRule else {
      (recurrence, start) = (try Recurrence(text: text), nil)
      return
    }
    var phrase = RecurrencePhrase(text)
    (phrase.today, phrase.reference) = (reference.today, reference)
    let reading = try phrase.whole()
    (recurrence, start) = (try reading.recurrence(), reading.clauses.start)
  }

  /// The recurrence of a series that begins on a day.
  public func recurrence(beginningOn day: CalendarDay) -> Recurrence {
    isRule ? recurrence : recurrence.inWords(beginningOn: day)
  }
}

extension WrittenRecurrence {
  /// Makes a task repeat.
  ///
  /// A task without a day is planned for the first day of the recurrence from today on, or from the day that the words
  /// name. A new task with a planned day moves to the first day of the recurrence from that day on. If the words name
  /// an earlier day, the task's own day counts. Its other dates move along.
  ///
  /// - Parameters:
  ///   - task: The task.
  ///   - isNew: Whether the task is being added, so that its planned day is where the recurrence begins.
  ///   - reference: The present, and the zone.
  public func apply(to task: inout TaskItem, isNew: Bool = false, reference: DateReference) {
    apply(to: &task, isNew: isNew, hasOwnDay: isNew, reference: reference)
  }

  /// Makes a task repeat, as ``apply(to:isNew:reference:)`` does.
  ///
  /// - Parameters:
  ///   - task: The task.
  ///   - isNew: Whether the task is being added.
  ///   - hasOwnDay: Whether the task has just been given its day, so that the day counts if it is later than that of the
  ///     words.
  ///   - reference: The present, and the zone.
  package func apply(to task: inout TaskItem, isNew: Bool, hasOwnDay: Bool, reference: DateReference) {
    let own = task.ownFirstDay(in: reference.timeZone)
    let start = start.map { hasOwnDay ? max($0, own ?? $0) : $0 }
    let earliest = start ?? (isNew ? task.scheduledDate : nil) ?? (own == nil ? reference.today : nil)
    guard task.isOpen, let earliest, let first = recurrence.firstDay(onOrAfter: earliest) else {
      task.recurrence = recurrence(beginningOn: own ?? reference.today)
      // The transaction refuses a rule that has no day from there on.
      if task.isOpen, let start { task.scheduledDate = start }
      return
    }
    task.recurrence = recurrence(beginningOn: first)
    // The transaction itself plans a task that has a rule but no day, and knows that no person has written that day.
    if case .rule? = task.recurrence, own == nil, task.recurrence?.firstDay(onOrAfter: reference.today) == first {
      return
    }
    guard let own else { return task.scheduledDate = first }
    guard own != first else { return }
    let place = RecurrenceSeries(startingWith: task.id, on: own)
    let new = RecurrenceSeries(startingWith: task.id, on: first)
    let begin = task.start
    OccurrenceMove(from: place, to: new, by: recurrence, in: reference.timeZone).apply(toPart: &task)
    if begin == .someday { task.start = begin }
  }
}
