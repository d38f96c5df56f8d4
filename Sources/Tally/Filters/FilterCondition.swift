import Foundation

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

  /// Whether the opposite is written with `!=` instead of a negation.
  var hasNegatedForm: Bool {
    switch self {
    case .priority(.equal, _), .date(_, .equal, _), .attribute(_, .equal, _): true
    default: false
    }
  }
}

/// The lists that a condition means.
enum FilterList: Hashable, Sendable {
  /// Tasks without a list and without a day.
  case inbox
  /// Tasks without a list.
  case none
  case id(UUID)
  /// The lists with a name, in another case only if none has it exactly.
  case name(FilterListName)

  /// Reads a name, an id, `inbox` or `none`, none of which a list may have as its name.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - column: Where it stands in the text of a filter; `nil` for one that a program composes.
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

/// The name of a list, and where a text has it; two names are equal wherever they stand.
struct FilterListName: Hashable, Sendable {
  let text: String
  /// From 1, in characters; `nil` if the filter was not read from a text.
  let column: Int?

  static func == (left: FilterListName, right: FilterListName) -> Bool { left.text == right.text }

  func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// The cause of an error about a list that a filter names: messages of the library never contain a name.
package struct UnknownFilterList: Error {
  package let name: String
}

/// An operator as it stands in a normal form, without `!=`; the raw value is its text.
enum FilterOperator: String, Hashable, Sendable {
  case equal = "="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case contains = "~"

  /// Whether the operator holds for two values that can be ordered; `contains` never does.
  func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
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
