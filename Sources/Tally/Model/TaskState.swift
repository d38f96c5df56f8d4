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

  /// The state after a tap: not started, active, completed, and not started again.
  public var next: TaskState {
    switch self {
    case .notStarted: .active
    case .active: .completed
    case .completed: .notStarted
    }
  }

  /// The state's name in documents: `notStarted`, `active` or `completed`.
  public var name: String {
    switch self {
    case .notStarted: "notStarted"
    case .active: "active"
    case .completed: "completed"
    }
  }

  /// Reads a state by its name in documents.
  ///
  /// - Throws: `invalidState` for any other name.
  public init(name: String) throws(TallyError) {
    guard let state = Self.allCases.first(where: { $0.name == name }) else {
      throw TallyError(
        .invalidState, "The text names no task state", remedy: "Use notStarted, active or completed")
    }
    self = state
  }
}

extension TaskState: TextCodable {
  /// The state's ``name``.
  public var text: String { name }

  /// As ``init(name:)``.
  public init(text: String) throws(TallyError) { try self.init(name: text) }

  // Otherwise its number would be coded, as it has one.

  /// Reads the state's name.
  public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

  /// Writes the state's name.
  public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}
