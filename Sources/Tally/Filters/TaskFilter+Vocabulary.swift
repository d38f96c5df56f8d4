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
