// swift-format-ignore-file: UseShorthandTypeNames

public import Foundation
public import TallyEngine

/// A task: something to do, being done, done, or cancelled.
///
/// A value: changing it changes nothing in a store. `update` and the other methods of a write transaction check
/// the changes, store them and set ``updatedAt``.
public struct TaskItem: Identifiable, Hashable, Sendable {
  // The public initializer is in an extension, so that the compiler also synthesizes the memberwise one, which the
  // public one calls. `Optional<Value>`, unlike `Value?`, gives a property no default there, so that a forgotten
  // property does not compile. Assigning the properties one by one would cost a copy of the task each (Swift 6.3).

  /// The task's identity, which never changes; any UUID, a ``UUIDv7`` by default.
  public internal(set) var id: UUID
  /// What to do: any text that is not only white space, of any length.
  public var title: String
  /// Anything worth noting besides the title.
  public var notes: Optional<String>
  /// The task's progress.
  public var state: TaskState
  /// The day for which the task is planned.
  public var scheduledDate: Optional<CalendarDay>
  /// The instant by which the task should be done; setting it clears ``dueDay``.
  public var dueDate: Optional<Timestamp> {
    didSet { if dueDate != nil, extrasBox != nil { extras.dueDay = nil } }
  }
  /// The instant of the reminder.
  public var reminderDate: Optional<Timestamp>
  /// The list that holds the task.
  public var listID: Optional<UUID>
  /// The task's position among the tasks of the same place and state, ascending; within ``sortOrders``.
  public var sortOrder: Int64
  /// When the task was created.
  public var createdAt: Timestamp
  /// When the task was last changed.
  public var updatedAt: Timestamp
  /// When the task was completed, with the UTC offset in force there; present exactly if ``state`` is `completed`.
  public var completedAt: Optional<OffsetTimestamp>
  /// The fields that few tasks have; see ``extras``.
  var extrasBox: Optional<TaskExtras.Box>

  /// Whether the state is `completed`.
  public var isCompleted: Bool { state == .completed }
  /// Whether the state is `cancelled`.
  public var isCancelled: Bool { state == .cancelled }
  /// Whether nothing is left to do: the task is completed or cancelled.
  public var isClosed: Bool { state.isClosed }
  /// Whether something is left to do: the task is neither completed nor cancelled.
  public var isOpen: Bool { !state.isClosed }

  /// The sort orders that can be stored: the integers that every JSON reader represents exactly.
  public static let sortOrders: ClosedRange<Int64> = -9_007_199_254_740_991...9_007_199_254_740_991
}

extension TaskItem {
  /// Creates a task with the given values, which are not checked until ``validate()``.
  ///
  /// Without `updatedAt`, the task was last changed when it was created.
  public init(
    id: UUID = UUIDv7.next(),
    title: String,
    notes: String? = nil,
    state: TaskState = .notStarted,
    scheduledDate: CalendarDay? = nil,
    dueDate: Timestamp? = nil,
    reminderDate: Timestamp? = nil,
    listID: UUID? = nil,
    sortOrder: Int64 = 0,
    createdAt: Timestamp,
    updatedAt: Timestamp? = nil,
    completedAt: OffsetTimestamp? = nil,
    dueDay: CalendarDay? = nil,
    priority: Priority = .none,
    tags: TagSet = [],
    parentID: UUID? = nil,
    recurrence: Recurrence? = nil,
    series: RecurrenceSeries? = nil,
    attributes: [String: AttributeValue] = [:],
    cancelledAt: OffsetTimestamp? = nil,
    dependsOn: TaskIDSet = [],
    otherReminders: ReminderSet = [],
    start: TaskStart? = nil
  ) {
    let extras = TaskExtras(
      dueDay: dueDay, priority: priority, tags: tags, parentID: parentID, recurrence: recurrence, series: series,
      attributes: attributes, cancelledAt: cancelledAt, start: start, dependsOn: dependsOn,
      otherReminders: otherReminders)
    self.init(
      id: id, title: title, notes: notes, state: state, scheduledDate: scheduledDate, dueDate: dueDate,
      reminderDate: reminderDate, listID: listID, sortOrder: sortOrder, createdAt: createdAt,
      updatedAt: updatedAt ?? createdAt, completedAt: completedAt, extrasBox: TaskExtras.Box(extras))
  }
}

