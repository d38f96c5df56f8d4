public import Foundation
public import TallyEngine

/// A task written as one sentence, and the positions of the words that were understood.
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
/// rules are in <doc:CapturingTasks>.
///
/// ## Grammar
///
/// ```
/// sentence   = {word | quotation | "\" part | part}
/// part       = ["on" | "starting" | "@"] expression               the planned day and its time
///            | ("due" | "by" | "deadline") [":" | "on" | "by"] expression   when it is due
///            | ["from" | "between"] clock ("-" | "to" | "and") clock        the time at which it begins
///            | ("remind" | "reminder") ["me" | ":"] ["on"] expression
///            | ["repeat" | "due"] recurrence | "every" date | "every" name
///            | clause | ("until" | "ending") day | "from" day "to" day | "for" amount | "on" days   of the recurrence
///            | ("#" | "+" | "@") TAG
///            | ("!" | "p:" | "pri:" | "priority:") priority | "p1" | "p2" | "p3" | "p4"
///            | ("list:" | "project:" | "proj:") (NAME | '"' NAME '"') | "for" NAME
///            | "wait:" (day | "someday") | "someday"
///            | ["on"] ["the"] ORDINAL ["day" | WEEKDAY] ["of"] ("every" | "each") "month"
/// recurrence = a phrase of Recurrence, as in "every 2 weeks on monday", "every day except sunday" or "every! 3 days"
/// clause     = a clause of one, as in "10 times" or "except sundays", before or after it
/// priority   = "high" | "medium" | "med" | "low" | "none" | "1" | "2" | "3" | "4"
/// ```
public struct QuickEntry: Hashable, Sendable {
  /// The words that did not set another field; blank only if the whole sentence is blank.
  public internal(set) var title: String
  /// The day for which the task is planned.
  public internal(set) var scheduledDate: CalendarDay?
  /// The instant at which the task is due; never together with ``dueDay``.
  public internal(set) var dueDate: Timestamp?
  /// The day on which the task is due.
  public internal(set) var dueDay: CalendarDay?
  /// When to send a reminder.
  ///
  /// It may already have passed, as with `today 9am` in the afternoon; that is no reason to refuse the sentence.
  public internal(set) var reminderDate: Timestamp?
  /// Reminders before the task is due, or before its planned day, as in `friday remind me 1 day before`.
  public internal(set) var relativeReminders: [RelativeReminder] = []
  /// The tags, without `#`.
  public internal(set) var tags = TagSet()
  /// The priority.
  public internal(set) var priority = Priority.none
  /// The name of a list: one of the known lists if they were given, or else a name from the sentence.
  public internal(set) var listName: String?
  /// How the task repeats.
  public internal(set) var recurrence: Recurrence?
  /// When the task starts: until then it waits.
  public internal(set) var start: TaskStart?
  /// The words that were understood, in order.
  public internal(set) var parts: [Part] = []
  /// The words that look meaningful but set no field, in order; they stay in the title.
  ///
  /// An application should show them, so that nobody believes that they were understood.
  public internal(set) var leftovers: [Leftover] = []

  /// Some words of a sentence that set a field.
  public struct Part: Hashable, Sendable {
    /// The range of the words in the sentence.
    public let range: Range<String.Index>
    /// The field that the words set.
    public let kind: Kind

    /// Creates a part.
    public init(range: Range<String.Index>, kind: Kind) {
      self.range = range
      self.kind = kind
    }
  }

