import Foundation
import LMDB
import TallyEngine

/// A filter resolved for a store and a moment: a tree of conditions, which read records in place.
indirect enum RecordPredicate: Hashable {
  case constant(Bool)
  case condition(RecordCondition)
  case not(RecordPredicate)
  case all([RecordPredicate])
  case any([RecordPredicate])

  /// The operands of a conjunction; for any other predicate, the predicate itself.
  var conjuncts: [RecordPredicate] {
    if case .all(let operands) = self { operands } else { [self] }
  }

  /// The last tag of the fields that the conditions read.
  var lastTag: UInt8 { reduce(0) { max($0, $1.lastTag) } }

  private var cost: Int { reduce(0) { $0 + $1.cost } }

  /// Combines the conditions of the predicate, in their order.
  func reduce<Result>(_ initial: Result, _ combine: (Result, RecordCondition) -> Result) -> Result {
    switch self {
    case .constant: initial
    case .condition(let condition): combine(initial, condition)
    case .not(let operand): operand.reduce(initial, combine)
    case .all(let operands), .any(let operands): operands.reduce(initial) { $1.reduce($0, combine) }
    }
  }

  /// The negation of the predicate.
  var negated: RecordPredicate {
    switch self {
    case .constant(let value): .constant(!value)
    // An index can find given states, but not all states except some.
    case .condition(.states(let states)): .condition(.states(~states & RecordCondition.allStates))
    case .not(let operand): operand
    default: .not(self)
    }
  }

  /// The same predicate with cheap operands first.
  var ordered: RecordPredicate {
    switch self {
    case .constant, .condition: self
    case .not(let operand): .not(operand.ordered)
    case .all(let operands): .all(operands.map(\.ordered).sorted { $0.cost < $1.cost })
    case .any(let operands): .any(operands.map(\.ordered).sorted { $0.cost < $1.cost })
    }
  }
}

/// Converts filters to conditions of records, given a moment, a calendar and the names of the lists.
struct FilterResolution {
  private let reference: DateReference
  private let lists: [TaskList]
  /// Whether any task may depend on another one; if not, none is blocked, and records need not be read for it.
  private let hasDependencies: Bool

  init(_ reference: DateReference, lists: [TaskList], hasDependencies: Bool = true) {
    self.reference = reference
    self.lists = lists
    self.hasDependencies = hasDependencies
  }

  /// Resolves a filter.
  ///
  /// - Throws: `invalidFilter`; `listNotFound` for a list that does not exist; `valueOutOfRange` for a date
  ///   outside the years 1 to 9999.
  func predicate(_ filter: TaskFilter) throws(TallyError) -> RecordPredicate {
    try filter.validate()
    return try predicate(filter.root).ordered
  }

  private func predicate(_ node: FilterNode) throws(TallyError) -> RecordPredicate {
    switch node {
    case .constant(let value): return .constant(value)
    case .condition(let condition): return try predicate(condition)
    case .not(let operand): return try predicate(operand).negated
    case .and(let operands): return .all(try predicates(operands))
    case .or(let operands): return .any(try predicates(operands))
    case .tooDeep: return .constant(false)
    }
  }

  private func predicates(_ nodes: [FilterNode]) throws(TallyError) -> [RecordPredicate] {
    var predicates: [RecordPredicate] = []
    for node in nodes { predicates.append(try predicate(node)) }
    return predicates
  }

  private func predicate(_ condition: FilterCondition) throws(TallyError) -> RecordPredicate {
    switch condition {
    case .list(let list): return .condition(try resolved(list))
    case .tag(let tag): return .condition(.tag(TagCondition(tag)))
    case .state(let state): return .condition(.states(1 << state.rawValue))
    case .parent(let id): return .condition(.parent(id))
    case .priority(let comparison, let priority): return .condition(.priority(comparison, priority))
    case .date(let field, let comparison, let date): return .condition(try resolved(field, comparison, date))
    case .text(let field, let text):
      var folder = TextFolder()
      return .condition(.text(field, FoldedPattern(text, with: &folder)))
    case .has(.reminder) where hasDependencies: return .condition(.hasReminder)
    case .has(let field): return .condition(Self.resolved(field))
    case .hasAttribute(let name): return .condition(.hasAttribute(name))
    case .property(.blocked) where !hasDependencies: return .constant(false)
    case .property(.blocking) where !hasDependencies: return .constant(false)
    case .property(let property): return .condition(resolved(property))
    case .attribute(let name, let comparison, let text):
      return .condition(.attribute(name, AttributeCondition(comparison, text, against: reference)))
    }
  }