extension TaskItem {
  /// The calendar day by which the task should be done, in whatever time zone its owner is; setting it clears
  /// ``dueDate``.
  public var dueDay: CalendarDay? {
    get { extrasBox?.extras.dueDay }
    set {
      if newValue != nil { dueDate = nil }
      extras.dueDay = newValue
    }
  }

  /// How important the task is.
  public var priority: Priority {
    get { extrasBox?.extras.priority ?? .none }
    set { extras.priority = newValue }
  }

  /// The task's tags.
  public var tags: TagSet {
    get { extrasBox?.extras.tags ?? [] }
    set { extras.tags = newValue }
  }

  /// The task of which this task is a part; both are in the same list.
  public var parentID: UUID? {
    get { extrasBox?.extras.parentID }
    set { extras.parentID = newValue }
  }

  /// How the task repeats.
  public var recurrence: Recurrence? {
    get { extrasBox?.extras.recurrence }
    set { extras.recurrence = newValue }
  }

  /// The task's place in the series that its ``recurrence`` produces.
  public var series: RecurrenceSeries? {
    get { extrasBox?.extras.series }
    set { extras.series = newValue }
  }

  /// Fields that an application or a person has added, by name.
  public var attributes: [String: AttributeValue] {
    get { extrasBox?.extras.attributes ?? [:] }
    set { extras.attributes = newValue }
  }

  /// When the task was cancelled, with the UTC offset in force there; present exactly if ``state`` is `cancelled`.
  public var cancelledAt: OffsetTimestamp? {
    get { extrasBox?.extras.cancelledAt }
    set { if newValue != cancelledAt { extras.cancelledAt = newValue } }
  }

  /// When the task was completed or cancelled; `nil` for an open task.
  var closedAt: OffsetTimestamp? { completedAt ?? cancelledAt }

  /// The tasks that should be done before this one; see <doc:ViewsAndOrder#Tasks-that-wait-for-others>.
  ///
  /// It may name tasks that do not exist, such as deleted ones; these block nothing.
  public var dependsOn: TaskIDSet {
    get { extrasBox?.extras.dependsOn ?? [] }
    set { extras.dependsOn = newValue }
  }

  /// The reminders besides ``reminderDate``: further instants, and times before the task is due or planned.
  public var otherReminders: ReminderSet {
    get { extrasBox?.extras.otherReminders ?? [] }
    set { extras.otherReminders = newValue }
  }

  /// When the task starts; until then it waits, see ``isWaiting(on:)``.
  public var start: TaskStart? {
    get { extrasBox?.extras.start }
    set { extras.start = newValue }
  }
}

/// The fields that few tasks have.
///
/// A task stores them in one object, or in none: every reference in a task makes every copy more expensive, and
/// a view copies hundreds of tasks.
struct TaskExtras: Hashable, Sendable {
  var dueDay: CalendarDay?
  var priority = Priority.none
  var tags = TagSet()
  var parentID: UUID?
  var recurrence: Recurrence?
  var series: RecurrenceSeries?
  var attributes: [String: AttributeValue] = [:]
  var cancelledAt: OffsetTimestamp?
  var start: TaskStart?
  var dependsOn = TaskIDSet()
  var otherReminders = ReminderSet()
  var floating = Uncompared<FloatingTimes?>(value: nil)

  static let none = TaskExtras()

  /// An object whose values never change, so that copies of a task can share it.
  final class Box: Hashable, Sendable {
    let extras: TaskExtras

    /// Creates a box; `nil` if all fields are empty.
    init?(_ extras: TaskExtras) {
      if extras == .none { return nil }
      self.extras = extras
    }

    static func == (left: Box, right: Box) -> Bool {
      left === right || left.extras == right.extras
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(extras)
    }
  }
}

