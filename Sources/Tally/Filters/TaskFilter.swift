public import Foundation
import Synchronization
public import TallyEngine

/// A filter that selects tasks.
///
/// Filters are composed in Swift, and have a text form that the command line and saved filters use as well:
///
/// ```swift
/// let filter: TaskFilter = .tag("home") && .due(before: .tomorrow) && !.has(.notes)
/// filter.text                                          // "#home due<tomorrow -has:notes"
/// try TaskFilter(text: "#home (priority>=medium or is:overdue) -list:Work")
/// ```
///
/// Dates stay relative: `due<=today` means another day tomorrow. A comparison with a field that a task lacks is false, and
/// `!` is always the opposite, so `due!=today`, which is the same as `!due=today`, also finds tasks without a due date.
/// <doc:Filters> says what each condition finds.
///
/// Filters are equal if they are built alike: `a && b` and `b && a` are not.
///
/// ## Grammar
///
/// ```
/// filter       = [ alternatives ] ;
/// alternatives = conjunction , { "or" , conjunction } ;
/// conjunction  = term , { [ "and" ] , term } ;
/// term         = ( "not" | "-" ) , term
///              | "(" , alternatives , ")"
///              | condition ;
/// condition    = ( "#" | "@" ) , value
///              | "+" , ?value that begins with a letter or a quotation mark?
///              | "@" , name , operator , value
///              | field , operator , value
///              | field , "." , comparison , ( ":" | "=" ) , value
///              | "has:@" , value
///              | ?word?
///              | quoted ;
/// comparison   = "before" | "after" | "by" | "until" | "since" | "from" | "above" | "over" | "below" | "under"
///              | "min" | "max" | "is" | "not" | "isnt" | "has" | "contains" ;
/// field        = "list" | "tag" | "state" | "parent" | "has" | "is" | "priority" | "title" | "notes" | "text"
///              | "p" | "pri" | "scheduled" | "day" | "due" | "reminder" | "created" | "updated" | "completed"
///              | "cancelled" ;
/// operator     = ":" | "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" ;
/// name         = ?word? | quoted ;
/// value        = ?word? | quoted ;
/// quoted       = '"' , { ?any character but " and \? | '\"' | '\\' } , '"' ;
/// ```
public struct TaskFilter: Hashable, Sendable {
  let root: FilterNode
  /// Whether the filter is known to be valid; shared by its copies.
  let knowledge = Knowledge()

  /// Records that a filter has been validated, so that a query need not validate it again.
  final class Knowledge: Sendable {
    let isValid = Atomic(false)
  }

  /// Creates a filter from a tree; a tree that nests too deeply becomes ``FilterNode/tooDeep``.
  init(_ root: FilterNode) {
    self.root = root.nesting > Self.maximumNesting ? .tooDeep : root
  }

  init(_ condition: FilterCondition) {
    root = .condition(condition)
  }

  /// The maximum number of parentheses and negations around a condition, because parsing, printing and
  /// evaluation recurse.
  static let maximumNesting = 64
  /// The maximum length of a filter's text in Unicode scalars.
  static let maximumLength = 10_000

  /// Selects every task.
  public static let all = TaskFilter(.constant(true))

  /// Whether both filters were built in the same way.
  public static func == (left: TaskFilter, right: TaskFilter) -> Bool { left.root == right.root }

  /// Hashes the filter's tree.
  public func hash(into hasher: inout Hasher) { hasher.combine(root) }

  /// Selects the tasks that both filters select.
  public static func && (left: TaskFilter, right: TaskFilter) -> TaskFilter {
    TaskFilter(.conjunction([left.root, right.root]))
  }

  /// Selects the tasks that at least one of the filters selects.
  public static func || (left: TaskFilter, right: TaskFilter) -> TaskFilter {
    TaskFilter(.disjunction([left.root, right.root]))
  }

  /// Selects the tasks that a filter does not select.
  public static prefix func ! (filter: TaskFilter) -> TaskFilter {
    TaskFilter(.negation(filter.root))
  }
}

extension TaskFilter {
  /// Selects the tasks of the lists with a name.
  ///
  /// If no list has exactly this name, lists that have it in another case count. `inbox` means tasks without a list and
  /// without a day, `none` means tasks without a list, and the text of a UUID means the list with that id.
  public static func list(_ name: String) -> TaskFilter { TaskFilter(.list(FilterList(text: name))) }

