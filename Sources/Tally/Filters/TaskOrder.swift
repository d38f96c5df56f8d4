/// The order of a query's tasks, which is the same on every machine: equal tasks are ordered by creation and id.
///
/// Tasks without the value stand last in either direction.
public struct TaskOrder: Hashable, Sendable {
  /// The compared value; the raw value is the name in texts.
  public enum Key: String, CaseIterable, Hashable, Sendable {
    /// As in a list: active tasks first, then those not started, then the completed ones; inside a state by hand.
    case place
    /// By due date or the end of the due day, soonest first.
    case due
    /// By priority, highest first, then as ``place``.
    case priority
    /// By creation, oldest first.
    case created
    /// By the last change, newest first.
    case updated
    /// By completion, newest first.
    case completed
    /// What to do next: active tasks, then overdue ones, then those due or planned today, then all that can be done now, and
    /// last those planned for later; among equals by the day on which they are due, priority, due time and ``place``.
    ///
    /// ``NextWeights`` change it.
    case next

    /// Whether the greatest value comes first by default.
    var isDescendingByDefault: Bool { self == .updated || self == .completed }

    /// Whether the order makes sense the other way round.
    var canBeReversed: Bool { self != .place && self != .next }
  }

  /// The compared value.
  public let key: Key
  /// Whether the order is the other way round than the key's own; never for `place` and `next`.
  public let isReversed: Bool

  /// Creates an order; `isReversed` does not matter for `place` and `next`.
  public init(_ key: Key, isReversed: Bool = false) {
    self.key = key
    self.isReversed = isReversed && key.canBeReversed
  }

  /// ``Key/place``.
  public static let place = TaskOrder(.place)
  /// ``Key/due``.
  public static let due = TaskOrder(.due)
  /// ``Key/priority``.
  public static let priority = TaskOrder(.priority)
  /// ``Key/created``.
  public static let created = TaskOrder(.created)
  /// ``Key/updated``.
  public static let updated = TaskOrder(.updated)
  /// ``Key/completed``.
  public static let completed = TaskOrder(.completed)
  /// ``Key/next``.
  public static let next = TaskOrder(.next)

  /// The same order the other way round.
  public var reversed: TaskOrder { TaskOrder(key, isReversed: !isReversed) }
}

extension TaskOrder: TextCodable {
  /// The name, with `:reversed` for the other way round.
  public var text: String { key.rawValue + (isReversed ? Self.reversedEnding : "") }

  /// Reads an order; throws `invalidToken` for any other text.
  public init(text: String) throws(TallyError) {
    let isReversed = text.hasSuffix(Self.reversedEnding)
    let name = isReversed ? String(text.dropLast(Self.reversedEnding.count)) : text
    guard let key = Key(rawValue: name), !isReversed || key.canBeReversed else {
      let names = Key.allCases.map(\.rawValue).joined(separator: ", ")
      throw TallyError(
        .invalidToken, "The order does not exist",
        remedy: "Use one of \(names), with :reversed for the other way round")
    }
    self.init(key, isReversed: isReversed)
  }

  private static let reversedEnding = ":reversed"
}