  private func resolved(_ list: FilterList) throws(TallyError) -> RecordCondition {
    switch list {
    case .inbox: return .inbox
    case .none: return .noList
    case .id(let id):
      guard lists.contains(where: { $0.id == id }) else { throw .listNotFound(id) }
      return .lists([id])
    case .name(let name):
      let exact = lists.filter { $0.name == name.text }
      let found = exact.isEmpty ? lists.filter { $0.name.lowercased() == name.text.lowercased() } : exact
      guard !found.isEmpty else {
        throw TallyError(
          .listNotFound, "The filter names a list that does not exist",
          remedy: "Name a list as it is written, in quotation marks if it has several words",
          at: name.column.map { TextPosition(line: 1, column: $0) }, cause: UnknownFilterList(name: name.text))
      }
      return .lists(Set(found.map(\.id)))
    }
  }

  private func resolved(
    _ field: TaskFilter.DateField, _ comparison: FilterOperator, _ date: DateExpression
  ) throws(TallyError) -> RecordCondition {
    var reference = reference
    // Completed work is in the past, and planned work is in the future.
    reference.direction = [.created, .updated, .completed, .cancelled].contains(field) ? .backward : .forward
    let resolved = try date.resolved(against: reference)
    let instants = InstantCondition(comparison, resolved, in: reference.timeZone)
    return switch field {
    case .day: .day(DayCondition(planned: comparison, resolved, in: reference.timeZone))
    case .due: .due(instants, DayCondition(due: comparison, resolved, in: reference.timeZone))
    case .reminder: .reminder(instants, hasDependencies ? reference.timeZone : nil)
    case .created: .created(instants)
    case .updated: .updated(instants)
    case .completed: .completed(instants)
    case .cancelled: .cancelled(instants)
    case .start: .start(DayCondition(planned: comparison, resolved, in: reference.timeZone))
    }
  }

  private static func resolved(_ field: TaskFilter.Field) -> RecordCondition {
    switch field {
    case .notes: .has(.notes)
    case .day: .has(.scheduledDate)
    case .due: .isDue
    case .reminder: .has(.reminderDate)
    case .list: .has(.listID)
    case .tags: .has(.tags)
    case .priority: .has(.priority)
    case .parent: .has(.parentID)
    case .recurrence: .has(.recurrence)
    case .attributes: .has(.attributes)
    case .dependencies: .has(.dependsOn)
    case .completed: .has(.completedAt)
    case .cancelled: .has(.cancelledAt)
    case .start: .hasStart
    }
  }

  private func resolved(_ property: TaskFilter.Property) -> RecordCondition {
    switch property {
    case .open: .open
    case .done: .done
    case .active: .states(1 << TaskState.active.rawValue)
    case .overdue: .overdue(now: reference.now.microsecondsSince1970, today: reference.today.dayNumber)
    case .recurring: .has(.recurrence)
    case .subtask: .has(.parentID)
    case .parent: .isParent
    case .blocked: .isBlocked
    case .blocking: .isBlocking
    case .cancelled: .isCancelled
    case .waiting: .waiting(today: reference.today.dayNumber)
    case .someday: .has(.someday)
    }
  }
}

/// A question about a task that its record alone cannot answer.
enum LinkQuestion {
  /// 1 for a task with sub-tasks, otherwise 0.
  case isParent
  /// How many open tasks must be done one after the other before the task.
  case blockedRank
  /// 1 for a task that blocks another one, otherwise 0.
  case isBlocking
}

/// Answers a question about a task.
typealias LinkAnswer = (LinkQuestion, UUID) throws -> Int