  /// The field that some words set.
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
    /// When the task starts.
    case start
  }

  /// Some words of a sentence that set no field, although they look like more than a title.
  public struct Leftover: Hashable, Sendable {
    /// The range of the words in the sentence.
    public let range: Range<String.Index>
    /// Why the words set no field.
    public let reason: Reason
  }

  /// Why some words set no field.
  public enum Reason: String, CaseIterable, Hashable, Sendable {
    /// The field already has a value, as in `today tomorrow`.
    case repeated
    /// A duration, as in `for 1h`.
    case duration
    /// A time span, as in `3pm-4pm`; its start was understood.
    case timeSpan
    /// An unknown time next to a date, as in `tomorrow someday`.
    case someday
    /// A recurrence that no rule can express, as in `every 90 minutes`, or several weekdays without `every`: `mon
    /// wed fri`. Also the part of a recurrence that is not understood, as in `every day until easter`.
    case recurrence
    /// A reminder some time before a date, if the sentence has no date in front of it, as in `call remind me 30m
    /// before`.
    case reminder
    /// A date that does not exist or is ambiguous.
    case date
  }
}

extension QuickEntry {
  /// Parses a sentence.
  ///
  /// - Parameters:
  ///   - text: The sentence.
  ///   - calendar: Provides the time zone, the first day of the week and, from its locale, the order of dates
  ///     in digits.
  ///   - now: The present.
  ///   - lists: The names of the existing lists, so that `for Work` and `list:Work` are understood exactly if
  ///     there is such a list. Without them, `list:` accepts any name, and `for` accepts a capitalized word
  ///     after another understood part.
  /// - Returns: The task. No sentence is refused: words that are not understood stay in the title. A text that
  ///   ``validate(_:)`` refuses becomes the title as a whole.
  /// - Complexity: Linear in the length of the sentence.
  public static func parse(
    _ text: String, calendar: Calendar, now: Timestamp, lists: [String]? = nil
  ) -> QuickEntry {
    let order = calendar.locale.flatMap { DateOrder(of: $0) }
    return parse(text, reference: DateReference(now: now, calendar: calendar, dateOrder: order), lists: lists)
  }

  /// Parses a sentence like ``parse(_:calendar:now:lists:)``, relative to a reference whose `today` may be another day.
  public static func parse(_ text: String, reference: DateReference, lists: [String]? = nil) -> QuickEntry {
    guard (try? validate(text)) != nil else { return QuickEntry(title: text.trimmed) }
    var reference = reference
    reference.direction = .forward
    var parser = QuickEntryParser(text, reference: reference, lists: lists)
    return parser.read()
  }
}

extension QuickEntry {
  /// Checks that a text is not longer than the maximum for a sentence, 65,536 bytes of UTF-8.
  ///
  /// - Throws: `valueOutOfRange`.
  public static func validate(_ text: String) throws(TallyError) {
    guard text.utf8.count <= longestText else {
      throw TallyError(
        .valueOutOfRange, "The sentence has more than \(longestText) bytes",
        remedy: "Shorten it, or add the text as it is, without reading dates and tags from it")
    }
  }

  /// The maximum size in bytes: each word can take some microseconds to parse, and nobody writes such a long sentence.
  private static let longestText = 1 << 16

  /// Sets the fields of a task that the sentence mentions, except its title and its list; the others stay as they are.
  ///
  /// ```swift
  /// let entry = QuickEntry.parse("Pay rent friday #home", calendar: .current, now: .now())
  /// try await store.write { try $0.add(entry.title, to: .today, entry.fill) }  // on friday, not today
  /// ```
  ///
  /// - Parameter task: The task. Its own defaults, such as the day of the place where it was captured, stay
  ///   unless the sentence mentions the field.
  public func fill(_ task: inout TaskItem) {
    if let scheduledDate { task.scheduledDate = scheduledDate }
    if let dueDay { task.dueDay = dueDay }
    if let dueDate { task.dueDate = dueDate }
    if let reminderDate { task.reminderDate = reminderDate }
    for reminder in relativeReminders { task.otherReminders.insert(.before(reminder)) }
    for tag in tags { task.tags.insert(tag) }
    if priority != .none { task.priority = priority }
    if let recurrence { task.recurrence = recurrence }
    if let start { task.start = start }
  }
}

/// The title that remains when the understood words are removed from a sentence.
struct QuickEntryTitle {
  /// The title; `nil` if nothing but punctuation remains.
  let text: String?

