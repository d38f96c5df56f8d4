public import Foundation

/// A task written as one sentence, and the places of the words that were understood.
///
/// ```swift
/// let now = Timestamp.now()
/// let entry = QuickEntry.parse("Pay rent tomorrow 9am #home !high every month", calendar: .current, now: now)
/// entry.title                                    // "Pay rent"
/// entry.scheduledDate                            // tomorrow
/// entry.reminderDate                             // tomorrow at 9:00
/// entry.parts.map(\.kind)                        // [.schedule, .tag, .priority, .recurrence]
/// ```
///
/// A word that is not clearly a date stays in the title: a task with a wrong date is worse than one without. The
/// grammar and the rules are in <doc:CapturingTasks>.
public struct QuickEntry: Hashable, Sendable {
  /// The words that were not understood as something else; blank only if the whole sentence is.
  public internal(set) var title: String
  /// The day for which the task is planned.
  public internal(set) var scheduledDate: CalendarDay?
  /// The instant at which the task is due; never together with ``dueDay``.
  public internal(set) var dueDate: Timestamp?
  /// The day on which the task is due.
  public internal(set) var dueDay: CalendarDay?
  /// When to send a reminder.
  ///
  /// It may have passed already, as with `today 9am` in the afternoon: the sentence is not refused for it.
  public internal(set) var reminderDate: Timestamp?
  /// The tags, without `#`.
  public internal(set) var tags = TagSet()
  /// The priority.
  public internal(set) var priority = Priority.none
  /// The name of a list: one of the known lists if they were given, otherwise as in the sentence.
  public internal(set) var listName: String?
  /// How the task repeats.
  public internal(set) var recurrence: Recurrence?
  /// The words that were understood, in order.
  public internal(set) var parts: [Part] = []
  /// The words that look meaningful but set no field, in order; they stay in the title.
  ///
  /// An application shows them, so that nobody takes them for understood.
  public internal(set) var leftovers: [Leftover] = []

  /// Some words of a sentence that were understood.
  public struct Part: Hashable, Sendable {
    /// Where the words stand in the sentence.
    public let range: Range<String.Index>
    /// What the words give.
    public let kind: Kind

    /// Creates a part.
    public init(range: Range<String.Index>, kind: Kind) {
      self.range = range
      self.kind = kind
    }
  }

  /// What some words give.
  public enum Kind: String, Hashable, Sendable {
    /// The planned day, its time, or both.
    case schedule
    /// When the task is due.
    case due
    /// When to send a reminder.
    case reminder
    /// A tag.
    case tag
    /// The priority.
    case priority
    /// The list.
    case list
    /// How the task repeats.
    case recurrence
  }

  /// Some words of a sentence that were not understood, although they look like more than a title.
  public struct Leftover: Hashable, Sendable {
    /// Where the words stand in the sentence.
    public let range: Range<String.Index>
    /// Why they are left over.
    public let reason: Reason
  }

  /// Why some words are left over.
  public enum Reason: String, CaseIterable, Hashable, Sendable {
    /// A field that has a value already, as in `today tomorrow`.
    case repeated
    /// How long something takes, as in `for 1h`.
    case duration
    /// From when to when something takes place, as in `3pm-4pm`; the start was understood.
    case timeSpan
    /// A time that nobody knows: `someday`.
    case someday
    /// A recurrence that no rule has, as in `every 8 hours`, or several weekdays without `every`: `mon wed fri`.
    case recurrence
    /// A reminder some time before the task, as in `remind me 30m before`.
    case reminder
    /// A date that does not exist, or could be two.
    case date
  }
}

extension QuickEntry {
  /// Reads a sentence.
  ///
  /// - Parameters:
  ///   - text: The sentence.
  ///   - calendar: Gives the time zone, the first day of the week and, by its locale, the order of dates in digits.
  ///   - now: The present.
  ///   - lists: The names of the lists that exist, so that `for Work` and `list:Work` are understood exactly where
  ///     there is such a list. Without them, `list:` takes any name, and `for` a capitalized word after another
  ///     understood part.
  /// - Returns: The task. Nothing is refused: words that are not understood stay in the title. A text that
  ///   ``validate(_:)`` refuses becomes the title as a whole.
  /// - Complexity: linear in the length of the sentence.
  public static func parse(
    _ text: String, calendar: Calendar, now: Timestamp, lists: [String]? = nil
  ) -> QuickEntry {
    let order = calendar.locale.flatMap { DateOrder(of: $0) }
    return parse(text, reference: DateReference(now: now, calendar: calendar, dateOrder: order), lists: lists)
  }

  /// Reads a sentence, as ``parse(_:calendar:now:lists:)``, against a present whose `today` may be another day.
  public static func parse(_ text: String, reference: DateReference, lists: [String]? = nil) -> QuickEntry {
    guard (try? validate(text)) != nil else { return QuickEntry(title: text.trimmed) }
    var reference = reference
    reference.direction = .forward
    var parser = QuickEntryParser(text, reference: reference, lists: lists)
    return parser.read()
  }
}

extension QuickEntry {
  /// Checks that a text is no longer than a sentence may be: 65,536 bytes of UTF-8.
  ///
  /// - Throws: `valueOutOfRange`.
  public static func validate(_ text: String) throws(TallyError) {
    guard text.utf8.count <= longestText else {
      throw TallyError(
        .valueOutOfRange, "The sentence has more than \(longestText) bytes",
        remedy: "Shorten it, or add the text as it is, without reading dates and tags from it")
    }
  }

  /// Each word may take some microseconds to read, and nobody writes such a long sentence.
  private static let longestText = 1 << 16

  /// Sets what the sentence says about a task, except its title and its list; what it does not say stays.
  ///
  /// ```swift
  /// let entry = QuickEntry.parse("Pay rent friday #home", calendar: .current, now: .now())
  /// try await store.write { try $0.add(entry.title, to: .today, entry.fill) }  // on friday, not today
  /// ```
  ///
  /// - Parameter task: the task; one with defaults of its own, such as the day of the place where it was captured,
  ///   keeps those that the sentence does not mention.
  public func fill(_ task: inout TaskItem) {
    if let scheduledDate { task.scheduledDate = scheduledDate }
    if let dueDay { task.dueDay = dueDay }
    if let dueDate { task.dueDate = dueDate }
    if let reminderDate { task.reminderDate = reminderDate }
    for tag in tags { task.tags.insert(tag) }
    if priority != .none { task.priority = priority }
    if let recurrence { task.recurrence = recurrence }
  }
}