  /// Selects the tasks of a list; with `nil`, the tasks without a list.
  public static func list(_ id: UUID?) -> TaskFilter { TaskFilter(.list(id.map { .id($0) } ?? .none)) }

  /// Selects the tasks with a tag; case does not matter.
  public static func tag(_ name: String) -> TaskFilter { TaskFilter(.tag(name)) }

  /// Selects the tasks in a state.
  public static func state(_ state: TaskState) -> TaskFilter { TaskFilter(.state(state)) }

  /// Selects the sub-tasks of a task.
  public static func parent(_ id: UUID) -> TaskFilter { TaskFilter(.parent(id)) }

  /// Selects the tasks with a property.
  public static func `is`(_ property: Property) -> TaskFilter { TaskFilter(.property(property)) }

  /// Selects the tasks that have a field.
  public static func has(_ field: Field) -> TaskFilter { TaskFilter(.has(field)) }

  /// Selects the tasks that have an attribute.
  public static func has(attribute name: String) -> TaskFilter { TaskFilter(.hasAttribute(name)) }
}

extension TaskFilter {
  /// Selects the tasks with a text in their title or notes; case, accents and width do not matter.
  public static func text(contains text: String) -> TaskFilter { TaskFilter(.text(.text, text)) }

  /// Selects the tasks with a text in their title.
  public static func title(contains text: String) -> TaskFilter { TaskFilter(.text(.title, text)) }

  /// Selects the tasks with a text in their notes.
  public static func notes(contains text: String) -> TaskFilter { TaskFilter(.text(.notes, text)) }
}

extension TaskFilter {
  /// Selects the tasks whose priority compares with another; `none` is less than `low`.
  ///
  /// - Parameters:
  ///   - comparison: The comparison; `contains` selects nothing.
  ///   - priority: The priority to compare with.
  /// - Returns: The filter.
  public static func priority(_ comparison: Comparison, _ priority: Priority) -> TaskFilter {
    comparison == .contains ? !.all : comparison.filter { .priority($0, priority) }
  }

  /// Selects the tasks with exactly this priority.
  public static func priority(_ priority: Priority) -> TaskFilter { .priority(.equals, priority) }

  /// Selects the tasks with this priority or a higher one.
  public static func priority(atLeast priority: Priority) -> TaskFilter { .priority(.atLeast, priority) }

  /// Selects the tasks with this priority or a lower one, including none.
  public static func priority(atMost priority: Priority) -> TaskFilter { .priority(.atMost, priority) }

  /// Selects the tasks whose attribute compares with a value.
  ///
  /// ```swift
  /// let large: TaskFilter = .attribute("cost", .atLeast, 12.5) && .attribute("client", .contains, "acme")
  /// ```
  ///
  /// - Parameters:
  ///   - name: The attribute's name.
  ///   - comparison: The comparison; bytes are never equal to, less than or greater than a value.
  ///   - value: The value, which is read as the attribute's own kind.
  /// - Returns: The filter.
  public static func attribute(_ name: String, _ comparison: Comparison, _ value: Literal) -> TaskFilter {
    comparison.filter { .attribute(name, $0, value.text) }
  }
}

extension TaskFilter.Comparison {
  /// Creates a filter with this comparison; `isNot` is the negation of `equals`.
  func filter(_ condition: (FilterOperator) -> FilterCondition) -> TaskFilter {
    guard let comparison = FilterOperator(rawValue: rawValue) else { return !TaskFilter(condition(.equal)) }
    return TaskFilter(condition(comparison))
  }
}

extension TaskFilter {
  /// Whether a condition names the start of tasks; such a filter also finds those that wait for it.
  var namesStart: Bool {
    root.contains { condition in
      switch condition {
      case .date(.start, _, _), .has(.start), .property(.waiting), .property(.someday): true
      default: false
      }
    }
  }

  /// Whether the meaning depends on the first day of the week.
  package var countsWeeks: Bool {
    root.contains { if case .date(_, _, let date) = $0 { date.countsWeeks } else { false } }
  }
}