extension TaskExtras {
  /// The value of one of these fields; `nil` if the task does not have it.
  subscript(field: TaskField) -> FieldValue? {
    get {
      switch field {
      case .dueDay: dueDay.map { .day($0) }
      case .priority: priority == .none ? nil : .priority(priority)
      case .tags: tags.isEmpty ? nil : .tags(tags)
      case .parentID: parentID.map { .id($0) }
      case .recurrence: recurrence.map { .recurrence($0) }
      case .series: series.map { .series($0) }
      case .attributes: attributes.isEmpty ? nil : .attributes(attributes)
      case .cancelledAt: cancelledAt.map { .offsetInstant($0) }
      case .startDay: start?.day.map { .day($0) }
      case .dependsOn: dependsOn.isEmpty ? nil : .ids(dependsOn)
      case .reminders: otherReminders.isEmpty ? nil : .reminders(otherReminders)
      case .someday: start == .someday ? .flag(true) : nil
      default: nil
      }
    }
    set {
      switch field {
      case .dueDay: dueDay = newValue?.day
      case .priority: priority = newValue?.priority ?? .none
      case .tags: tags = newValue?.tags ?? []
      case .parentID: parentID = newValue?.id
      case .recurrence: recurrence = newValue?.recurrence
      case .series: series = newValue?.series
      case .attributes: attributes = newValue?.attributes ?? [:]
      case .cancelledAt: cancelledAt = newValue?.offsetInstant
      case .dependsOn: dependsOn = newValue?.ids ?? []
      case .reminders: otherReminders = newValue?.reminders ?? []
      // Clearing one of the two does not clear the other.
      case .startDay: start = newValue?.day.map { .day($0) } ?? (start == .someday ? start : nil)
      case .someday: start = newValue?.flag == true ? .someday : start == .someday ? nil : start
      default: assertionFailure("\(field) is not among the extras")
      }
    }
  }
}

extension TaskItem {
  /// The fields that few tasks have.
  var extras: TaskExtras {
    get { extrasBox?.extras ?? .none }
    set { extrasBox = TaskExtras.Box(newValue) }
  }
}

extension TaskItem {
  /// The instant after which an open task without a due day is overdue.
  var overdueDate: Timestamp? { dueDate ?? (dueDay == nil ? reminderDate : nil) }

  /// The day on which the task is due in a time zone; `nil` without a due date and a due day.
  public func dueDay(in timeZone: TimeZone) -> CalendarDay? {
    dueDay ?? dueDate.map { CalendarDay(containing: $0, in: timeZone) }
  }

  /// The first instant at which the task is overdue while it is open; `nil` if it never becomes overdue.
  ///
  /// It is after the due date, after the end of the due day in the time zone, or, without either, after the reminder.
  public func overdueStart(in timeZone: TimeZone) -> Timestamp? {
    guard let dueDay else { return overdueDate.map { $0.adding(microseconds: 1) } }
    return (try? dueDay.adding(days: 1))?.start(in: timeZone)
  }

  /// Whether the task is open and overdue.
  ///
  /// If clocks go back over midnight, a due day that begins again has not ended.
  public func isOverdue(at now: Timestamp, in timeZone: TimeZone) -> Bool {
    isOverdue(at: now, on: CalendarDay(containing: now, in: timeZone))
  }

  /// Whether the task is open and overdue, given the current day, as in views where days begin after midnight.
  ///
  /// - Parameters:
  ///   - now: The current instant, with which due dates and reminders are compared.
  ///   - today: The current day, with which due days are compared.
  /// - Returns: Whether it is overdue; false for a completed or cancelled task.
  public func isOverdue(at now: Timestamp, on today: CalendarDay) -> Bool {
    guard isOpen else { return false }
    return overdueDate.map { $0 < now } ?? dueDay.map { $0 < today } ?? false
  }
}

extension TaskItem {
  /// Gives a repeating task its place in a series, and removes the place of a task that does not repeat.
  ///
  /// A series begins when a recurrence is set, on the task's day. It goes on from that day when the recurrence is
  /// replaced, or when its first task gets a day only later.
  mutating func updateSeries(replacing old: TaskItem?, in calendar: Calendar) {
    guard extrasBox != nil else { return }
    guard let recurrence else { return series = nil }
    let day = firstDay(in: calendar)
    guard let place = series else { return series = RecurrenceSeries(startingWith: id, on: day) }
    let isReplaced = old?.recurrence != nil && old?.recurrence != recurrence
    let isLate = place.index == 0 && old?.hasDays == false && hasDays
    if isReplaced || isLate { begin(place, on: day) }
  }

  /// Lets the series go on from the task's day if a document has another rule with the place by the former one, and
  /// leaves it there when such a document is read again.
  mutating func keepRestart(replacing old: TaskItem, in calendar: Calendar) {
    guard let place = series, var former = old.series, place.start < place.occurrence || place.step > 0 else { return }
    if place == former, old.recurrence != recurrence { return updateSeries(replacing: old, in: calendar) }
    let isLater = former.start > place.start || former.start == place.start && former.step < place.step
    guard isLater, former.index == place.index, old.recurrence == recurrence else { return }
    former = RecurrenceSeries(
      id: former.id, start: place.start, occurrence: place.occurrence, index: former.index, step: place.step)
    if former == place { series = old.series }
  }

