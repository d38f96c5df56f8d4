public import Foundation
import Synchronization

/// Which tasks to look for.
///
/// Filters compose in Swift and have one text form, which the command line and saved filters use as well:
///
/// ```swift
/// let filter: TaskFilter = .tag("home") && .due(before: .tomorrow) && !.has(.notes)
/// filter.text                                          // "#home due<tomorrow -has:notes"
/// try TaskFilter(text: "#home (priority>=medium or is:overdue) -list:Work")
/// ```
///
/// Dates stay relative: `due<=today` means another day tomorrow. A comparison with a field that a task lacks is false, and
/// `!` is always the opposite, so `due!=today`, which is the same as `!due=today`, also finds tasks without a due date.
/// <doc:Filters> has the grammar.
///
/// Filters are equal if they are built alike: `a && b` and `b && a` are not.
public struct TaskFilter: Hashable, Sendable {
  let root: FilterNode
  /// What is known about the filter; shared by its copies.
  let knowledge = Knowledge()

  /// Whether a filter has been found to be valid, so that a query need not check it again.
  final class Knowledge: Sendable {
    let isValid = Atomic(false)
  }

  /// Takes a tree; one that nests too deeply becomes ``FilterNode/tooDeep``.
  init(_ root: FilterNode) {
    self.root = root.nesting > Self.maximumNesting ? .tooDeep : root
  }

  init(_ condition: FilterCondition) {
    root = .condition(condition)
  }

  /// The greatest number of parentheses and negations around a condition; reading, printing and evaluation recurse.
  static let maximumNesting = 64
  /// The greatest length of a text in Unicode scalars.
  static let maximumLength = 10_000

  /// Every task.
  public static let all = TaskFilter(.constant(true))

  /// Whether both were built alike.
  public static func == (left: TaskFilter, right: TaskFilter) -> Bool { left.root == right.root }

  /// Hashes how the filter was built.
  public func hash(into hasher: inout Hasher) { hasher.combine(root) }

  /// The tasks that both filters find.
  public static func && (left: TaskFilter, right: TaskFilter) -> TaskFilter {
    TaskFilter(.conjunction([left.root, right.root]))
  }

  /// The tasks that either filter finds.
  public static func || (left: TaskFilter, right: TaskFilter) -> TaskFilter {
    TaskFilter(.disjunction([left.root, right.root]))
  }

  /// The tasks that a filter does not find.
  public static prefix func ! (filter: TaskFilter) -> TaskFilter {
    TaskFilter(.negation(filter.root))
  }
}

extension TaskFilter {
  /// The tasks of the lists with a name.
  ///
  /// If no list has the name exactly, lists that have it in another case count. `inbox` means tasks without a list and
  /// without a day, `none` those without a list, and the text of a UUID the list with that id.
  public static func list(_ name: String) -> TaskFilter { TaskFilter(.list(FilterList(text: name))) }

  /// The tasks of a list, or without one for `nil`.
  public static func list(_ id: UUID?) -> TaskFilter { TaskFilter(.list(id.map { .id($0) } ?? .none)) }

  /// The tasks with a tag; case does not matter.
  public static func tag(_ name: String) -> TaskFilter { TaskFilter(.tag(name)) }

  /// The tasks in a state.
  public static func state(_ state: TaskState) -> TaskFilter { TaskFilter(.state(state)) }

  /// The sub-tasks of a task.
  public static func parent(_ id: UUID) -> TaskFilter { TaskFilter(.parent(id)) }

  /// The tasks of which something is true.
  public static func `is`(_ property: Property) -> TaskFilter { TaskFilter(.property(property)) }

  /// The tasks that have a field.
  public static func has(_ field: Field) -> TaskFilter { TaskFilter(.has(field)) }

  /// The tasks that have an attribute.
  public static func has(attribute name: String) -> TaskFilter { TaskFilter(.hasAttribute(name)) }
}

extension TaskFilter {
  /// The tasks with a text in their title or notes; case, accents and width do not matter.
  public static func text(contains text: String) -> TaskFilter { TaskFilter(.text(.text, text)) }

  /// The tasks with a text in their title.
  public static func title(contains text: String) -> TaskFilter { TaskFilter(.text(.title, text)) }

  /// The tasks with a text in their notes.
  public static func notes(contains text: String) -> TaskFilter { TaskFilter(.text(.notes, text)) }
}