extension TaskFilter {
  /// Selects the tasks whose day or instant compares with another.
  ///
  /// If either side has no time, days are compared: `due<=friday` uses the local day of the due date. Otherwise
  /// instants are compared, and a due day counts as its last microsecond. The planned day is always compared as a day.
  ///
  /// - Parameters:
  ///   - field: The field to compare; a comparison with a missing field is false.
  ///   - comparison: The comparison; `contains` selects nothing.
  ///   - date: The day or instant, which stays relative.
  /// - Returns: The filter.
  public static func date(
    _ field: DateField, _ comparison: Comparison, _ date: DateExpression
  ) -> TaskFilter {
    comparison == .contains ? !.all : comparison.filter { .date(field, $0, date) }
  }

  /// Selects the tasks planned for a day or within a span, by the rules of ``date(_:_:_:)``.
  public static func day(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.day, on: day, after: start, before: end)
  }

  /// Selects the tasks due on a day or within a span, by the rules of ``date(_:_:_:)``.
  public static func due(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.due, on: day, after: start, before: end)
  }

  /// Selects the tasks with a reminder on a day or within a span, by the rules of ``date(_:_:_:)``.
  public static func reminder(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.reminder, on: day, after: start, before: end)
  }

  /// Selects the tasks created on a day or within a span, by the rules of ``date(_:_:_:)``.
  public static func created(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.created, on: day, after: start, before: end)
  }

  /// Selects the tasks last changed on a day or within a span, by the rules of ``date(_:_:_:)``.
  public static func updated(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.updated, on: day, after: start, before: end)
  }

  /// Selects the tasks completed on a day or within a span, by the rules of ``date(_:_:_:)``.
  public static func completed(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.completed, on: day, after: start, before: end)
  }

  /// Selects the tasks cancelled on a day or within a span, by the rules of ``date(_:_:_:)``.
  public static func cancelled(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.cancelled, on: day, after: start, before: end)
  }

  /// The conjunction of the given comparisons; if there are none, selects the tasks that have the field.
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
  /// A filter that ``validate()`` refuses has a text that cannot be read back.
  public var text: String { root.text }

  /// The same as ``text``.
  public var description: String { text }

  /// Parses a filter; an empty text selects every task.
  ///
  /// - Throws: `invalidFilter`, with the column of the fault and what was expected there.
  /// - Complexity: Linear in the length of the text, which is at most 10,000 Unicode scalars.
  public init(text: String) throws(TallyError) {
    var parser = try FilterParser(text)
    let root = try parser.filter()
    // The canonical text may be longer or nest deeper than the given one: `state!=active` becomes `-state:active`.
    guard root.nesting <= Self.maximumNesting else { throw parser.error(.tooDeep, at: 0) }
    guard root.text.unicodeScalars.count <= Self.maximumLength else { throw parser.error(.tooLong, at: 0) }
    self.init(root)
    knowledge.isValid.store(true, ordering: .relaxed)
  }

  /// Checks a filter that was composed in Swift; one that was parsed is always valid.
  ///
  /// After a filter has been found valid, neither it nor its copies are checked again.
  ///
  /// - Throws: `invalidFilter` for an empty text to search for, a tag or an attribute name that no task can
  ///   have, more than 64 nested operations, or a text of more than 10,000 Unicode scalars.
  public func validate() throws(TallyError) {
    if knowledge.isValid.load(ordering: .relaxed) { return }
    guard root != .tooDeep else { throw FilterFault.tooDeep.error(at: 1) }
    _ = try TaskFilter(text: text)
    knowledge.isValid.store(true, ordering: .relaxed)
  }

  /// Encodes the text; throws `EncodingError` for a filter that ``validate()`` refuses.
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

  /// The text after another operand of `and`.
  private func text(after previous: FilterNode?) -> String {
    switch self {
    case .or: textAsOperand
    // Without quotation marks, `due<=today 5pm` would be read as a date of two words.
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
  /// The text as a value after an operator, with quotation marks if it needs them.
  fileprivate var filterValue: String {
    // `<` and a value that begins with `=` would be read as `<=`.
    let isPlain = unicodeScalars.first != "=" && !isEmpty && unicodeScalars.allSatisfy { !$0.endsFilterWord }
    return isPlain ? self : inFilterQuotes
  }

  /// The text as an attribute's name before an operator, with quotation marks if it needs them.
  fileprivate var filterName: String {
    let isPlain = !isEmpty && unicodeScalars.allSatisfy { !$0.endsFilterWord && !$0.beginsFilterOperator }
    return isPlain ? self : inFilterQuotes
  }

  /// The text as a word to search for, with quotation marks if it could be read as anything else.
  fileprivate var filterWord: String {
    let isPlain =
      filterName == self && !FilterKeyword.isOne(self) && !isTagOfFilter
      && unicodeScalars.first.map { !$0.beginsFilterTerm } ?? false
    return isPlain ? self : inFilterQuotes
  }

  /// Whether the text would be read as a tag, such as `+tag`.
  private var isTagOfFilter: Bool {
    unicodeScalars.first == "+" && unicodeScalars.dropFirst().first?.properties.isAlphabetic ?? false
  }

  fileprivate var inFilterQuotes: String {
    var quoted = String.UnicodeScalarView("\"".unicodeScalars)
    // Works on scalars, because a combining mark after a backslash would form another character with it.
    for scalar in unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted.append("\\") }
      quoted.append(scalar)
    }
    quoted.append("\"")
    return String(quoted)
  }
}