  /// Removes the step of a place whose recurrence has none, as a document may have it.
  mutating func dropStrayStep() {
    guard extrasBox != nil, let place = series, place.step != 0, recurrence?.hours == nil else { return }
    series = RecurrenceSeries(id: place.id, start: place.start, occurrence: place.occurrence, index: place.index)
  }

  /// Lets the series go on from a day, which becomes its first one.
  mutating func begin(_ place: RecurrenceSeries, on day: CalendarDay) {
    series = RecurrenceSeries(id: place.id, start: day, occurrence: day, index: place.index)
  }

  /// Lets the series go on from the task's day if a change meant for the series has moved that day, or the time of a rule
  /// for hours; a rule that names one day names the new one.
  mutating func moveSeries(from old: TaskItem, in timeZone: TimeZone) {
    // A day that is planned for a task that was only due leaves the day of the series where it is.
    let isOfDue = old.scheduledDate == nil && old.dueDay(in: timeZone) != nil
    func firstDay(of task: TaskItem) -> CalendarDay? {
      (isOfDue ? task.dueDay(in: timeZone) : nil) ?? task.ownFirstDay(in: timeZone)
    }
    guard extrasBox != nil, let place = series, place == old.series, let day = firstDay(of: self),
      day != firstDay(of: old) || recurrence?.hours != nil && timeOfStep != old.timeOfStep
    else { return }
    begin(place, on: day)
    if recurrence == old.recurrence { recurrence = recurrence?.moved(to: day) }
  }

  /// The instant that a rule for hours moves from one task to the next: when the task is due, or else its reminder.
  package var timeOfStep: Timestamp? { dueDate ?? reminderDate }

  /// Checks that a rule newly given to an open task gives a day and has not already ended, and that a rule for hours has a
  /// time.
  func checkRecurrence(replacing old: TaskItem?, today: CalendarDay, in timeZone: TimeZone) throws(TallyError) {
    guard extrasBox != nil, case .rule(let rule)? = recurrence, isOpen else { return }
    if rule.hours != nil, timeOfStep == nil, old?.recurrence != recurrence || old?.timeOfStep != nil {
      throw .invalidRecurrence(
        "A task that repeats by hours needs the time of the first one",
        remedy: "Give it a due time or a reminder, such as 'today 9:00'")
    }
    guard old?.recurrence != recurrence else { return }
    if case .until(let last) = rule.end, last < today {
      throw .invalidRecurrence(
        "The recurrence ended on \(last), before today (\(today))", remedy: "Give a later end (UNTIL), or none")
    }
    let own = ownFirstDay(in: timeZone)
    let first = own.map { rule.occurrences(from: $0).first { _ in true } } ?? recurrence?.firstDay(onOrAfter: today)
    guard first == nil else { return }
    throw .invalidRecurrence(
      "The recurrence never gives a day from \(own ?? today) on",
      remedy: "Check its days (there is no 30 February), what it leaves out, and that it ends after its first day")
  }

  /// Plans a task without a day for the first day of the rule that it has just been given.
  mutating func planFirstOccurrence(replacing old: TaskItem?, today: CalendarDay) {
    guard extrasBox != nil, case .rule? = recurrence, old?.recurrence != recurrence, isOpen, !hasDays else { return }
    scheduledDate = recurrence?.firstDay(onOrAfter: today)
  }

  private var hasDays: Bool { scheduledDate != nil || dueDay != nil || dueDate != nil || reminderDate != nil }

  /// The day of the first occurrence: the first of the task's days that is set, or the day of its creation.
  private func firstDay(in calendar: Calendar) -> CalendarDay {
    scheduledDate ?? dueDay ?? CalendarDay(containing: dueDate ?? reminderDate ?? createdAt, in: calendar)
  }

  /// The first of the task's days that is set; `nil` for a task without days.
  package func ownFirstDay(in timeZone: TimeZone) -> CalendarDay? {
    scheduledDate ?? dueDay ?? (dueDate ?? reminderDate).map { CalendarDay(containing: $0, in: timeZone) }
  }
}