extension TaskFilter {
  /// The tasks with a priority; `none` is less than `low`.
  ///
  /// - Parameters:
  ///   - comparison: how to compare; `contains` finds nothing.
  ///   - priority: the priority to compare with.
  /// - Returns: the filter.
  public static func priority(_ comparison: Comparison, _ priority: Priority) -> TaskFilter {
    comparison == .contains ? !.all : comparison.filter { .priority($0, priority) }
  }

  /// The tasks with exactly a priority.
  public static func priority(_ priority: Priority) -> TaskFilter { .priority(.equals, priority) }

  /// The tasks with a priority or a higher one.
  public static func priority(atLeast priority: Priority) -> TaskFilter { .priority(.atLeast, priority) }

  /// The tasks with a priority or a lower one, none included.
  public static func priority(atMost priority: Priority) -> TaskFilter { .priority(.atMost, priority) }

  /// The tasks whose attribute compares with a value.
  ///
  /// ```swift
  /// let large: TaskFilter = .attribute("cost", .atLeast, 12.5) && .attribute("client", .contains, "acme")
  /// ```
  ///
  /// - Parameters:
  ///   - name: the attribute's name.
  ///   - comparison: how to compare; bytes are never equal to a value, nor less or greater.
  ///   - value: the value, read as the attribute's own kind.
  /// - Returns: the filter.
  public static func attribute(_ name: String, _ comparison: Comparison, _ value: Literal) -> TaskFilter {
    comparison.filter { .attribute(name, $0, value.text) }
  }
}

extension TaskFilter.Comparison {
  /// A condition with this comparison; `isNot` is the opposite of `equals`.
  func filter(_ condition: (FilterOperator) -> FilterCondition) -> TaskFilter {
    guard let comparison = FilterOperator(rawValue: rawValue) else { return !TaskFilter(condition(.equal)) }
    return TaskFilter(condition(comparison))
  }
}

extension TaskFilter {
  /// Whether it matters with which day a week begins.
  package var countsWeeks: Bool {
    root.contains { if case .date(_, _, let date) = $0 { date.countsWeeks } else { false } }
  }
}

extension TaskFilter {
  /// The tasks whose day or instant compares with another one.
  ///
  /// Days are compared where either side has no time: `due<=friday` asks for the local day of the due date. With a time,
  /// instants are compared, and a due day counts as its last moment. The planned day is always compared as a day.
  ///
  /// - Parameters:
  ///   - field: the field to look at; a comparison with a missing one is false.
  ///   - comparison: how to compare; `contains` finds nothing.
  ///   - date: the day or instant, which stays relative.
  /// - Returns: the filter.
  public static func date(
    _ field: DateField, _ comparison: Comparison, _ date: DateExpression
  ) -> TaskFilter {
    comparison == .contains ? !.all : comparison.filter { .date(field, $0, date) }
  }

  /// The tasks planned for a day, or for any day of a span; as ``date(_:_:_:)``.
  public static func day(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.day, on: day, after: start, before: end)
  }

  /// The tasks due on a day, or in a span; as ``date(_:_:_:)``.
  public static func due(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.due, on: day, after: start, before: end)
  }

  /// The tasks with a reminder on a day, or in a span; as ``date(_:_:_:)``.
  public static func reminder(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.reminder, on: day, after: start, before: end)
  }

  /// The tasks created on a day, or in a span; as ``date(_:_:_:)``.
  public static func created(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.created, on: day, after: start, before: end)
  }

  /// The tasks last changed on a day, or in a span; as ``date(_:_:_:)``.
  public static func updated(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.updated, on: day, after: start, before: end)
  }

  /// The tasks completed on a day, or in a span; as ``date(_:_:_:)``.
  public static func completed(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.completed, on: day, after: start, before: end)
  }

  /// All the comparisons that are given; without any, the tasks that have the field.
  private static func span(
    _ field: DateField, on day: DateExpression?, after start: DateExpression?, before end: DateExpression?
  ) -> TaskFilter {
    let bounds: [(Comparison, DateExpression?)] = [(.equals, day), (.greater, start), (.less, end)]
    let filters = bounds.compactMap { comparison, date in date.map { TaskFilter.date(field, comparison, $0) } }
    guard let first = filters.first else { return .date(field, .atLeast, .day(.earliest)) }
    return filters.dropFirst().reduce(first) { $0 && $1 }
  }
}

extension TaskFilter: TextCodable, CustomStringConvertible {
  /// The filter's canonical text; reading it gives an equal filter.
  ///
  /// The text of a filter that ``validate()`` refuses cannot be read.
  public var text: String { root.text }

  /// The same as ``text``.
  public var description: String { text }

