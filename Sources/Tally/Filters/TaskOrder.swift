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

/// The weights that order tasks in ``TaskOrder/Key/next``.
///
/// A task gets the greatest of the weights that apply to it. Tasks of equal weight are ordered by due day, then by
/// priority; if ``priority`` weighs more than ``due``, by priority first.
///
/// ```swift
/// var configuration = TaskStore.Configuration()
/// configuration.nextWeights.priority = 9  // priority before the due day
/// ```
public struct NextWeights: Hashable, Sendable {
  /// The weight of a task in progress.
  public var started = 50
  /// The weight of a late task: its due time or day has passed, or, without either, its reminder.
  public var overdue = 40
  /// The weight of a task that is due today or planned for today.
  public var today = 30
  /// The weight of a task that is left from an earlier day.
  public var left = 10
  /// The weight of a task that can be done now, as it is planned for no day.
  public var free = 10
  /// The weight of a task that is planned for a later day.
  public var later = 0
  /// The weight of the day on which a task is due, among tasks of one weight.
  public var due = 2
  /// The weight of the priority, among tasks of one weight.
  public var priority = 1

  /// The weights of a new store.
  public init() {}

  /// The weights that can be given; others count as the nearest one.
  public static let range = 0...100

  /// The rank of an open task in the order: a greater weight gives a lower rank.
  func rank(isStarted: Bool, isOverdue: Bool, isDueToday: Bool, planned: DayRelation?) -> UInt8 {
    let day: Int =
      switch planned {
      case .today?: today
      case .earlier?: left
      case .later?: later
      case nil: free
      }
    var weight = day
    if isStarted { weight = max(weight, started) }
    if isOverdue { weight = max(weight, overdue) }
    if isDueToday { weight = max(weight, today) }
    return UInt8(Self.range.upperBound - min(max(weight, Self.range.lowerBound), Self.range.upperBound))
  }

  /// Whether a day is before, on or after today.
  enum DayRelation {
    case earlier, today, later

    init(of day: Int32, to today: Int32) {
      self = day == today ? .today : day < today ? .earlier : .later
    }
  }
}

extension NextWeights {
  // The order is that of the text, which programs hand on to each other.
  private var numbers: [Int] { [started, overdue, today, left, free, later, due, priority] }

  /// The weights in the order of the properties, with commas between them: `50,40,30,10,10,0,2,1`.
  public var text: String { numbers.map(String.init).joined(separator: ",") }

  /// Reads what ``text`` gives; `nil` for any other text, and for a weight outside ``range``.
  public init?(text: String) {
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 8, numbers.allSatisfy({ $0.map(Self.range.contains) ?? false }) else { return nil }
    let weights = numbers.compactMap(\.self)
    (started, overdue, today, left) = (weights[0], weights[1], weights[2], weights[3])
    (free, later, due, priority) = (weights[4], weights[5], weights[6], weights[7])
  }
}