extension TaskItem {
  /// Returns the same task to be done again: open, created now, and with another id.
  func again(withID id: UUID, at now: Timestamp) -> TaskItem {
    var task = self
    task.id = id
    task.state = .notStarted
    (task.completedAt, task.cancelledAt) = (nil, nil)
    (task.createdAt, task.updatedAt) = (now, now)
    // What had to be done before one occurrence need not be done again before the next.
    if !task.dependsOn.isEmpty { task.dependsOn = [] }
    return task
  }
}

extension TaskItem: Codable {
  /// Decodes a task in the form of an export, with the keys in any order; unknown keys are ignored.
  ///
  /// The rules of ``validate()`` are not checked.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: FieldKey.self)
    self.init(id: .lowest, title: "", createdAt: .earliest)
    for field in TaskField.all {
      let key = FieldKey(field)
      guard try container.contains(key) && !container.decodeNil(forKey: key) else {
        if field.isOptional { continue }
        throw DecodingError.keyNotFound(
          key, .init(codingPath: container.codingPath, debugDescription: "Every task has this field."))
      }
      self[field] = try container.decode(field.kind, forKey: key)
    }
    dropRepeatedReminder()
  }

  /// Encodes a task in the form of an export, without the fields that it does not have.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: FieldKey.self)
    for field in TaskField.all {
      if let value = documentValue(of: field) { try container.encode(value, forKey: FieldKey(field)) }
    }
  }
}

/// The name of a field as a coding key.
private struct FieldKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ field: TaskField) {
    stringValue = field.name.description
  }

  init?(stringValue: String) {
    self.stringValue = stringValue
  }

  init?(intValue: Int) {
    nil
  }
}

extension KeyedDecodingContainer {
  fileprivate func decode(_ kind: FieldKind, forKey key: Key) throws -> FieldValue {
    switch kind {
    case .text: .text(try decode(String.self, forKey: key))
    case .state: .state(try decode(TaskState.self, forKey: key))
    case .integer: .integer(try decode(Int64.self, forKey: key))
    case .instant: .instant(try decode(Timestamp.self, forKey: key))
    case .offsetInstant: .offsetInstant(try decode(OffsetTimestamp.self, forKey: key))
    case .day: .day(try decode(CalendarDay.self, forKey: key))
    case .id: .id(try decode(UUID.self, forKey: key))
    case .priority: .priority(try Priority(name: try decode(String.self, forKey: key)))
    case .tags: .tags(TagSet(try decode([String].self, forKey: key)))
    case .recurrence: .recurrence(try decode(Recurrence.self, forKey: key))
    case .series: .series(try decode(RecurrenceSeries.self, forKey: key))
    case .attributes: .attributes(try decode([String: AttributeValue].self, forKey: key))
    case .ids: .ids(TaskIDSet(try decode([IDText].self, forKey: key).map(\.id)))
    case .reminders: .reminders(ReminderSet(try decode([Reminder].self, forKey: key)))
    case .flag: .flag(try decode(Bool.self, forKey: key))
    }
  }
}

extension KeyedEncodingContainer {
  fileprivate mutating func encode(_ value: FieldValue, forKey key: Key) throws {
    switch value {
    case .text(let value): try encode(value, forKey: key)
    case .state(let value): try encode(value, forKey: key)
    case .integer(let value): try encode(value, forKey: key)
    case .instant(let value): try encode(value, forKey: key)
    case .offsetInstant(let value): try encode(value, forKey: key)
    case .day(let value): try encode(value, forKey: key)
    case .id(let value): try encode(value, forKey: key)
    case .priority(let value): try encode(value.name, forKey: key)
    case .tags(let value): try encode(Array(value), forKey: key)
    case .recurrence(let value): try encode(value.text, forKey: key)
    case .series(let value): try encode(value, forKey: key)
    case .attributes(let value): try encode(value, forKey: key)
    case .ids(let value): try encode(value.map(IDText.init), forKey: key)
    case .reminders(let value): try encode(Array(value), forKey: key)
    case .flag(let value): try encode(value, forKey: key)
    }
  }
}

extension TaskItem {
  /// The maximum size of the title and notes of one task in bytes: well below the 2 GiB at which liblmdb 0.9 fails.
  static let maximumTextByteCount = 1 << 30

