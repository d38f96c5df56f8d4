public import TallyEngine

/// The progress of a task.
///
/// The raw values are stored on disk: do not change them. Zero is reserved for "no state".
public enum TaskState: UInt8, CaseIterable, Hashable, Sendable {
  /// Not begun yet.
  case notStarted = 1
  /// In progress.
  case active = 2
  /// Done.
  case completed = 3
  /// Closed without being done.
  case cancelled = 4

  /// Whether nothing is left to do: `completed` or `cancelled`.
  public var isClosed: Bool { self == .completed || self == .cancelled }

  /// The state after a tap: not started becomes active, active becomes completed, a closed task not started.
  public var next: TaskState {
    switch self {
    case .notStarted: .active
    case .active: .completed
    case .completed, .cancelled: .notStarted
    }
  }

  /// The state's name in documents: `notStarted`, `active`, `completed` or `cancelled`.
  public var name: String {
    switch self {
    case .notStarted: "notStarted"
    case .active: "active"
    case .completed: "completed"
    case .cancelled: "cancelled"
    }
  }

  /// Creates a state from its name in documents.
  ///
  /// - Throws: `invalidState` for any other name.
  public init(name: String) throws(TallyError) {
    guard let state = Self.allCases.first(where: { $0.name == name }) else {
      throw TallyError(
        .invalidState, "The text names no task state", remedy: "Use notStarted, active, completed or cancelled")
    }
    self = state
  }
}

extension TaskState: TextCodable {
  /// The same as ``name``.
  public var text: String { name }

  /// Creates a state from its name; the same as ``init(name:)``.
  public init(text: String) throws(TallyError) { try self.init(name: text) }

  // Declared here because the default for a raw value would encode the number.

  /// Decodes the state's name.
  public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

  /// Encodes the state's name.
  public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

/// How important a task is.
public enum Priority: UInt8, CaseIterable, Comparable, Sendable {
  // The raw values are stored: do not change them.
  /// No priority.
  case none = 0
  /// Low: 6 to 9 in iCalendar (RFC 5545, section 3.8.1.9).
  case low = 1
  /// Medium: 5 in iCalendar.
  case medium = 2
  /// High: 1 to 4 in iCalendar.
  case high = 3

  /// The name in documents and on the command line.
  public var name: String {
    switch self {
    case .none: "none"
    case .low: "low"
    case .medium: "medium"
    case .high: "high"
    }
  }

  /// Creates a priority from its name.
  ///
  /// - Throws: `invalidPriority` for any other text.
  public init(name: String) throws(TallyError) {
    guard let priority = Self.allCases.first(where: { $0.name == name }) else {
      throw TallyError(
        .invalidPriority, "The text is not a priority", remedy: "Write none, low, medium or high")
    }
    self = priority
  }

  /// Creates a priority as people and other programs write it, in any case: its name, `med`, `h`, `m`, `l`, or
  /// a number from 1 for high to 4 for none.
  package init?(written text: String) {
    switch text.lowercased() {
    case "high", "h", "1": self = .high
    case "medium", "med", "m", "2": self = .medium
    case "low", "l", "3": self = .low
    case "none", "4": self = .none
    default: return nil
    }
  }

  /// Whether the first priority is lower than the second.
  public static func < (left: Priority, right: Priority) -> Bool {
    left.rawValue < right.rawValue
  }
}

extension Priority: TextCodable {
  /// The same as ``name``.
  public var text: String { name }

  /// Creates a priority from its name; the same as ``init(name:)``.
  public init(text: String) throws(TallyError) { try self.init(name: text) }

  /// Decodes the priority's name.
  public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

  /// Encodes the priority's name.
  public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

/// When a task starts: until then it waits.
public enum TaskStart: Hashable, Sendable {
  /// At the beginning of a day, wherever its owner is then.
  case day(CalendarDay)
  /// On no day: the task waits until somebody gives it another start, or none.
  case someday

  /// The day; `nil` for ``someday``.
  public var day: CalendarDay? { if case .day(let day) = self { day } else { nil } }

  /// Whether a task with this start has not started on a day.
  func isLater(than today: CalendarDay) -> Bool { day.map { $0 > today } ?? true }
}

extension TaskItem {
  /// Whether the task waits: it is open, and its ``start`` has not come.
  ///
  /// Views of what there is to do leave such tasks out, see ``StoreTransaction/showsWaiting``.
  ///
  /// - Parameter today: The current day.
  /// - Returns: Whether it waits.
  public func isWaiting(on today: CalendarDay) -> Bool { openStart.map { $0.isLater(than: today) } ?? false }

  /// The start of an open task; closed ones do not wait.
  var openStart: TaskStart? { isOpen ? start : nil }
}