  /// Reads a filter; an empty text means every task.
  ///
  /// - Throws: `invalidFilter`, with the column of the fault and the text expected there.
  /// - Complexity: the length of the text, which is at most 10,000 Unicode scalars.
  public init(text: String) throws(TallyError) {
    var parser = try FilterParser(text)
    let root = try parser.filter()
    // The canonical text may be longer, or nest deeper: `state!=active` becomes `-state:active`.
    guard root.nesting <= Self.maximumNesting else { throw parser.error(.tooDeep, at: 0) }
    guard root.text.unicodeScalars.count <= Self.maximumLength else { throw parser.error(.tooLong, at: 0) }
    self.init(root)
    knowledge.isValid.store(true, ordering: .relaxed)
  }

  /// Checks a filter that was composed in Swift; one that was read is valid.
  ///
  /// A filter that was found to be valid is not checked again, and neither are its copies.
  ///
  /// - Throws: `invalidFilter` for an empty text, a tag or the name of an attribute that no task can have, more than 64
  ///   nested operations or a text of more than 10,000 Unicode scalars.
  public func validate() throws(TallyError) {
    if knowledge.isValid.load(ordering: .relaxed) { return }
    guard root != .tooDeep else { throw FilterFault.tooDeep.error(at: 1) }
    _ = try TaskFilter(text: text)
    knowledge.isValid.store(true, ordering: .relaxed)
  }

  /// Writes the text; throws `EncodingError` for a filter that ``validate()`` refuses.
  public func encode(to encoder: any Encoder) throws {
    do {
      try validate()
    } catch {
      throw EncodingError.invalidValue(
        self, .init(codingPath: encoder.codingPath, debugDescription: error.description, underlyingError: error))
    }
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension FilterNode {
  fileprivate var text: String {
    switch self {
    case .constant(let value): value ? "is:any" : "-is:any"
    case .condition(let condition): condition.text(isNegated: false)
    case .not(.condition(let condition)): condition.text(isNegated: true)
    case .not(let operand): "-" + operand.textAsOperand
    case .and(let operands):
      zip(operands, [nil] + operands).map { $0.text(after: $1) }.joined(separator: " ")
    case .or(let operands): operands.map(\.text).joined(separator: " or ")
    case .tooDeep: ""
    }
  }

  private var textAsOperand: String {
    switch self {
    case .and, .or: "(\(text))"
    default: text
    }
  }

  /// The text behind another operand of `and`.
  private func text(after previous: FilterNode?) -> String {
    switch self {
    case .or: textAsOperand
    // `due<=today 5pm` would be a date of two words.
    case .condition(.text(.text, let wanted)) where previous?.isDate ?? false: wanted.inFilterQuotes
    case .not(.condition(.text(.text, let wanted))) where previous?.isDate ?? false: "-" + wanted.inFilterQuotes
    default: text
    }
  }

  private var isDate: Bool {
    switch self {
    case .condition(.date), .not(.condition(.date)): true
    default: false
    }
  }
}

extension FilterCondition {
  fileprivate func text(isNegated: Bool) -> String {
    if isNegated, hasNegatedForm { return text(equal: "!=") }
    return (isNegated ? "-" : "") + text(equal: "=")
  }

  private func text(equal: String) -> String {
    func text(_ comparison: FilterOperator) -> String { comparison == .equal ? equal : comparison.rawValue }
    switch self {
    case .list(let list): return "list:\(list.text.filterValue)"
    case .tag(let name): return "#\(name.filterValue)"
    case .state(let state): return "state:\(state.name)"
    case .parent(let id): return "parent:\(IDText(id).text)"
    case .priority(let comparison, let priority): return "priority\(text(comparison))\(priority.name)"
    case .date(let field, let comparison, let date):
      return "\(field.rawValue)\(text(comparison))\(date.description.filterValue)"
    case .text(.text, let wanted): return wanted.filterWord
    case .text(let field, let wanted): return "\(field.rawValue)~\(wanted.filterValue)"
    case .has(let field): return "has:\(field.rawValue)"
    case .hasAttribute(let name): return "has:@\(name.filterValue)"
    case .property(let property): return "is:\(property.rawValue)"
    case .attribute(let name, let comparison, let value):
      return "@\(name.filterName)\(text(comparison))\(value.filterValue)"
    }
  }
}

extension String {
  /// A value behind an operator, in quotation marks unless it can stand without them.
  fileprivate var filterValue: String {
    // `<` and a value that begins with `=` would read as `<=`.
    let isPlain = unicodeScalars.first != "=" && !isEmpty && unicodeScalars.allSatisfy { !$0.endsFilterWord }
    return isPlain ? self : inFilterQuotes
  }

  /// The name of an attribute before an operator.
  fileprivate var filterName: String {
    let isPlain = !isEmpty && unicodeScalars.allSatisfy { !$0.endsFilterWord && !$0.beginsFilterOperator }
    return isPlain ? self : inFilterQuotes
  }

  /// A text to look for, which must not read as anything else.
  fileprivate var filterWord: String {
    let isPlain =
      filterName == self && !FilterKeyword.isOne(self) && !isTagOfFilter
      && unicodeScalars.first.map { !$0.beginsFilterTerm } ?? false
    return isPlain ? self : inFilterQuotes
  }

  /// Whether the text would be read as `+tag`.
  private var isTagOfFilter: Bool {
    unicodeScalars.first == "+" && unicodeScalars.dropFirst().first?.properties.isAlphabetic ?? false
  }

  fileprivate var inFilterQuotes: String {
    var quoted = String.UnicodeScalarView("\"".unicodeScalars)
    // By scalars, as a combining mark behind a backslash makes another character of it.
    for scalar in unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted.append("\\") }
      quoted.append(scalar)
    }
    quoted.append("\"")
    return String(quoted)
  }
}