/// One condition of a filter, resolved for a store and a moment, so that it can test a record in place.
enum RecordCondition: Hashable {
  /// One bit for the raw value of each state.
  case states(UInt8)
  case lists(Set<UUID>)
  case noList
  case inbox
  case tag(TagCondition)
  case parent(UUID)
  case priority(FilterOperator, Priority)
  case day(DayCondition)
  case due(InstantCondition, DayCondition)
  /// The time zone of relative reminders; `nil` if the store has none besides those of ``TaskField/reminderDate``.
  case reminder(InstantCondition, TimeZone?)
  /// The task has a reminder, in stores where it may have several.
  case hasReminder
  case created(InstantCondition)
  case updated(InstantCondition)
  case completed(InstantCondition)
  case cancelled(InstantCondition)
  case text(TaskFilter.TextField, FoldedPattern)
  case has(TaskField)
  case isDue
  case overdue(now: Int64, today: Int32)
  case isParent
  case isBlocked
  case isBlocking
  case hasAttribute(String)
  case attribute(String, AttributeCondition)
  case start(DayCondition)
  case hasStart
  case waiting(today: Int32)

  static let open = RecordCondition.states(openStates)
  static let done = RecordCondition.states(doneStates)
  static let isCancelled = RecordCondition.states(cancelledStates)
  static let uncompleted = RecordCondition.states(openStates | cancelledStates)
  static let openStates: UInt8 = 1 << TaskState.active.rawValue | 1 << TaskState.notStarted.rawValue
  static let doneStates: UInt8 = 1 << TaskState.completed.rawValue
  static let cancelledStates: UInt8 = 1 << TaskState.cancelled.rawValue
  static let allStates: UInt8 = openStates | doneStates | cancelledStates

  /// The last field tag that the condition reads; zero for the fields of a record's header.
  var lastTag: UInt8 {
    let field: TaskField? =
      switch self {
      case .states, .created, .updated, .isParent, .isBlocking: nil
      case .isBlocked: .dependsOn
      case .text(.title, _): nil
      case .text: .notes
      case .lists, .noList, .inbox: .listID
      case .tag: .tags
      case .parent: .parentID
      case .priority: .priority
      case .day: .scheduledDate
      case .due, .isDue, .overdue: .dueDay
      case .reminder(_, let timeZone): timeZone == nil ? .reminderDate : .floatingReminders
      case .hasReminder: .reminders
      case .completed: .completedAt
      case .cancelled: .cancelledAt
      case .has(let field): field
      case .hasAttribute, .attribute: .attributes
      case .start: .startDay
      case .hasStart, .waiting: .someday
      }
    return field?.tag ?? 0
  }

  /// The approximate cost of the condition; cheap ones are evaluated first.
  var cost: Int {
    switch self {
    case .tag: 3
    case .attribute, .hasAttribute: 4
    case .text(.title, _): 5
    case .text: 6
    case .isParent: 7
    case .isBlocked, .isBlocking: 8
    default: 1
    }
  }
}

extension RecordCondition {
  /// Whether a record meets the condition; `ask` asks the store.
  func matches(
    _ facts: borrowing FilterFacts, _ folder: inout TextFolder, asking ask: LinkAnswer
  ) throws -> Bool {
    switch self {
    case .states(let states): states & 1 << facts.state.rawValue != 0
    case .lists(let ids): facts.has(.listID) && ids.contains(facts.listID)
    case .noList: !facts.has(.listID)
    case .inbox: !facts.has(.listID) && !facts.has(.scheduledDate)
    case .tag(let tag): try facts.has(.tags) && tag.isAmong(facts.tagTexts)
    case .parent(let id): facts.has(.parentID) && facts.parentID == id
    case .priority(let comparison, let priority): comparison.matches(facts.priority, priority)
    case .day(let condition): facts.has(.scheduledDate) && condition.matches(facts.day)
    case .due(let instants, let days):
      facts.has(.dueDate) ? instants.matches(facts.due) : facts.has(.dueDay) && days.matches(facts.dueDay)
    case .reminder(let condition, let timeZone):
      try facts.has(.reminderDate) && condition.matches(facts.reminder)
        || timeZone.map { timeZone in
          try facts.otherReminders(in: timeZone).contains { condition.matches($0.microsecondsSince1970) }
        } ?? false
    case .hasReminder: facts.has(.reminderDate) || facts.has(.reminders)
    case .created(let condition): condition.matches(facts.created)
    case .updated(let condition): condition.matches(facts.updated)
    case .completed(let condition): facts.has(.completedAt) && condition.matches(facts.completed)
    case .cancelled(let condition): facts.has(.cancelledAt) && condition.matches(facts.cancelled)
    case .text(let field, let pattern): Self.contains(pattern, field, facts, &folder)
    case .has(let field): facts.has(field)
    case .isDue: facts.has(.dueDate) || facts.has(.dueDay)
    case .overdue(let now, let today): facts.isOverdue(at: now, today)
    case .isParent: try ask(.isParent, facts.id) > 0
    case .isBlocked: try facts.isOpen && facts.has(.dependsOn) && ask(.blockedRank, facts.id) > 0
    case .isBlocking: try facts.isOpen && ask(.isBlocking, facts.id) > 0
    case .hasAttribute(let name): try facts.attribute(named: name) != nil
    case .attribute(let name, let condition):
      try facts.attribute(named: name).map { condition.matches($0, &folder) } ?? false
    case .start(let condition): facts.has(.startDay) && condition.matches(facts.startDay)
    case .hasStart: facts.has(.startDay) || facts.has(.someday)
    case .waiting(let today): facts.isOpen && facts.isWaiting(on: today)
    }
  }

