import Foundation

/// What turns a filter into tests of records: a moment, a calendar and the names of the lists.
struct FilterResolution {
  private let reference: DateReference
  private let lists: [TaskList]

  init(_ reference: DateReference, lists: [TaskList]) {
    self.reference = reference
    self.lists = lists
  }

  /// Resolves a filter.
  ///
  /// - Throws: `invalidFilter`, `listNotFound` for a list that does not exist, `valueOutOfRange` for a date beyond the
  ///   years 1 to 9999.
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
    case .list(let list): return .test(try test(list))
    case .tag(let tag): return .test(.tag(TagTest(tag)))
    case .state(let state): return .test(.states(1 << state.rawValue))
    case .parent(let id): return .test(.parent(id))
    case .priority(let comparison, let priority): return .test(.priority(comparison, priority))
    case .date(let field, let comparison, let date): return .test(try test(field, comparison, date))
    case .text(let field, let text):
      var folder = TextFolder()
      return .test(.text(field, FoldedPattern(text, with: &folder)))
    case .has(let field): return .test(Self.test(field))
    case .hasAttribute(let name): return .test(.hasAttribute(name))
    case .property(let property): return .test(test(property))
    case .attribute(let name, let comparison, let text):
      return .test(.attribute(name, AttributeTest(comparison, text, against: reference)))
    }
  }

  private func test(_ list: FilterList) throws(TallyError) -> RecordTest {
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

  private func test(
    _ field: TaskFilter.DateField, _ comparison: FilterOperator, _ date: DateExpression
  ) throws(TallyError) -> RecordTest {
    var reference = reference
    // Completed work lies behind, planned work ahead.
    reference.direction = [.created, .updated, .completed].contains(field) ? .backward : .forward
    let resolved = try date.resolved(against: reference)
    let instants = InstantTest(comparison, resolved, in: reference.timeZone)
    return switch field {
    case .day: .day(DayTest(planned: comparison, resolved, in: reference.timeZone))
    case .due: .due(instants, DayTest(due: comparison, resolved, in: reference.timeZone))
    case .reminder: .reminder(instants)
    case .created: .created(instants)
    case .updated: .updated(instants)
    case .completed: .completed(instants)
    }
  }

  private static func test(_ field: TaskFilter.Field) -> RecordTest {
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
    case .completed: .has(.completedAt)
    }
  }

  private func test(_ property: TaskFilter.Property) -> RecordTest {
    switch property {
    case .open: .open
    case .done: .done
    case .active: .states(1 << TaskState.active.rawValue)
    case .overdue: .overdue(now: reference.now.microsecondsSince1970, today: reference.today.dayNumber)
    case .recurring: .has(.recurrence)
    case .subtask: .has(.parentID)
    case .parent: .isParent
    }
  }
}
