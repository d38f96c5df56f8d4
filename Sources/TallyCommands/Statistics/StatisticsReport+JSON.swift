import Foundation
import Tally

extension StatisticsReport {
  /// Writes the report as one JSON object, whose keys and their order are part of the command line's contract.
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("asOf", statistics.asOf)
      json.member("timeZone", clock.zone.name)
      json.member("weekStart", WeekdayName.full[statistics.weekStart - 1].lowercased())
      writeCompleted(to: &json)
      writeTrends(to: &json)
      writeStreak(to: &json)
      writeOpen(to: &json)
      writeCycleTime(to: &json)
      json.array("byWeekday", of: statistics.byWeekday) { $0.value(Int64($1)) }
      json.array("byHour", of: statistics.byHour) { $0.value(Int64($1)) }
      json.array("byList", of: statistics.byList) { json, count in
        json.object { json in
          json.member("listID", count.listID)
          json.member("name", count.name)
          json.member("completed", count.completed)
        }
      }
      writeSeries(to: &json)
    }
  }

  private func writeCompleted(to json: inout JSONWriter) {
    let completed = statistics.completed
    json.key("completed")
    json.object { json in
      json.member("today", completed.today)
      json.member("thisWeek", completed.thisWeek)
      json.member("lastWeek", completed.lastWeek)
      json.member("thisMonth", completed.thisMonth)
      json.member("lastMonth", completed.lastMonth)
      json.member("thisYear", completed.thisYear)
      json.member("allTime", completed.allTime)
    }
  }

  private func writeTrends(to json: inout JSONWriter) {
    json.key("trend")
    json.object { json in
      json.key("month")
      write(statistics.monthTrend, to: &json)
      json.key("week")
      write(statistics.weekTrend, to: &json)
    }
  }

  private func write(_ trend: Trend, to json: inout JSONWriter) {
    json.object { json in
      json.member("direction", trend.direction.rawValue)
      json.member("message", trend.message)
      json.key("sameElapsed")
      json.object { json in
        json.member("current", trend.elapsedCurrent)
        json.member("previous", trend.elapsedPrevious)
      }
    }
  }

  private func writeStreak(to json: inout JSONWriter) {
    json.key("streak")
    json.object { json in
      json.member("current", statistics.streak.current)
      json.member("longest", statistics.streak.longest)
      json.key("longestEnded")
      json.value(statistics.streak.longestEnded)
    }
  }

  private func writeOpen(to json: inout JSONWriter) {
    json.key("open")
    json.object { json in
      json.member("total", statistics.open.total)
      json.member("active", statistics.open.active)
      json.member("overdue", statistics.open.overdue)
      json.member("scheduledToday", statistics.open.scheduledToday)
      json.member("completedOfToday", statistics.open.completedOfToday)
    }
  }

  private func writeCycleTime(to json: inout JSONWriter) {
    json.key("cycleTime")
    json.object { json in
      json.member("count", statistics.cycleTime.count)
      json.member("medianSeconds", statistics.cycleTime.medianInSeconds)
      json.member("p90Seconds", statistics.cycleTime.percentile90InSeconds)
    }
  }

  private func writeSeries(to json: inout JSONWriter) {
    let series = statistics.series
    json.key("series")
    json.object { json in
      json.member("by", series.by.rawValue)
      json.key("from")
      json.value(series.from)
      json.key("to")
      json.value(series.to)
      json.array("buckets", of: series.buckets) { json, bucket in
        json.object { json in
          json.key("start")
          json.value(bucket.start)
          json.member("completed", bucket.completed)
          json.member("created", bucket.created)
          json.member("open", bucket.open)
        }
      }
    }
  }
}
