import Tally

extension StatisticsReport {
  /// The report as names and values.
  var facts: Facts {
    [
      "asOf": .instant(clock.now), "timeZone": .text(clock.zone.name),
      "weekStart": .text(Self.weekdayName(statistics.weekStart)),
      "scope": scope, "completed": completed, "messages": messageFacts,
      "trend": ["month": Self.facts(of: statistics.monthTrend), "week": Self.facts(of: statistics.weekTrend)],
      "streak": Self.facts(of: statistics.streak), "goal": goal, "open": open, "cycleTime": cycleTime,
      "byWeekday": .array(
        statistics.byWeekday.map(Facts.count),
        labels: statistics.byWeekday.indices.map { Self.weekdayName((statistics.weekStart + $0 - 1) % 7 + 1) }),
      "byHour": .array(
        statistics.byHour.map(Facts.count), labels: statistics.byHour.indices.map { String($0) }),
      "byList": .array(
        statistics.byList.map {
          ["listID": .id($0.listID), "name": .text($0.name), "completed": .count($0.completed)]
        }),
      "byTag": .array(statistics.byTag.map { ["tag": .text($0.tag), "completed": .count($0.completed)] }),
      "byPriority": .array(
        statistics.byPriority.map {
          ["priority": .text($0.priority == .none ? nil : $0.priority.name), "completed": .count($0.completed)]
        }),
      "series": series,
    ]
  }

  private static func weekdayName(_ number: Int) -> String { WeekdayName.full[number - 1].lowercased() }

  private var scope: Facts {
    [
      "listID": .id(options.listID), "list": .text(list?.name), "filter": .text(options.filterText),
      "path": .text(statistics.path.rawValue),
    ]
  }

  private var completed: Facts {
    let completed = statistics.completed
    return [
      "today": .count(completed.today),
      "thisWeek": .count(completed.thisWeek), "lastWeek": .count(completed.lastWeek),
      "thisMonth": .count(completed.thisMonth), "lastMonth": .count(completed.lastMonth),
      "thisYear": .count(completed.thisYear), "allTime": .count(completed.allTime),
    ]
  }

  private static func facts(of trend: Trend) -> Facts {
    [
      "direction": .text(trend.direction.rawValue), "message": .text(trend.message),
      "sameElapsed": ["current": .count(trend.elapsedCurrent), "previous": .count(trend.elapsedPrevious)],
    ]
  }

  private var messageFacts: Facts {
    let completed = statistics.completed
    return [
      "today": .text(completed.todayMessage), "thisWeek": .text(completed.weekMessage),
      "thisMonth": .text(completed.monthMessage),
    ]
  }

  private static func facts(of streak: Streak) -> Facts {
    [
      "current": .count(streak.current), "longest": .count(streak.longest), "longestEnded": .day(streak.longestEnded),
    ]
  }

  private var goal: Facts {
    guard let progress = statistics.goal else { return .text(nil) }
    return [
      "target": .count(progress.goal.target), "per": .text(progress.goal.period.rawValue),
      "completed": .count(progress.completed), "isMet": .flag(progress.isMet), "met": .count(progress.metCount),
      "periods": .count(progress.periodCount), "streak": Self.facts(of: progress.streak),
    ]
  }

  private var open: Facts {
    let open = statistics.open
    return [
      "total": .count(open.total), "active": .count(open.active), "overdue": .count(open.overdue),
      "scheduledToday": .count(open.scheduledToday), "completedOfToday": .count(open.completedOfToday),
    ]
  }

  private var cycleTime: Facts {
    let cycleTime = statistics.cycleTime
    return [
      "count": .count(cycleTime.count), "medianSeconds": .integer(cycleTime.medianInSeconds),
      "p90Seconds": .integer(cycleTime.percentile90InSeconds),
    ]
  }

  private var series: Facts {
    let buckets = statistics.series.buckets.map { bucket -> Facts in
      [
        "start": .day(bucket.start), "completed": .count(bucket.completed), "created": .count(bucket.created),
        "open": .count(bucket.open),
      ]
    }
    return [
      "by": .text(statistics.series.by.rawValue), "from": .day(statistics.series.from),
      "to": .day(statistics.series.to), .init("buckets", onlyIn: .json): .array(buckets),
      .init("bucket", onlyIn: .plain): .array(buckets),
    ]
  }
}
