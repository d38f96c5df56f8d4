import Foundation
import TallyEngine

/// The syntax tree of a filter, in a normal form with exactly one text.
///
/// Build it only with `conjunction`, `disjunction` and `negation`. They ensure that `and` and `or` have at
/// least two operands, none of which is a constant or of the same kind, and that a negation contains neither a
/// constant nor a negation.
indirect enum FilterNode: Hashable, Sendable {
  case constant(Bool)
  case condition(FilterCondition)
  case not(FilterNode)
  case and([FilterNode])
  case or([FilterNode])
  /// A filter composed beyond ``TaskFilter/maximumNesting``, which cannot be evaluated.
  case tooDeep
}

extension FilterNode {
  /// Creates the conjunction of some operands.
  static func conjunction(_ operands: [FilterNode]) -> FilterNode {
    let flat = operands.flatMap { if case .and(let inner) = $0 { inner } else { [$0] } }
    return joined(flat, neutral: true) { .and($0) }
  }

  /// Creates the disjunction of some operands.
  static func disjunction(_ operands: [FilterNode]) -> FilterNode {
    let flat = operands.flatMap { if case .or(let inner) = $0 { inner } else { [$0] } }
    return joined(flat, neutral: false) { .or($0) }
  }

  /// Creates the negation of an operand.
  static func negation(_ operand: FilterNode) -> FilterNode {
    switch operand {
    case .constant(let value): .constant(!value)
    case .not(let inner): inner
    case .tooDeep: .tooDeep
    default: .not(operand)
    }
  }

  private static func joined(
    _ operands: [FilterNode], neutral: Bool, _ join: ([FilterNode]) -> FilterNode
  ) -> FilterNode {
    if operands.contains(.tooDeep) { return .tooDeep }
    if operands.contains(.constant(!neutral)) { return .constant(!neutral) }
    let effective = operands.filter { $0 != .constant(neutral) }
    return effective.count > 1 ? join(effective) : effective.first ?? .constant(neutral)
  }
}

extension FilterNode {
  /// The number of parentheses and negations around the innermost condition in the text.
  var nesting: Int {
    switch self {
    case .constant(let value): value ? 0 : 1
    case .condition, .tooDeep: 0
    case .not(let operand):
      if case .condition(let condition) = operand, condition.hasNegatedForm { 0 } else { 1 + operand.nestingAsOperand }
    case .and(let operands):
      operands.reduce(0) { if case .or = $1 { max($0, $1.nestingAsOperand) } else { max($0, $1.nesting) } }
    case .or(let operands): operands.reduce(0) { max($0, $1.nesting) }
    }
  }

  private var nestingAsOperand: Int {
    switch self {
    case .and, .or: 1 + nesting
    default: nesting
    }
  }

  /// Returns the same tree with each condition transformed.
  func mapConditions(_ transform: (FilterCondition) -> FilterCondition) -> FilterNode {
    switch self {
    case .constant, .tooDeep: self
    case .condition(let condition): .condition(transform(condition))
    case .not(let operand): .not(operand.mapConditions(transform))
    case .and(let operands): .and(operands.map { $0.mapConditions(transform) })
    case .or(let operands): .or(operands.map { $0.mapConditions(transform) })
    }
  }

  /// Whether any condition satisfies a test.
  func contains(where test: (FilterCondition) -> Bool) -> Bool {
    switch self {
    case .constant, .tooDeep: false
    case .condition(let condition): test(condition)
    case .not(let operand): operand.contains(where: test)
    case .and(let operands), .or(let operands): operands.contains { $0.contains(where: test) }
    }
  }
}

/// One condition of a filter.
enum FilterCondition: Hashable, Sendable {
  case list(FilterList)
  case tag(String)
  case state(TaskState)
  case parent(UUID)
  case priority(FilterOperator, Priority)
  case date(TaskFilter.DateField, FilterOperator, DateExpression)
  case text(TaskFilter.TextField, String)
  case has(TaskFilter.Field)
  case hasAttribute(String)
  case property(TaskFilter.Property)
  case attribute(String, FilterOperator, String)

