public import TallyEngine

/// The sort order of a query's tasks, the same on every machine: ties are sorted by creation and id.
///
/// Tasks without the value are last in both directions.
public struct TaskOrder: Hashable, Sendable {
  /// The value to sort by; the raw value is its name in texts.
  public enum Key: String, CaseIterable, Hashable, Sendable {
    /// As in a list: active tasks first, then those not started, then completed ones; within a state, in manual order.
    case place
    /// By the due date or the end of the due day, soonest first.
    case due
    /// By priority, highest first, then by ``place``.
    case priority
    /// By creation, oldest first.
    case created
    /// By the last change, newest first.
    case updated
    /// By completion, newest first.
    case completed
    /// By what to do next: active tasks, then overdue ones, then those due or planned today, then all others that can
    /// be done now, and then those planned for later or waiting for their start. Ties are sorted by due day, priority, due time and ``place``. Tasks
    /// that others block come last, each after those that block it.
    ///
    /// ``NextWeights`` adjusts this order.
    case next

    /// Whether the greatest value comes first by default.
    var isDescendingByDefault: Bool { self == .updated || self == .completed }

    /// Whether the order can be reversed in a meaningful way.
    var canBeReversed: Bool { self != .place && self != .next }
  }

  /// The value to sort by.
  public let key: Key
  /// Whether the direction is the opposite of the key's default; always false for `place` and `next`.
  public let isReversed: Bool

  /// Creates an order; `isReversed` is ignored for `place` and `next`.
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

  /// The same order in the other direction.
  public var reversed: TaskOrder { TaskOrder(key, isReversed: !isReversed) }
}

extension TaskOrder: TextCodable {
  /// The key's name, with `:reversed` for the other direction.
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

/// The weights that sort tasks by ``TaskOrder/Key/next``.
///
/// Each task gets the greatest of the weights that apply to it. Tasks of equal weight are sorted by due day and
/// then by priority, or by priority first if ``priority`` is greater than ``due``.
///
/// ```swift
/// var configuration = TaskStore.Configuration()
/// configuration.nextWeights.priority = 9  // priority before the due day
/// ```
public struct NextWeights: Hashable, Sendable {
  /// The weight of a task in progress.
  public var started = 50
  /// The weight of an overdue task: its due time or day has passed, or, without either, its reminder.
  public var overdue = 40
  /// The weight of a task that is due today or planned for today.
  public var today = 30
  /// The weight of a task planned for an earlier day.
  public var left = 10
  /// The weight of a task that can be done now because it is not planned for a day.
  public var free = 10
  /// The weight of a task planned for a later day, and the only one of a task that waits for its start.
  public var later = 0
  /// The weight of the due day among tasks of equal weight.
  public var due = 2
  /// The weight of the priority among tasks of equal weight.
  public var priority = 1

  /// Creates the default weights.
  public init() {}

  /// The range of a weight; other values are clamped to it.
  public static let range = 0...100

  /// The rank of an open task in the order: a greater weight gives a lower rank.
  func rank(isStarted: Bool, isOverdue: Bool, isDueToday: Bool, planned: DayRelation?, isWaiting: Bool) -> UInt8 {
    if isWaiting { return rank(ofWeight: later) }
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
    return rank(ofWeight: weight)
  }

  private func rank(ofWeight weight: Int) -> UInt8 {
    UInt8(Self.range.upperBound - min(max(weight, Self.range.lowerBound), Self.range.upperBound))
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
  // This order is that of the text form, which programs exchange.
  private var numbers: [Int] { [started, overdue, today, left, free, later, due, priority] }

  /// The weights in the order of the properties, separated by commas: `50,40,30,10,10,0,2,1`.
  public var text: String { numbers.map(String.init).joined(separator: ",") }

  /// Reads the form of ``text``; `nil` for any other text, and for a weight outside ``range``.
  public init?(text: String) {
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 8, numbers.allSatisfy({ $0.map(Self.range.contains) ?? false }) else { return nil }
    let weights = numbers.compactMap(\.self)
    (started, overdue, today, left) = (weights[0], weights[1], weights[2], weights[3])
    (free, later, due, priority) = (weights[4], weights[5], weights[6], weights[7])
  }
}
