import Foundation
import LMDB

/// One condition of a filter, resolved for a store and a moment, so that a record can be tested in place.
enum RecordTest: Hashable {
  /// A bit for the raw value of each state.
  case states(UInt8)
  case lists(Set<UUID>)
  case noList
  case inbox
  case tag(TagTest)
  case parent(UUID)
  case priority(FilterOperator, Priority)
  case day(DayTest)
  case due(InstantTest, DayTest)
  case reminder(InstantTest)
  case created(InstantTest)
  case updated(InstantTest)
  case completed(InstantTest)
  case text(TaskFilter.TextField, FoldedPattern)
  case has(TaskField)
  case isDue
  case overdue(now: Int64, today: Int32)
  case isParent
  case hasAttribute(String)
  case attribute(String, AttributeTest)

  static let open = RecordTest.states(openStates)
  static let done = RecordTest.states(1 << TaskState.completed.rawValue)
  static let openStates: UInt8 = 1 << TaskState.active.rawValue | 1 << TaskState.notStarted.rawValue
  static let allStates: UInt8 = openStates | 1 << TaskState.completed.rawValue

  /// The last tag of a field that the test looks at; zero for those of a record's head.
  var lastTag: UInt8 {
    let field: TaskField? =
      switch self {
      case .states, .created, .updated, .isParent: nil
      case .text(.title, _): nil
      case .text: .notes
      case .lists, .noList, .inbox: .listID
      case .tag: .tags
      case .parent: .parentID
      case .priority: .priority
      case .day: .scheduledDate
      case .due, .isDue, .overdue: .dueDay
      case .reminder: .reminderDate
      case .completed: .completedAt
      case .has(let field): field
      case .hasAttribute, .attribute: .attributes
      }
    return field?.tag ?? 0
  }

  /// How much a test costs, roughly: cheap ones come first.
  var cost: Int {
    switch self {
    case .tag: 3
    case .attribute, .hasAttribute: 4
    case .text(.title, _): 5
    case .text: 6
    case .isParent: 7
    default: 1
    }
  }
}

extension RecordTest {
  /// Whether a record passes; `isParent` is asked of the store.
  func holds(
    _ facts: borrowing FilterFacts, _ folder: inout TextFolder, isParent: (UUID) throws -> Bool
  ) throws -> Bool {
    switch self {
    case .states(let states): states & 1 << facts.state.rawValue != 0
    case .lists(let ids): facts.has(.listID) && ids.contains(facts.listID)
    case .noList: !facts.has(.listID)
    case .inbox: !facts.has(.listID) && !facts.has(.scheduledDate)
    case .tag(let tag): try facts.has(.tags) && tag.isAmong(facts.tagTexts)
    case .parent(let id): facts.has(.parentID) && facts.parentID == id
    case .priority(let comparison, let priority): comparison.holds(facts.priority, priority)
    case .day(let test): facts.has(.scheduledDate) && test.holds(facts.day)
    case .due(let instants, let days):
      facts.has(.dueDate) ? instants.holds(facts.due) : facts.has(.dueDay) && days.holds(facts.dueDay)
    case .reminder(let test): facts.has(.reminderDate) && test.holds(facts.reminder)
    case .created(let test): test.holds(facts.created)
    case .updated(let test): test.holds(facts.updated)
    case .completed(let test): facts.has(.completedAt) && test.holds(facts.completed)
    case .text(let field, let pattern): Self.contains(pattern, field, facts, &folder)
    case .has(let field): facts.has(field)
    case .isDue: facts.has(.dueDate) || facts.has(.dueDay)
    case .overdue(let now, let today): facts.isOverdue(at: now, today)
    case .isParent: try isParent(facts.id)
    case .hasAttribute(let name): try facts.attribute(named: name) != nil
    case .attribute(let name, let test): try facts.attribute(named: name).map { test.holds($0, &folder) } ?? false
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
  func isOverdue(at now: Int64, _ today: Int32) -> Bool {
    guard isOpen else { return false }
    if has(.dueDate) { return due < now }
    return has(.dueDay) ? dueDay < today : has(.reminderDate) && reminder < now
  }

  /// The value of an attribute; `nil` if the task does not have it.
  func attribute(named name: String) throws(LMDBError) -> AttributeValue? {
    has(.attributes) ? try AttributeValue(named: name, in: attributes) : nil
  }
}

/// A tag to look for among the stored tags of a task.
struct TagTest: Hashable {
  private let folded: [UInt8]
  /// The group of the tag in `byTag`.
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
    // Nearly every tag is ASCII, and then as long as its folded text.
    guard tag.isASCII else { return TagSet.folded(tag.text).utf8.elementsEqual(folded) }
    guard tag.byteCount == folded.count else { return false }
    for offset in folded.indices where tag.load(bigEndianAt: offset, as: UInt8.self).foldedASCII != folded[offset] {
      return false
    }
    return true
  }
}