  /// Whether the negation is written with `!=` instead of `-`.
  var hasNegatedForm: Bool {
    switch self {
    case .priority(.equal, _), .date(_, .equal, _), .attribute(_, .equal, _): true
    default: false
    }
  }
}

/// The lists that a condition refers to.
enum FilterList: Hashable, Sendable {
  /// Tasks without a list and without a day.
  case inbox
  /// Tasks without a list.
  case none
  case id(UUID)
  /// The lists with a name; in any case, but only if no list has exactly this name.
  case name(FilterListName)

  /// Reads a name, an id, `inbox` or `none`; the last three take precedence over a list with such a name.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - column: The column in the text of a filter; `nil` for a filter composed in Swift.
  init(text: String, column: Int? = nil) {
    switch text.lowercased() {
    case "inbox": self = .inbox
    case "none": self = .none
    default: self = UUID(text: Array(text.utf8)).map { .id($0) } ?? .name(FilterListName(text: text, column: column))
    }
  }

  var text: String {
    switch self {
    case .inbox: "inbox"
    case .none: "none"
    case .id(let id): IDText(id).text
    case .name(let name): name.text
    }
  }
}

/// The name of a list and its position in a filter's text; two names are equal wherever they are.
struct FilterListName: Hashable, Sendable {
  let text: String
  /// The column, from 1, in characters; `nil` if the filter was not read from a text.
  let column: Int?

  static func == (left: FilterListName, right: FilterListName) -> Bool { left.text == right.text }

  func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// The cause of an error about an unknown list in a filter; the library's messages never contain the name.
package struct UnknownFilterList: Error {
  package let name: String
}

/// An operator in normal form, which excludes `!=`; the raw value is its text.
enum FilterOperator: String, Hashable, Sendable {
  case equal = "="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case contains = "~"

  /// Whether the operator holds between two comparable values; `contains` never does.
  func matches<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
    switch self {
    case .equal: left == right
    case .less: left < right
    case .lessOrEqual: left <= right
    case .greater: left > right
    case .greaterOrEqual: left >= right
    case .contains: false
    }
  }
}

/// The left side of an operator.
enum FilterField {
  case list, tag, state, parent, has, `is`, priority, attribute
  case text(TaskFilter.TextField)
  case date(TaskFilter.DateField)

  /// Creates the field with a name, in any case; `attribute` has no name of its own.
  init?(name: String) {
    guard let field = Self.named[name.lowercased()] else { return nil }
    self = field
  }

  private static let named: [String: FilterField] = {
    var fields: [String: FilterField] = [
      "list": .list, "tag": .tag, "state": .state, "parent": .parent, "has": .has, "is": .is, "priority": .priority,
    ]
    // Names that other programs use.
    (fields["p"], fields["pri"], fields["scheduled"]) = (.priority, .priority, .date(.day))
    for field in TaskFilter.TextField.allCases { fields[field.rawValue] = .text(field) }
    for field in TaskFilter.DateField.allCases { fields[field.rawValue] = .date(field) }
    return fields
  }()

  static let names = named.keys.filter { !["p", "pri", "scheduled"].contains($0) }.sorted()

  /// The field and the comparison of a name such as `due.before`, which needs no quoting in shells.
  static func compared(by name: String) -> (FilterField, TaskFilter.Comparison)? {
    let parts = name.lowercased().split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let field = FilterField(name: parts[0]), let comparison = comparisonNames[parts[1]] else {
      return nil
    }
    return (field, comparison)
  }

  private static let comparisonNames: [String: TaskFilter.Comparison] = [
    "is": .equals, "not": .isNot, "isnt": .isNot, "before": .less, "below": .less, "under": .less, "by": .atMost,
    "until": .atMost, "max": .atMost, "after": .greater, "above": .greater, "over": .greater, "since": .atLeast,
    "from": .atLeast, "min": .atLeast, "has": .contains, "contains": .contains,
  ]