  private static func contains(
    _ pattern: FoldedPattern, _ field: TaskFilter.TextField, _ facts: borrowing FilterFacts, _ folder: inout TextFolder
  ) -> Bool {
    if field != .notes, pattern.isFound(in: facts.title, with: &folder) { return true }
    return field != .title && facts.has(.notes) && pattern.isFound(in: facts.notes, with: &folder)
  }
}

extension FilterFacts {
  /// Whether the task waits for its start on a day.
  func isWaiting(on today: Int32) -> Bool { has(.someday) || has(.startDay) && startDay > today }

  func isOverdue(at now: Int64, _ today: Int32) -> Bool {
    guard isOpen else { return false }
    if has(.dueDate) { return due < now }
    return has(.dueDay) ? dueDay < today : has(.reminderDate) && reminder < now
  }

  /// The instants of the reminders besides the first one.
  func otherReminders(in timeZone: TimeZone) throws(LMDBError) -> [Timestamp] {
    guard has(.reminders) else { return [] }
    let due = has(.dueDate) ? Timestamp(clamping: self.due) : nil
    let dueDay = has(.dueDay) ? CalendarDay(clamping: Int64(self.dueDay)) : nil
    let planned = has(.scheduledDate) ? CalendarDay(clamping: Int64(day)) : nil
    // A closed task keeps the instants that it showed.
    let areFloating = isOpen && has(.floatingReminders)
    var set = try ReminderSet(stored: areFloating ? localReminders : reminders)
    if areFloating { set = set.movingInstants { Timestamp(wallClock: $0, in: timeZone) } }
    return set.compactMap { reminder in
      reminder.instant ?? reminder.relative?.instant(due: due, dueDay: dueDay, planned: planned, in: timeZone)
    }
  }

  /// Returns the value of an attribute; `nil` if the task does not have it.
  func attribute(named name: String) throws(LMDBError) -> AttributeValue? {
    has(.attributes) ? try AttributeValue(named: name, in: attributes) : nil
  }
}

/// Searches the stored tags of a task for a tag.
struct TagCondition: Hashable {
  private let folded: [UInt8]
  /// The tag's group in `byTag`.
  let id: UUID

  init(_ tag: String) {
    folded = Array(TagSet.folded(tag).utf8)
    id = TagID.of(tag)
  }

  func isAmong(_ stored: RawSpan) throws(LMDBError) -> Bool {
    var parts = StoredParts(stored)
    while !parts.isAtEnd {
      let size = Int(try parts.number(as: UInt16.self))
      if isEqual(to: try parts.part(byteCount: size)) { return true }
    }
    return false
  }

  private func isEqual(to tag: RawSpan) -> Bool {
    // Nearly every tag is ASCII, and then has the same length as its folded text.
    guard tag.isASCII else { return TagSet.folded(tag.text).utf8.elementsEqual(folded) }
    guard tag.byteCount == folded.count else { return false }
    for offset in folded.indices where tag.load(bigEndianAt: offset, as: UInt8.self).foldedASCII != folded[offset] {
      return false
    }
    return true
  }
}

/// A predicate compiled to steps that jump to each other, for filters that test every task.
///
/// The conditions that need only a record's header come first: the state, and a text in the title. Most records are
/// rejected there, before their fields are read. Walking the tree itself was tried: it retained and released
/// each node on the way, a quarter of the time.
struct RecordProgram {
  private struct Step {
    let condition: RecordCondition
    /// The bits of a `states` condition, which most filters have; copying the enum would cost more than evaluating it.
    ///
    /// Zero for any other condition.
    let states: UInt8
    /// The index of the next step, or an outcome.
    let whenTrue: Int
    let whenFalse: Int
  }

