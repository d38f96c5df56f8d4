public import Foundation

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