  /// Removes the parts of a sentence with the blanks around them, and escaping backslashes without their blanks.
  init(_ sentence: String, removing parts: [Range<String.Index>], and escapes: [Range<String.Index>]) {
    var title = ""
    var place = sentence.startIndex
    var escapes = escapes[...]
    for part in parts {
      title.join(Self.text(of: sentence, in: place..<part.lowerBound, without: &escapes))
      place = part.upperBound
    }
    title.join(Self.text(of: sentence, in: place..<sentence.endIndex, without: &escapes))
    if parts.first.map({ sentence[..<$0.lowerBound].allSatisfy(\.isWhitespace) }) ?? false {
      title = String(title.drop { $0.isWhitespace || Self.separators.contains($0) })
    }
    if parts.last.map({ sentence[$0.upperBound...].allSatisfy(\.isWhitespace) }) ?? false {
      title.removeSeparators()
    }
    let isEmpty = title.allSatisfy { $0.isWhitespace || $0.isPunctuation }
    text = isEmpty && !parts.isEmpty ? nil : title.trimmed
  }

  /// The text of a range without the escapes in it; also removes the escapes up to the range's end from the
  /// remaining ones, which are sorted.
  private static func text(
    of sentence: String, in range: Range<String.Index>, without escapes: inout ArraySlice<Range<String.Index>>
  ) -> String {
    var text = ""
    var place = range.lowerBound
    while let escape = escapes.first, escape.lowerBound < range.upperBound {
      escapes.removeFirst()
      guard range.contains(escape.lowerBound) else { continue }
      text += sentence[place..<escape.lowerBound]
      place = escape.upperBound
    }
    return text + sentence[place..<range.upperBound]
  }

  /// Punctuation that separates nothing when it is at the end of a title.
  fileprivate static let separators: Set<Character> = [",", ";", ":", "-", "–", "—"]
}

extension String {
  /// Appends a piece after one blank; without the blank if the piece begins with punctuation.
  fileprivate mutating func join(_ piece: String) {
    let trimmed = piece.trimmed
    guard let first = piece.first, !trimmed.isEmpty else { return }
    let isPunctuation = first.isPunctuation && first != "#"
    if isPunctuation { removeSeparators() }
    self += isEmpty || isPunctuation ? trimmed : " \(trimmed)"
  }

  /// Removes punctuation at the end, where it separates nothing.
  fileprivate mutating func removeSeparators() {
    while let last, last.isWhitespace || QuickEntryTitle.separators.contains(last) { removeLast() }
  }
}

/// Facts about each token of a sentence, computed before the sentence is parsed.
struct QuickEntryMarks {
  /// For each token, and for the end of the text, whether a part may end before it: at a blank, or at
  /// punctuation that ends a word.
  private(set) var isEnd: [Bool]
  /// For each token that opens a quotation, the index of the token that closes it; `nil` for other tokens, and
  /// for a quotation that is not closed.
  private(set) var closing: [Int?]

  init(_ tokens: [CaptureToken]) {
    isEnd = Array(repeating: true, count: tokens.count + 1)
    closing = Array(repeating: nil, count: tokens.count)
    var next: [String: Int] = [:]
    for index in tokens.indices.reversed() {
      let token = tokens[index]
      isEnd[index] = !token.isGlued || token.text == "#" || Self.endOfWord.contains(token.text) && isEnd[index + 1]
      if token.text == "\"" || token.text == "“" { closing[index] = next[token.text == "“" ? "”" : "\""] }
      if token.text == "\"" || token.text == "”" { next[token.text] = index }
    }
  }

  private static let endOfWord: Set = [".", ",", ";", ":", "!", "?", ")", "]", "…"]
}

/// The names of the existing lists by their first tokens, because any word of a sentence may begin the name of a list.
struct KnownListNames {
  private var names: [String: [String]] = [:]