  /// The comparisons that the field supports.
  var comparisons: [TaskFilter.Comparison] {
    switch self {
    case .list, .tag, .state, .parent, .has, .is: [.equals, .isNot]
    case .priority, .date: TaskFilter.Comparison.allCases.filter { $0 != .contains }
    case .attribute: TaskFilter.Comparison.allCases
    case .text: [.contains]
    }
  }

  /// A condition on the field, as an example for error messages.
  var example: String {
    switch self {
    case .list: "list:Work"
    case .tag: "+home"
    case .state: "state:active"
    case .parent: "parent: and the task's whole id"
    case .has: "has:notes"
    case .is: "is:open"
    case .priority: "p:high"
    case .attribute: "@client=Acme"
    case .text(let field): "\(field.rawValue)~\"tax form\""
    case .date(let field): "\(field.rawValue).by:today"
    }
  }

  /// An example for the field that somebody may have meant by an unknown name.
  static func example(meantBy name: String) -> String? {
    if let field = synonyms[name.lowercased()] { return field.example }
    return name.nearName(among: names).flatMap(FilterField.init)?.example
  }

  /// A condition in another program's words as it is written here: `list:Home` for `project:Home`.
  static func condition(meantBy name: String, _ value: String) -> String? {
    guard !value.isEmpty else { return nil }
    return switch synonyms[name.lowercased()] {
    case .list: "list:\(value)"
    case .tag: "+\(value)"
    default: nil
    }
  }

  /// The names that other programs use for a field.
  private static let synonyms: [String: FilterField] = [
    "scheduleddate": .date(.day), "planned": .date(.day), "date": .date(.day),
    "on": .date(.day), "duedate": .date(.due), "dueday": .date(.due), "deadline": .date(.due), "by": .date(.due),
    "remind": .date(.reminder), "reminderdate": .date(.reminder), "project": .list, "folder": .list, "in": .list,
    "label": .tag, "labels": .tag, "context": .tag, "status": .state, "name": .text(.title),
    "description": .text(.title), "contains": .text(.text), "modified": .date(.updated), "changed": .date(.updated),
    "done": .date(.completed), "finished": .date(.completed), "entry": .date(.created), "urgency": .priority,
  ]
}

extension String {
  /// The closest of some names, if this one may be a typing error of it.
  func nearName(among names: [String]) -> String? {
    // A long word is not a typing error, and computing the distance costs the product of both lengths.
    utf8.count <= 32 ? nearNames(among: names, limit: 1).first : nil
  }
}

/// Why a text is not a valid filter.
enum FilterFault {
  case tooLong, tooDeep, nullCharacter
  case openQuote, badEscape, quoteInsideWord, textAfterQuote
  case openParenthesis, strayParenthesis, missingCondition, exclamationMark
  case missingField
  case unknownField(String, isCompared: Bool, value: String)
  case wrongOperator(FilterField)
  case missingValue(FilterField)
  case unknownName(String, among: [String])
  case badDate(TallyError, in: String), dateOfSeveralWords
  case badTag(TallyError), badAttributeName, badID

  /// A fault and its offset in Unicode scalars.
  struct Place: Error {
    let fault: FilterFault
    let offset: Int

    init(_ fault: FilterFault, _ offset: Int) {
      (self.fault, self.offset) = (fault, offset)
    }
  }

  /// The error for the fault at a column.
  func error(at column: Int) -> TallyError {
    let cause: (any Error)? =
      switch self {
      case .badDate(_, let text): UnreadFilterDate(text: text)
      case .badTag(let error): error
      case .unknownField(let name, let isCompared, let value):
        UnknownFilterField(
          name: name, mayBeAttribute: isCompared && FilterField.example(meantBy: name) == nil,
          meantCondition: isCompared ? nil : FilterField.condition(meantBy: name, value))
      default: nil
      }
    let (message, remedy) = words
    return TallyError(
      .invalidFilter, message, remedy: remedy, at: TextPosition(line: 1, column: column), cause: cause)
  }

