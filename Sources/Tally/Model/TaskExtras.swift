import Foundation

/// The fields that few tasks have.
///
/// A task keeps them in one object, or none: each reference in a task costs every copy of it, and a view copies hundreds.
struct TaskExtras: Hashable, Sendable {
  var dueDay: CalendarDay?
  var priority = Priority.none
  var tags = TagSet()
  var parentID: UUID?
  var recurrence: Recurrence?
  var series: RecurrenceSeries?
  var attributes: [String: AttributeValue] = [:]

  static let none = TaskExtras()

  /// Keeps values that never change, so that copies of a task may share them.
  final class Box: Hashable, Sendable {
    let extras: TaskExtras

    /// Creates a box; `nil` if there is nothing to keep.
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
  /// The value of one of these fields; `nil` if the task has none.
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