  init(_ names: [String]) {
    for name in names {
      guard let first = CaptureToken.all(of: name).first?.text else { continue }
      self.names[first, default: []].append(name)
    }
  }

  /// The names that may begin at a token.
  func names(at token: CaptureToken) -> [String] { names[token.text] ?? [] }
}

/// The dates of a sentence, collected before they are resolved, because a time may belong to a day that comes later.
struct QuickEntryDates {
  var schedule = DateSlot()
  var due = DateSlot()
  var reminder = DateSlot()
  var relativeReminders: [WrittenReminder] = []
  var reading: RecurrencePhrase.Reading?
  /// Whether the days of the recurrence are those on which the task is due.
  var isRecurrenceOfDue = false
  /// How long the task repeats, in `for 3 weeks`.
  var span: DateExpression.Offset?
  /// Whether the planned day gets a reminder even without a time.
  var remindsOfDay = false

  var recurrence: Recurrence? { try? reading?.recurrence() }

  /// Whether relative reminders have something to count from.
  var hasDay: Bool { !schedule.isEmpty || !due.isEmpty || reading != nil }

  /// Stores a date or a recurrence, unless its field already has a value or the dates would not fit together.
  mutating func add(_ finding: QuickEntryParser.Finding, reference: DateReference) -> Bool {
    var changed = self
    let isNew =
      switch finding {
      case .schedule(let expression), .span(let expression): changed.schedule.add(expression)
      case .due(let expression): changed.due.add(expression)
      case .reminder(let expression): changed.reminder.add(expression)
      case .relativeReminders(let reminders): changed.add(reminders)
      case .recurrence(let reading, let expression, let isOfDue):
        self.reading == nil && changed.add(reading, expression, ofDue: isOfDue, reference: reference)
      case .clauses(let clauses): changed.add(clauses, reference: reference)
      case .days(let days): changed.add(days, reference: reference)
      case .lastDay(let day, let first): changed.add(lastDay: day, from: first, reference: reference)
      case .duration(let offset): changed.add(offset)
      case .tag, .priority, .list, .start: false
      }
    // A time on the planned day becomes the reminder, or else the due time: there is no third field for it.
    let hasReminder = !changed.reminder.isEmpty || !changed.relativeReminders.isEmpty
    guard isNew, !changed.schedule.hasTime || changed.due.isEmpty || !hasReminder else { return false }
    self = changed
    return true
  }

  private mutating func add(_ reminders: [WrittenReminder]) -> Bool {
    relativeReminders += reminders
    return relativeReminders.count <= ReminderSet.maximumCount && relativeReminders.allSatisfy { $0.isPossible }
  }

  private mutating func add(
    _ reading: RecurrencePhrase.Reading, _ expression: DateExpression?, ofDue isOfDue: Bool, reference: DateReference
  ) -> Bool {
    (self.reading, isRecurrenceOfDue) = (reading, isOfDue)
    var hasRoom = expression.map { schedule.add($0) } ?? true
    // `Every morning` has a time of its own only if no other is written.
    if case .time? = expression?.form { hasRoom = true }
    return hasRoom && (!isOfDue || due.isEmpty) && givesDay(reference)
  }

  /// Gives the recurrence another clause, if one rule can say both.
  private mutating func add(_ clauses: RecurrencePhrase.Clauses, reference: DateReference) -> Bool {
    reading?.clauses = clauses
    return reading?.isPossible ?? false && (clauses.end == .never || span == nil) && givesDay(reference)
  }

  /// Gives the recurrence its days, if it has none.
  private mutating func add(_ days: RecurrencePhrase.Days, reference: DateReference) -> Bool {
    guard reading?.repeats.days.isEmpty ?? false else { return false }
    reading?.repeats.days = days
    return reading?.isPossible ?? false && givesDay(reference)
  }