  private enum Outcome {
    static let found = -1
    static let rejected = -2
  }

  /// The steps, from the last to the first.
  private var steps: [Step] = []
  private var start = Outcome.found
  /// The states in which a record can pass, as one bit each.
  private var states = RecordCondition.allStates
  /// A pattern that the title of every passing record contains.
  private var title: FoldedPattern?

  init(_ predicate: RecordPredicate) {
    var rest: [RecordPredicate] = []
    for operand in predicate.conjuncts {
      switch operand {
      case .condition(.states(let states)): self.states &= states
      case .condition(.text(.title, let pattern)) where title == nil: title = pattern
      default: rest.append(operand)
      }
    }
    start = add(.all(rest), whenTrue: Outcome.found, whenFalse: Outcome.rejected)
  }

  /// Adds the steps of a predicate, and returns the index at which they begin.
  private mutating func add(_ predicate: RecordPredicate, whenTrue: Int, whenFalse: Int) -> Int {
    switch predicate {
    case .constant(let value): return value ? whenTrue : whenFalse
    case .condition(let condition):
      let states: UInt8 = if case .states(let states) = condition { states } else { 0 }
      steps.append(Step(condition: condition, states: states, whenTrue: whenTrue, whenFalse: whenFalse))
      return steps.count - 1
    case .not(let operand): return add(operand, whenTrue: whenFalse, whenFalse: whenTrue)
    case .all(let operands):
      return operands.reversed().reduce(whenTrue) { add($1, whenTrue: $0, whenFalse: whenFalse) }
    case .any(let operands):
      return operands.reversed().reduce(whenFalse) { add($1, whenTrue: whenTrue, whenFalse: $0) }
    }
  }

  /// Whether a record can pass, judged by its header.
  func mayMatch(_ state: TaskState, _ title: RawSpan, _ folder: inout TextFolder) -> Bool {
    guard states & 1 << state.rawValue != 0 else { return false }
    return self.title?.isFound(in: title, with: &folder) ?? true
  }

  /// Whether a record passes; `ask` asks the store.
  func matches(
    _ facts: borrowing FilterFacts, _ folder: inout TextFolder, asking ask: LinkAnswer
  ) throws -> Bool {
    guard mayMatch(facts.state, facts.title, &folder) else { return false }
    let steps = steps.span
    var next = start
    while next >= 0 {
      let states = steps[next].states
      let isTrue =
        try states != 0
        ? states & 1 << facts.state.rawValue != 0 : steps[next].condition.matches(facts, &folder, asking: ask)
      next = isTrue ? steps[next].whenTrue : steps[next].whenFalse
    }
    return next == Outcome.found
  }
}

/// The fields of a record that filters and orders read, located in one pass and left in place.
///
/// The value must not outlive the record. A field that the task does not have reads as an empty value of its
/// type; `has` tells the two apart.
struct FilterFacts: ~Escapable {
  let id: UUID
  let state: TaskState
  let sortOrder: Int64
  let created: Int64
  let updated: Int64
  let title: RawSpan
  /// One bit for the tag of each field that the record has.
  private var tags: UInt32 = 0
  private(set) var notes: RawSpan
  private(set) var tagTexts: RawSpan
  private(set) var attributes: RawSpan
  private(set) var reminders: RawSpan
  private(set) var localReminders: RawSpan
  private(set) var day: Int32 = 0
  private(set) var due: Int64 = 0
  private(set) var dueDay: Int32 = 0
  private(set) var reminder: Int64 = 0
  private(set) var completed: Int64 = 0
  private(set) var cancelled: Int64 = 0
  private(set) var listID = UUID.lowest
  private(set) var parentID = UUID.lowest
  private(set) var priority = Priority.none
  private(set) var startDay: Int32 = 0
  private var localDue = Timestamp.earliest
  private var localReminder = Timestamp.earliest

