import Foundation
import Tally
import TallyTestSupport
import Testing

/// Goals per day and week, at their edges.
@Suite struct GoalTests {
  /// The progress at noon on Thursday 2026-03-12, in UTC with weeks from Monday, with a task completed at noon of days.
  private func progress(_ goal: Goal, completedOn days: [String], from: String? = nil) throws -> GoalProgress? {
    let clock = TestClock(try Timestamp(iso8601: "2026-03-12T12:00:00Z"))
    return try withStore(.testing(clock: clock, timeZone: "UTC")) { store in
      try store.writeAndWait { transaction in
        for day in days {
          let task = try transaction.add("task", to: .inbox)
          try transaction.complete(task.id, at: OffsetTimestamp(iso8601: "\(day)T12:00:00Z"))
        }
      }
      var options = StatisticsOptions()
      options.goal = goal
      options.from = try from.map { try CalendarDay(iso8601: $0) }
      return try store.statistics(options).goal
    }
  }

  @Test func aDayThatIsNotOverDoesNotBreakTheStreak() throws {
    let days = ["2026-03-09", "2026-03-09", "2026-03-10", "2026-03-10", "2026-03-11", "2026-03-11", "2026-03-12"]
    let progress = try #require(try progress(.perDay(2), completedOn: days))
    #expect(progress.completed == 1 && !progress.isMet)
    #expect(progress.metCount == 3 && progress.periodCount == 4)
    #expect(progress.streak.current == 3 && progress.streak.longest == 3)
    #expect(progress.streak.longestEnded?.iso8601 == "2026-03-11")
  }

  @Test func oneTaskLessThanTheGoalBreaksTheStreak() throws {
    let days = ["2026-03-09", "2026-03-09", "2026-03-10", "2026-03-12", "2026-03-12"]
    let progress = try #require(try progress(.perDay(2), completedOn: days))
    #expect(progress.isMet && progress.metCount == 2 && progress.periodCount == 4)
    #expect(progress.streak.current == 1 && progress.streak.longest == 1)
    #expect(progress.streak.longestEnded?.iso8601 == "2026-03-09")
  }

  @Test func weeksCountFromTheFirstWeekday() throws {
    let days = ["2026-03-01", "2026-03-02", "2026-03-08", "2026-03-09", "2026-03-10"]
    let progress = try #require(try progress(.perWeek(2), completedOn: days))
    #expect(progress.completed == 2 && progress.metCount == 2 && progress.periodCount == 3)
    #expect(progress.streak.current == 2)
    #expect(progress.streak.longestEnded?.iso8601 == "2026-03-15")
  }

  @Test func aWeekThatTheNamedDaysCutCountsAsAWhole() throws {
    let days = ["2026-02-23", "2026-03-02", "2026-03-02", "2026-03-09"]
    let progress = try #require(try progress(.perWeek(2), completedOn: days, from: "2026-03-08"))
    #expect(progress.metCount == 1 && progress.periodCount == 2)
  }

  @Test func withoutACompletionNoDayCounts() throws {
    let progress = try #require(try progress(.perDay(1), completedOn: []))
    #expect(progress.metCount == 0 && progress.periodCount == 0 && progress.streak.longestEnded == nil)
  }

  @Test func aStreakThatEndedLongAgoIsOver() throws {
    let progress = try #require(try progress(.perWeek(1), completedOn: ["2025-01-06", "2025-01-13"]))
    #expect(progress.streak.current == 0 && progress.streak.longest == 2)
    #expect(progress.metCount == 2 && progress.periodCount == 62)
  }

  @Test(arguments: ["5", "5/month", "0/day", "-1/week", "five/day", "5/day/week", " 5/day", ""])
  func otherTextsAreNoGoals(text: String) throws {
    let error = #expect(throws: TallyError.self) { try Goal(text: text) }
    #expect(error?.code == .invalidGoal)
  }

  @Test func aGoalIsReadAsItIsWritten() throws {
    for goal in [Goal.perDay(5), .perWeek(20)] { #expect(try Goal(text: goal.text) == goal) }
    #expect(Goal.perDay(5).text == "5/day")
  }

  @Test func aGoalOfNothingIsRefused() throws {
    try withStore { store in
      var options = StatisticsOptions()
      options.goal = .perDay(0)
      let error = #expect(throws: TallyError.self) { try store.statistics(options) }
      #expect(error?.code == .invalidGoal)
    }
  }
}