  /// Checks the rules that every stored task obeys.
  ///
  /// - Throws: `blankTitle` if the title is only Unicode white space; `inconsistentTask` unless `completedAt`
  ///   is present exactly for a completed task and `cancelledAt` for a cancelled one, and for a due date together with
  ///   a due day or a recurrence without a series; `valueOutOfRange` for a sort order outside ``sortOrders``, or for a
  ///   title and notes of more than a gibibyte; `invalidRecurrence` for hours after a completion; `invalidTag`,
  ///   `invalidAttribute`, `invalidParent` for a task that is its own parent, or `invalidDependency` for one that
  ///   depends on itself or on more than 64 tasks.
  public func validate() throws(TallyError) {
    guard title.hasNonWhiteSpace else {
      throw TallyError(.blankTitle, "The title is empty", remedy: "Give the task a title")
    }
    if completedAt != nil, !isCompleted {
      throw TallyError(
        .inconsistentTask, "The task has a completion time but is not completed",
        remedy: "Set the state to completed, or leave the completion time out")
    }
    if completedAt == nil, isCompleted {
      throw TallyError(
        .inconsistentTask, "The task is completed but has no completion time",
        remedy: "Say when it was completed, or give another state")
    }
    guard (cancelledAt != nil) == isCancelled else {
      throw TallyError(
        .inconsistentTask,
        isCancelled
          ? "The task is cancelled but has no time of cancellation"
          : "The task has a time of cancellation but is not cancelled",
        remedy: "Give cancelledAt exactly for the state cancelled")
    }
    try Self.validate(sortOrder: sortOrder)
    guard title.utf8.count + (notes?.utf8.count ?? 0) <= Self.maximumTextByteCount else {
      throw TallyError(
        .valueOutOfRange, "The title and notes together take more than a gibibyte", remedy: "Shorten them")
    }
    if extrasBox != nil { try validateExtras() }
  }

  private func validateExtras() throws(TallyError) {
    if case .afterCompletion(let interval)? = recurrence, interval.unit == .hour {
      throw .invalidRecurrence("Hours are not counted from a completion", remedy: "Use a rule for hours, or days")
    }
    if dueDate != nil, dueDay != nil {
      throw TallyError(
        .inconsistentTask, "The task is due at an instant and on a day", remedy: "Give only one of the two")
    }
    if (recurrence == nil) != (series == nil) {
      throw TallyError(
        .inconsistentTask, "The task has a recurrence without a place in its series, or the other way round",
        remedy: "Give both, or neither")
    }
    if parentID == id {
      throw TallyError(.invalidParent, "The task is its own parent", remedy: "Give another parent, or none")
    }
    try tags.validate()
    try AttributeValue.validate(attributes)
    try dependsOn.validate(of: id)
    try otherReminders.validate()
  }

  static func validate(sortOrder: Int64) throws(TallyError) {
    guard sortOrders.contains(sortOrder) else {
      throw TallyError(
        .valueOutOfRange, "The sort order is not within 9007199254740991 either way", remedy: "Give a smaller number")
    }
  }
}

extension TaskList {
  /// Checks the rules that every stored list obeys.
  ///
  /// - Throws: `blankListName` if the name is only Unicode white space, `invalidColor` unless the colour is six
  ///   hexadecimal digits, `valueOutOfRange` for a sort order outside ``TaskItem/sortOrders``.
  public func validate() throws(TallyError) {
    guard name.hasNonWhiteSpace else {
      throw TallyError(.blankListName, "The name is empty", remedy: "Give the list a name")
    }
    // `Character.isHexDigit` would also accept full-width digits.
    guard colorHex.utf8.count == 6, colorHex.utf8.allSatisfy({ $0.hexDigitValue != nil }) else {
      throw TallyError(
        .invalidColor, "The colour is not six hexadecimal digits",
        remedy: "Write red, green and blue in hexadecimal, as in \(Self.defaultColorHex)")
    }
    try TaskItem.validate(sortOrder: sortOrder)
  }
}

extension String {
  /// Whether the text contains a scalar that is not white space in Unicode; false for the empty text.
  ///
  /// Tests scalars and not characters, because a combining mark may follow a space. NUL and the zero-width
  /// space are not white space by Unicode's property.
  fileprivate var hasNonWhiteSpace: Bool {
    // Nearly every text begins with a visible ASCII character; the properties of other scalars need a search.
    if let first = utf8.first, (0x21...0x7E).contains(first) { return true }
    return unicodeScalars.contains { !$0.properties.isWhitespace }
  }
}