  /// Reads the fields up to a tag; the later ones are not needed.
  ///
  /// In a zone, wall-clock times are instants of it; `nil` if the store has no such times.
  @_lifetime(copy record)
  init(
    _ id: UUID, _ record: RawSpan, upTo lastTag: UInt8 = .max, in zone: TimeZone? = nil
  ) throws(LMDBError) {
    let fields = try TaskFields(record)
    self.id = id
    state = try fields.state
    sortOrder = fields.sortOrder
    created = try fields.createdAt.microsecondsSince1970
    updated = try fields.updatedAt.microsecondsSince1970
    title = fields.titleBytes
    notes = record.extracting(first: 0)
    tagTexts = record.extracting(first: 0)
    attributes = record.extracting(first: 0)
    reminders = record.extracting(first: 0)
    localReminders = reminders
    guard lastTag > 0 else { return }
    let last = zone == nil || lastTag < TaskField.dueDate.tag ? lastTag : .max
    var cursor = fields.cursor
    while try cursor.advance(), cursor.tag <= last { try read(cursor.tag, cursor.value) }
    guard let zone, isOpen else { return }
    if has(.floatingDue), has(.dueDate) { due = Timestamp(wallClock: localDue, in: zone).microsecondsSince1970 }
    if has(.floatingReminder), has(.reminderDate) {
      reminder = Timestamp(wallClock: localReminder, in: zone).microsecondsSince1970
    }
  }

  @_lifetime(self: copy self, copy value)
  private mutating func read(_ tag: UInt8, _ value: RawSpan) throws(LMDBError) {
    if tag < UInt32.bitWidth { tags |= 1 << tag }
    switch tag {
    case TaskField.notes.tag: notes = value
    case TaskField.scheduledDate.tag: day = try value.storedDay().dayNumber
    case TaskField.dueDate.tag: due = try value.storedInstant().microsecondsSince1970
    case TaskField.reminderDate.tag: reminder = try value.storedInstant().microsecondsSince1970
    case TaskField.listID.tag: listID = try value.storedID()
    case TaskField.completedAt.tag: completed = try value.storedOffsetInstant().instant.microsecondsSince1970
    case TaskField.dueDay.tag: dueDay = try value.storedDay().dayNumber
    case TaskField.priority.tag: priority = try value.storedPriority()
    case TaskField.tags.tag: tagTexts = value
    case TaskField.parentID.tag: parentID = try value.storedID()
    case TaskField.attributes.tag: attributes = value
    case TaskField.reminders.tag: reminders = value
    case TaskField.cancelledAt.tag: cancelled = try value.storedOffsetInstant().instant.microsecondsSince1970
    case TaskField.startDay.tag: startDay = try value.storedDay().dayNumber
    case TaskField.floatingDue.tag: localDue = try value.storedInstant()
    case TaskField.floatingReminder.tag: localReminder = try value.storedInstant()
    case TaskField.floatingReminders.tag: localReminders = value
    default: break
    }
  }

  /// Reads the ledger's copy of a completion; all other fields are absent, because the task may have been deleted.
  @_lifetime(copy entry)
  init(_ completion: InstantKey, ofCompletion entry: RawSpan) throws(LMDBError) {
    let fields = try CompletionFields(entry)
    id = completion.id
    state = .completed
    sortOrder = 0
    created = fields.createdAtMicroseconds
    updated = completion.microseconds
    title = entry.extracting(first: 0)
    notes = title
    tagTexts = title
    attributes = title
    reminders = title
    localReminders = title
    tags = 1 << TaskField.completedAt.tag
    completed = completion.microseconds
    try setClassification(ofCompletion: entry)
  }

  /// Replaces the list, the tags and the priority with those at the time of completion.
  @_lifetime(self: copy self, copy entry)
  mutating func setClassification(ofCompletion entry: RawSpan) throws(LMDBError) {
    tags &= ~(1 << TaskField.listID.tag | 1 << TaskField.tags.tag | 1 << TaskField.priority.tag)
    priority = .none
    let fields = try CompletionFields(entry)
    if fields.hasList { try read(TaskField.listID.tag, fields.listBytes) }
    var cursor = fields.cursor
    while try cursor.advance() {
      switch cursor.tag {
      case CompletionRecord.priorityTag: try read(TaskField.priority.tag, cursor.value)
      case CompletionRecord.tagsTag: try read(TaskField.tags.tag, cursor.value)
      default: break
      }
    }
  }

  /// Whether the record has an optional field.
  func has(_ field: TaskField) -> Bool { tags & 1 << field.tag != 0 }

  var isOpen: Bool { !state.isClosed }

  /// The position within a place.
  var order: OrderKey { OrderKey(sortOrder: sortOrder, createdAtMicroseconds: created, id: id) }
}
