public import Foundation

/// Completions over time and by group: the result of `StoreTransaction.statistics(_:)`.
///
/// Completions dated after `asOf` count in their own periods; streaks look at days up to today. Coded, every part has the
/// name of its property, which stays; `nil` is left out, and the time zone is Foundation's `{"identifier": …}`.
public struct Statistics: Hashable, Codable, Sendable {
  /// Where the numbers come from.
  public enum Path: String, CaseIterable, Hashable, Codable, Sendable {
    /// The counters: of everything, of one list or none, of one tag or of one priority.
    case counters
    /// A walk over the ledger of completions and the open tasks, as no counter has what the filter selects.
    case ledger
  }

  /// The instant that counted as now.
  public internal(set) var asOf: Timestamp
  /// How it was counted.
  public let path: Path
  /// The time zone of the days.
  public let timeZone: TimeZone
  /// The first day of the week, 1 for Monday to 7 for Sunday (ISO 8601).
  public let weekStart: Int
  /// Completions by period.
  public let completed: CompletedCounts
  /// This month against last month.
  public let monthTrend: Trend
  /// This week against last week.
  public let weekTrend: Trend
  /// Days in a row with a completion.
  public let streak: Streak
  /// How often the goal of the options was met; `nil` without one.
  public let goal: GoalProgress?
  /// The open tasks.
  public let open: OpenCounts
  /// The time from creation to completion.
  public let cycleTime: CycleTime
  /// Completions by day of the week, beginning with `weekStart`; 7 counts.
  public let byWeekday: [Int]
  /// Completions by hour of the local day; 24 counts.
  public let byHour: [Int]
  /// Completions by list: no list first, then the lists in their order, then deleted ones; none without completions.
  public let byList: [ListCount]
  /// Completions by the tags that the tasks had: most first, equal ones by name; none without completions.
  public let byTag: [TagCount]
  /// Completions by the priority that the tasks had: the highest first, `none` last; none without completions.
  public let byPriority: [PriorityCount]
  /// Completions, creations and open tasks over time.
  public let series: Series

  /// Whether two results are equal except for their instant.
  func saysTheSame(as other: Statistics) -> Bool {
    var other = other
    other.asOf = asOf
    return self == other
  }
}

/// The numbers of tasks completed in the periods around now.
public struct CompletedCounts: Hashable, Codable, Sendable {
  /// On the current local day.
  public let today: Int
  /// In the current week, all seven days of it.
  public let thisWeek: Int
  /// In the week before.
  public let lastWeek: Int
  /// In the current month, all of it.
  public let thisMonth: Int
  /// In the month before.
  public let lastMonth: Int
  /// In the current year, all of it.
  public let thisYear: Int
  /// Ever.
  public let allTime: Int

  /// The day's count as a sentence: `1 task completed today`.
  public var todayMessage: String { Self.message(today, "today") }

  /// The week's count as a sentence: `12 tasks completed this week`.
  public var weekMessage: String { Self.message(thisWeek, "this week") }

  /// The month's count as a sentence: `0 tasks completed this month`.
  public var monthMessage: String { Self.message(thisMonth, "this month") }

  private static func message(_ count: Int, _ period: String) -> String {
    "\(count == 1 ? "1 task" : "\(count) tasks") completed \(period)"
  }
}

/// Days in a row on each of which a task was completed, or days or weeks in a row in which a goal was met.
public struct Streak: Hashable, Codable, Sendable {
  /// The days or weeks in a row that end with the current one, or with the one before if that is not over yet.
  public let current: Int
  /// The most in a row, up to the current one.
  public let longest: Int
  /// The last day of the longest streak, the first of them if there are several; `nil` if there is none.
  public let longestEnded: CalendarDay?
}

/// The number of open tasks, and the progress of today.
public struct OpenCounts: Hashable, Codable, Sendable {
  /// The tasks that are not completed.
  public let total: Int
  /// Those among them that are active.
  public let active: Int
  /// Those among them whose due date has passed.
  public let overdue: Int
  /// The tasks scheduled for today, completed ones included.
  public let scheduledToday: Int
  /// Those among them that are completed.
  public let completedOfToday: Int
}

/// The time that tasks took from creation to completion; to the second up to two minutes, then to 1%.
public struct CycleTime: Hashable, Codable, Sendable {
  /// The number of completions it covers.
  public let count: Int
  /// Half of them took at most this long; `nil` without completions.
  public let medianInSeconds: Int64?
  /// Nine in ten of them took at most this long; `nil` without completions.
  public let percentile90InSeconds: Int64?
}
