import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// The sentences of counts and trends at their edges.
@Suite struct StatisticsSentenceTests {
  /// The statistics at an instant of a store in UTC whose weeks begin on Monday, with a task completed at each instant.
  private func statistics(at now: String, completedAt instants: [String]) throws -> Statistics {
    let now = try Timestamp(iso8601: now)
    return try withStore(.testing(clock: TestClock(now), timeZone: "UTC")) { store in
      try store.writeAndWait { transaction in
        for instant in instants {
          let task = try transaction.add(TaskDraft(title: "task"))
          try transaction.complete(task.id, at: OffsetTimestamp(iso8601: instant))
        }
      }
      return try store.statistics()
    }
  }

  @Test func nothingEverCompletedSaysSo() throws {
    let statistics = try statistics(at: "2026-11-21T12:00:00Z", completedAt: [])
    #expect(statistics.monthTrend.message == "No data available yet")
    #expect(statistics.weekTrend.message == "No data available yet")
    #expect(statistics.monthTrend.direction == .none)
    #expect(statistics.completed.todayMessage == "0 tasks completed today")
    #expect(statistics.streak == Streak(current: 0, longest: 0, longestEnded: nil))
    #expect(statistics.cycleTime.medianInSeconds == nil)
    #expect(statistics.byList.isEmpty)
    #expect(statistics.series.buckets.count == 30)
  }

  @Test func theFirstDayOfUseHasNoLastMonth() throws {
    let statistics = try statistics(
      at: "2026-11-21T12:00:00Z", completedAt: ["2026-11-21T10:00:00Z", "2026-11-21T11:00:00Z"])
    #expect(statistics.monthTrend.message == "No data from last month")
    #expect(statistics.weekTrend.message == "No data from last week")
    #expect(statistics.monthTrend.direction == .none)
    #expect(statistics.completed.todayMessage == "2 tasks completed today")
    #expect(statistics.streak.current == 1)
  }

  @Test func oneTaskIsSingular() throws {
    let statistics = try statistics(
      at: "2026-11-21T12:00:00Z",
      completedAt: ["2026-11-21T10:00:00Z", "2026-10-02T11:00:00Z", "2026-10-03T11:00:00Z"])
    #expect(statistics.completed.todayMessage == "1 task completed today")
    #expect(statistics.completed.weekMessage == "1 task completed this week")
    #expect(statistics.completed.monthMessage == "1 task completed this month")
    #expect(statistics.monthTrend.message == "1 task this month, down from 2 last month")
    #expect(statistics.monthTrend.direction == .down)
    #expect(statistics.weekTrend.message == "No data from last week")
  }

  @Test func theFirstDayOfAMonthComparesWithTheWholeLastOneAndWithItsFirstDay() throws {
    let statistics = try statistics(
      at: "2026-11-01T12:00:00Z",
      completedAt: [
        "2026-11-01T12:00:00Z", "2026-10-01T11:59:59.999999Z", "2026-10-01T12:00:00Z", "2026-10-01T12:00:00.000001Z",
        "2026-10-31T23:59:59.999999Z",
      ])
    #expect(statistics.monthTrend.message == "1 task this month, down from 4 last month")
    #expect(statistics.monthTrend.elapsedCurrent == 1)
    #expect(statistics.monthTrend.elapsedPrevious == 2, "up to noon of the first day, noon itself included")
  }

  @Test func theLastDayOfALongMonthComparesWithAllOfAShortOne() throws {
    let statistics = try statistics(
      at: "2026-03-31T00:00:00Z", completedAt: ["2026-02-28T23:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"])
    #expect(statistics.monthTrend.elapsedPrevious == 2)
    #expect(statistics.monthTrend.elapsedCurrent == 1)
  }

  @Test func equalPeriodsAreTheSame() throws {
    let statistics = try statistics(
      at: "2026-11-21T12:00:00Z",
      completedAt: [
        "2026-11-16T10:00:00Z", "2026-11-17T10:00:00Z", "2026-11-09T11:00:00Z", "2026-11-15T23:59:59Z",
        "2026-10-02T11:00:00Z", "2026-10-02T12:00:00Z", "2026-10-02T13:00:00Z", "2026-10-02T14:00:00Z",
      ])
    #expect(statistics.monthTrend.message == "4 tasks this month, same as last month")
    #expect(statistics.monthTrend.direction == .same)
    #expect(statistics.weekTrend.message == "2 tasks this week, same as last week")
    #expect(statistics.weekTrend.direction == .same)
  }

  @Test func moreThanLastTimeIsUp() throws {
    let statistics = try statistics(
      at: "2026-11-21T12:00:00Z",
      completedAt: ["2026-11-16T10:00:00Z", "2026-11-17T10:00:00Z", "2026-11-09T11:00:00Z", "2026-10-02T11:00:00Z"])
    #expect(statistics.monthTrend.message == "3 tasks this month, up from 1 last month")
    #expect(statistics.weekTrend.message == "2 tasks this week, up from 1 last week")
    #expect(statistics.completed.weekMessage == "2 tasks completed this week")
    #expect(statistics.weekTrend.direction == .up)
  }

  @Test func nothingThisMonthReadsAsZero() throws {
    let statistics = try statistics(at: "2026-11-21T12:00:00Z", completedAt: ["2026-10-16T10:00:00Z"])
    #expect(statistics.monthTrend.message == "0 tasks this month, down from 1 last month")
    #expect(statistics.completed.monthMessage == "0 tasks completed this month")
  }

  @Test func completionsAheadOfNowCountInTheirPeriodsAndInNoStreak() throws {
    let statistics = try statistics(
      at: "2026-11-19T12:00:00Z", completedAt: ["2026-11-18T10:00:00Z", "2026-11-19T18:00:00Z", "2026-11-20T10:00:00Z"])
    #expect(statistics.completed.today == 1)
    #expect(statistics.completed.thisWeek == 3)
    #expect(statistics.weekTrend.elapsedCurrent == 1)
    #expect(statistics.streak.current == 2)
  }
}