  /// Gives the recurrence an end, and perhaps a beginning, unless it already has one or would end before it begins.
  private mutating func add(lastDay: DateExpression, from first: DateExpression?, reference: DateReference) -> Bool {
    guard var clauses = reading?.clauses, clauses.end == .never, let day = try? lastDay.day(against: reference),
      day >= reference.today
    else { return false }
    clauses.end = .until(day)
    return (first.map { schedule.add($0) } ?? true) && add(clauses, reference: reference)
  }

  private mutating func add(_ offset: DateExpression.Offset) -> Bool {
    guard let clauses = reading?.clauses, clauses.end == .never, !clauses.followsCompletion, span == nil else {
      return false
    }
    span = offset
    return true
  }

  private func givesDay(_ reference: DateReference) -> Bool {
    recurrence?.firstDay(onOrAfter: reference.today) != nil
  }

  /// Lets the recurrence end after its duration, which begins on its first day.
  private mutating func endAfterSpan(reference: DateReference) {
    guard let span, let (_, last) = days(of: span, reference: reference) else { return }
    reading?.clauses.end = .until(last)
  }

  /// The first day of the recurrence, and the last one of a duration that begins on it.
  private func days(
    of span: DateExpression.Offset, reference: DateReference
  ) -> (first: CalendarDay, last: CalendarDay)? {
    let planned = try? schedule.day.map { try DateExpression(.day($0)).day(against: reference) }
    guard let first = recurrence?.firstDay(onOrAfter: planned ?? reference.today) else { return nil }
    var day = DateExpression.Day(.date(first))
    day.offset = day.offset.adding(span, times: 1).adding(.init(days: 1), times: -1)
    return (try? DateExpression(.day(day)).day(against: reference)).map { (first, $0) }
  }

  /// Whether the recurrence gives a second occurrence within a duration; in `every year for 2 weeks`, the duration is
  /// not an end, but says how long the task takes.
  func repeats(within span: DateExpression.Offset, reference: DateReference) -> Bool {
    guard case .rule(let rule)? = recurrence, rule.interval.unit != .hour,
      let (first, last) = days(of: span, reference: reference), let next = rule.next(after: first, from: first)
    else { return true }
    return next <= last
  }
}

/// Up to one day and one time, from one expression or from two.
struct DateSlot {
  private(set) var day: DateExpression.Day?
  private(set) var time: DateExpression.TimeOfDay?
  private(set) var instant: DateExpression?

  var isEmpty: Bool { day == nil && time == nil && instant == nil }
  var hasTime: Bool { time != nil || instant != nil }

  /// Stores an expression, unless the slot already has one of its kind.
  mutating func add(_ expression: DateExpression) -> Bool {
    switch expression.form {
    case .day(let new) where day == nil && instant == nil: day = new
    case .time(let new) where time == nil && instant == nil: time = new
    case .dayAndTime(let newDay, let newTime) where isEmpty: (day, time) = (newDay, newTime)
    case .sinceNow where isEmpty, .instant where isEmpty: instant = expression
    default: return false
    }
    return true
  }

  /// The combined expression; `nil` for an empty slot.
  var expression: DateExpression? {
    switch (day, time) {
    case (let day?, let time?): DateExpression(.dayAndTime(day, time))
    case (let day?, nil): DateExpression(.day(day))
    case (nil, let time?): DateExpression(.time(time))
    case (nil, nil): instant
    }
  }

  func resolved(against reference: DateReference) -> ResolvedDate? {
    expression.flatMap { try? $0.resolved(against: reference) }
  }
}