  /// The message and the remedy, without any of the text.
  private var words: (message: String, remedy: String) {
    switch self {
    case .tooLong: ("The filter has more than \(TaskFilter.maximumLength) characters", "Look for less at a time")
    case .tooDeep:
      ("The filter nests more than \(TaskFilter.maximumNesting) deep", "Remove parentheses or negations")
    case .nullCharacter: ("The filter has a NUL character", "Remove it")
    case .openQuote: ("The quotation mark is not closed", "Write another one at the end of the text")
    case .badEscape: ("The backslash stands before neither a quotation mark nor a backslash", Self.escapeRemedy)
    case .quoteInsideWord: ("A quotation mark stands inside a word", Self.quoteRemedy)
    case .textAfterQuote: ("The quotation mark is followed by more text", "Write a blank after it")
    case .openParenthesis: ("The parenthesis is not closed", "Write ) at the end of the group")
    case .strayParenthesis: ("The parenthesis closes nothing", "Remove it, or write ( before the group")
    case .missingCondition: ("A condition is missing", "Write one, as in +home, due.by:today or is:open")
    case .exclamationMark: ("A condition cannot begin with an exclamation mark", "Write - or not for the opposite")
    case .missingField: ("The operator has no field", "Write one before it, or put the text in quotation marks")
    case .unknownField(let name, _, _): ("The field does not exist", Self.remedy(forField: name))
    case .wrongOperator(let field): ("The field cannot be compared like this", Self.remedy(forOperatorOf: field))
    case .missingValue(let field): ("The value is missing", "Write one, as in \(field.example)")
    case .unknownName(let name, let names): ("The value does not exist", Self.remedy(for: name, among: names))
    case .badDate(let error, _), .badTag(let error): (error.message, error.remedy)
    case .dateOfSeveralWords:
      ("A date of several words is not in quotation marks", "Write as in due.by:\"next friday\"")
    case .badAttributeName: ("No attribute can have such a name", "A name has 1 to 64 characters, as in @client=Acme")
    case .badID: ("The text is not the id of a task", "Write all 32 digits with their hyphens")
    }
  }

  private static let escapeRemedy = "Write it twice to look for one"
  private static let quoteRemedy = "Put the whole value in quotation marks, as in text~\"tax form\""

  private static func remedy(forOperatorOf field: FilterField) -> String {
    "Use \(field.comparisons.map(\.rawValue).listed), as in \(field.example)"
  }

  private static func remedy(forField name: String) -> String {
    FilterField.example(meantBy: name).map { "Write as in \($0)" }
      ?? "Use \((FilterField.names + ["@NAME for a field of your own"]).listed); "
      + "put a text to look for in quotation marks"
  }

  private static func remedy(for name: String, among names: [String]) -> String {
    name.nearName(among: names).map { "Did you mean \($0)?" } ?? "Use \(names.listed)"
  }
}

/// The cause of an error about an unknown field in a filter; the library's messages never contain the name.
package struct UnknownFilterField: Error {
  package let name: String
  /// Whether an attribute may have been meant; with a colon, the text is more likely an address.
  package let mayBeAttribute: Bool
  /// The condition that was meant, if the name is another program's.
  package let meantCondition: String?
}

/// The cause of an error about an unreadable date in a filter; the library's messages never contain the user's text.
package struct UnreadFilterDate: Error {
  package let text: String
}

extension [String] {
  /// The words joined with commas, and with `or` before the last one.
  fileprivate var listed: String {
    count < 2 ? joined() : dropLast().joined(separator: ", ") + " or " + (last ?? "")
  }
}