extension TaskFilter {
  /// A field that holds a day or an instant; the raw value is its name in filter texts.
  public enum DateField: String, CaseIterable, Hashable, Sendable {
    /// The day for which a task is planned.
    case day
    /// The due date or due day.
    case due
    /// The instant of the reminder.
    case reminder
    /// The instant of creation.
    case created
    /// The instant of the last change.
    case updated
    /// The instant of completion.
    case completed
    /// The instant of cancellation.
    case cancelled
    /// The day on which the task starts.
    case start
  }

  /// The texts to search; the raw value is their name in filter texts.
  public enum TextField: String, CaseIterable, Hashable, Sendable {
    /// The title.
    case title
    /// The notes.
    case notes
    /// The title or the notes.
    case text
  }

  /// A field that a task may not have; the raw value is its name in filter texts.
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
    /// The parent of a sub-task.
    case parent
    /// The recurrence.
    case recurrence
    /// Any attribute.
    case attributes
    /// Any task on which the task depends.
    case dependencies
    /// The instant of completion.
    case completed
    /// The instant of cancellation.
    case cancelled
    /// A start: a day or someday.
    case start
  }

  /// A property of a task as a whole; the raw value is its name in filter texts.
  public enum Property: String, CaseIterable, Hashable, Sendable {
    /// The task is neither completed nor cancelled.
    case open
    /// The task is completed.
    case done
    /// The task is in the state `active`.
    case active
    /// The task is open, and its due date has passed or its due day has ended; without either, its reminder has passed.
    case overdue
    /// The task recurs.
    case recurring
    /// The task is a part of another task.
    case subtask
    /// The task has sub-tasks.
    case parent
    /// The task is cancelled.
    case cancelled
    /// The task is open and waits for an open one on which it depends.
    case blocked
    /// The task is open, and another open one waits for it.
    case blocking
    /// The task is open, and its start has not come.
    case waiting
    /// The task starts on no day.
    case someday
  }

  /// A comparison of a field with a value; the raw value is its text.
  public enum Comparison: String, CaseIterable, Hashable, Sendable {
    /// Equal to the value.
    case equals = "="
    /// The opposite of ``equals``, which also selects tasks without the field.
    case isNot = "!="
    /// Less than the value, or earlier.
    case less = "<"
    /// At most the value, or no later.
    case atMost = "<="
    /// Greater than the value, or later.
    case greater = ">"
    /// At least the value, or no earlier.
    case atLeast = ">="
    /// Contains the value as a text; only for attributes.
    case contains = "~"
  }

  /// A value to compare an attribute with, given by its text.
  ///
  /// The attribute's own kind decides how the text is read: as a number, a flag (`true` or `false`), a day, an
  /// instant, or a plain text.
  public struct Literal: Hashable, Sendable {
    /// The text.
    public let text: String

    /// Creates a text.
    public init(_ text: String) { self.text = text }
    /// Creates a whole number.
    public init(_ number: Int64) { text = String(number) }
    /// Creates a number.
    public init(_ number: Double) { text = String(number) }
    /// Creates a flag.
    public init(_ flag: Bool) { text = String(flag) }
    /// Creates a day or an instant.
    public init(_ date: DateExpression) { text = date.description }
  }
}

extension TaskFilter.Literal: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral
{
  /// Creates a text.
  public init(stringLiteral value: String) { self.init(value) }
  /// Creates a whole number.
  public init(integerLiteral value: Int64) { self.init(value) }
  /// Creates a number.
  public init(floatLiteral value: Double) { self.init(value) }
  /// Creates a flag.
  public init(booleanLiteral value: Bool) { self.init(value) }
}