extension TaskFilter {
  /// A field with a day or an instant; the raw value is its name in texts.
  public enum DateField: String, CaseIterable, Hashable, Sendable {
    /// The day for which a task is planned.
    case day
    /// The due date or due day.
    case due
    /// The reminder.
    case reminder
    /// The creation.
    case created
    /// The last change.
    case updated
    /// The completion.
    case completed
  }

  /// Where to look for a text; the raw value is its name in texts.
  public enum TextField: String, CaseIterable, Hashable, Sendable {
    /// The title.
    case title
    /// The notes.
    case notes
    /// The title or the notes.
    case text
  }

  /// A field that a task may lack; the raw value is its name in texts.
  public enum Field: String, CaseIterable, Hashable, Sendable {
    /// The notes.
    case notes
    /// The day for which the task is planned.
    case day
    /// The due date or due day.
    case due
    /// The reminder.
    case reminder
    /// The list.
    case list
    /// Any tag.
    case tags
    /// A priority other than `none`.
    case priority
    /// The task to which a sub-task belongs.
    case parent
    /// The rule by which the task recurs.
    case recurrence
    /// Any attribute.
    case attributes
    /// The completion.
    case completed
  }

  /// What can be said of a task as a whole; the raw value is its name in texts.
  public enum Property: String, CaseIterable, Hashable, Sendable {
    /// Not completed.
    case open
    /// Completed.
    case done
    /// In the state `active`.
    case active
    /// Open, and the due date has passed or the due day has ended; without either, the reminder has passed.
    case overdue
    /// Recurs.
    case recurring
    /// Belongs to another task.
    case subtask
    /// Has sub-tasks.
    case parent
  }

  /// How a field is compared with a value; the raw value is its text.
  public enum Comparison: String, CaseIterable, Hashable, Sendable {
    /// Equal.
    case equals = "="
    /// The opposite of ``equals``, so it also finds tasks without the field.
    case isNot = "!="
    /// Less, or earlier.
    case less = "<"
    /// At most, or no later.
    case atMost = "<="
    /// More, or later.
    case greater = ">"
    /// At least, or no earlier.
    case atLeast = ">="
    /// Contains a text; only attributes are compared so.
    case contains = "~"
  }

  /// A value that an attribute is compared with, as its text.
  ///
  /// An attribute's own kind decides how the text is read: as a number, a flag (`true` or `false`), a day or instant, or
  /// as it stands.
  public struct Literal: Hashable, Sendable {
    /// The text.
    public let text: String

    /// A text.
    public init(_ text: String) { self.text = text }
    /// A number.
    public init(_ number: Int64) { text = String(number) }
    /// A number.
    public init(_ number: Double) { text = String(number) }
    /// A flag.
    public init(_ flag: Bool) { text = String(flag) }
    /// A day or an instant.
    public init(_ date: DateExpression) { text = date.description }
  }
}

extension TaskFilter.Literal: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral
{
  /// A text.
  public init(stringLiteral value: String) { self.init(value) }
  /// A number.
  public init(integerLiteral value: Int64) { self.init(value) }
  /// A number.
  public init(floatLiteral value: Double) { self.init(value) }
  /// A flag.
  public init(booleanLiteral value: Bool) { self.init(value) }
}