extension QuickEntryDates {
  /// Resolves the dates and stores them in an entry.
  mutating func apply(to entry: inout QuickEntry, reference: DateReference) {
    endAfterSpan(reference: reference)
    if remindsOfDay, schedule.isEmpty, !isRecurrenceOfDue { _ = schedule.add(DateExpression(.time(.morning))) }
    let start = start(against: reference)
    if !isRecurrenceOfDue { entry.scheduledDate = start?.day }
    switch onDay(due, start?.day, reference) {
    case .day(let day)?: entry.dueDay = day
    case .instant(let instant)?: entry.dueDate = instant
    case nil where isRecurrenceOfDue:
      entry.dueDate = start?.instant
      if start?.instant == nil { entry.dueDay = start?.day }
    case nil: break
    }
    let day = start?.day ?? entry.dueDay ?? entry.dueDate.map { CalendarDay(containing: $0, in: reference.timeZone) }
    switch onDay(reminder, day, reference) {
    case .day(let day)?: entry.reminderDate = day.morning(in: reference)
    case .instant(let instant)?: entry.reminderDate = instant
    case nil where remindsOfDay: entry.reminderDate = start?.instant ?? start?.day.morning(in: reference)
    case nil: entry.reminderDate = relativeReminders.isEmpty && !isRecurrenceOfDue ? start?.instant : nil
    }
    if !reminder.isEmpty || !relativeReminders.isEmpty, let instant = start?.instant { entry.dueDate = instant }
    let anchor: RelativeReminder.Anchor = entry.dueDate == nil && entry.dueDay == nil ? .scheduled : .due
    entry.relativeReminders = relativeReminders.compactMap { $0.reminder(of: anchor) }
    let first =
      entry.scheduledDate ?? day ?? entry.reminderDate.map { CalendarDay(containing: $0, in: reference.timeZone) }
    entry.recurrence = recurrence?.inWords(beginningOn: first ?? reference.today)
  }

  /// The planned day, and the time on it; a task that repeats by hours begins at the next full hour, or in the morning
  /// of a later day.
  private func start(against reference: DateReference) -> (day: CalendarDay, instant: Timestamp?)? {
    guard let planned = writtenStart(against: reference) else { return nil }
    guard let recurrence, recurrence.hours != nil, planned.instant == nil, !due.hasTime, !reminder.hasTime else {
      return planned
    }
    let hour = Int64(3_600_000_000)
    let wall = reference.now.wallClock(in: reference.timeZone).microsecondsSince1970
    let next = Timestamp(clamping: wall - (wall % hour + hour) % hour + hour)
    let day = CalendarDay(containing: next, in: .gmt)
    guard planned.day <= day, let first = recurrence.firstDay(onOrAfter: day) else {
      return (planned.day, planned.day.morning(in: reference))
    }
    return (first, first == day ? Timestamp(wallClock: next, in: reference.timeZone) : first.morning(in: reference))
  }

  private func writtenStart(against reference: DateReference) -> (day: CalendarDay, instant: Timestamp?)? {
    let resolved = schedule.resolved(against: reference)
    switch resolved {
    case .day(let day)?: return (recurrence?.firstDay(onOrAfter: day) ?? day, nil)
    case .instant(let instant)?:
      let day = CalendarDay(containing: instant, in: reference.timeZone)
      guard let time = schedule.time, let first = recurrence?.firstDay(onOrAfter: day), first != day else {
        return (day, instant)
      }
      return (first, first.instant(atMinute: time.minute, in: reference.timeZone))
    case nil:
      guard due.day == nil, due.instant == nil, let recurrence else { return nil }
      return recurrence.firstDay(onOrAfter: reference.today).map { ($0, nil) }
    }
  }

  /// The resolved date of a slot; if the slot has only a time, it is on the given day if there is one.
  private func onDay(_ slot: DateSlot, _ day: CalendarDay?, _ reference: DateReference) -> ResolvedDate? {
    guard slot.day == nil, let time = slot.time, let day else { return slot.resolved(against: reference) }
    return .instant(day.instant(atMinute: time.minute, in: reference.timeZone))
  }
}

extension CalendarDay {
  /// When a reminder without a time is due: one at midnight would wake people up.
  fileprivate func morning(in reference: DateReference) -> Timestamp {
    instant(atMinute: DateExpression.TimeOfDay.morning.minute, in: reference.timeZone)
  }
}
