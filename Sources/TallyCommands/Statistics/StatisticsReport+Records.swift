import Foundation
import Tally

extension StatisticsReport {
  /// The report as one fact a line: its name, a tab, its value; names are the paths in the JSON.
  var records: String {
    (facts.map { [$0.0, $0.1] } + profiles + lists + buckets).map(PlainRecords.line).joined()
  }

  private var facts: [(String, String?)] {
    let (completed, open) = (statistics.completed, statistics.open)
    let (streak, cycleTime) = (statistics.streak, statistics.cycleTime)
    return [
      ("asOf", statistics.asOf.iso8601), ("timeZone", clock.zone.name),
      ("weekStart", WeekdayName.full[statistics.weekStart - 1].lowercased()),
      ("completed.today", String(completed.today)), ("completed.thisWeek", String(completed.thisWeek)),
      ("completed.lastWeek", String(completed.lastWeek)), ("completed.thisMonth", String(completed.thisMonth)),
      ("completed.lastMonth", String(completed.lastMonth)), ("completed.thisYear", String(completed.thisYear)),
      ("completed.allTime", String(completed.allTime)),
    ] + facts(of: statistics.monthTrend, "trend.month") + facts(of: statistics.weekTrend, "trend.week") + [
      ("streak.current", String(streak.current)), ("streak.longest", String(streak.longest)),
      ("streak.longestEnded", streak.longestEnded?.iso8601),
      ("open.total", String(open.total)), ("open.active", String(open.active)),
      ("open.overdue", String(open.overdue)), ("open.scheduledToday", String(open.scheduledToday)),
      ("open.completedOfToday", String(open.completedOfToday)),
      ("cycleTime.count", String(cycleTime.count)),
      ("cycleTime.medianSeconds", cycleTime.medianInSeconds.map { String($0) }),
      ("cycleTime.p90Seconds", cycleTime.percentile90InSeconds.map { String($0) }),
    ]
  }

  private func facts(of trend: Trend, _ path: String) -> [(String, String?)] {
    [
      ("\(path).direction", trend.direction.rawValue), ("\(path).message", trend.message),
      ("\(path).sameElapsed.current", String(trend.elapsedCurrent)),
      ("\(path).sameElapsed.previous", String(trend.elapsedPrevious)),
    ]
  }

  private var profiles: [[String?]] {
    statistics.byWeekday.enumerated().map { index, count in
      ["byWeekday", WeekdayName.full[(statistics.weekStart + index - 1) % 7].lowercased(), String(count)]
    } + statistics.byHour.enumerated().map { ["byHour", String($0), String($1)] }
  }

  private var lists: [[String?]] {
    statistics.byList.map { ["byList", $0.listID?.text, $0.name, String($0.completed)] }
  }

  private var buckets: [[String?]] {
    let series = statistics.series
    return [
      ["series.by", series.by.rawValue], ["series.from", series.from.iso8601], ["series.to", series.to.iso8601],
    ]
      + series.buckets.map {
        ["series.bucket", $0.start.iso8601, String($0.completed), String($0.created), String($0.open)]
      }
  }
}
