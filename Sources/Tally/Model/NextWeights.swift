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
