import Foundation
import Tally

/// The statistics as their screen shows them: numbers, sentences, and charts whose bars lead to their tasks.
struct StatisticsContent {
  private let statistics: Statistics
  private let selection: StatisticsSelection
  private let clock: DateReference
  private let lists: [TaskList]

  init(_ statistics: Statistics, _ selection: StatisticsSelection, _ clock: DateReference, _ lists: [TaskList]) {
    (self.statistics, self.selection, self.clock, self.lists) = (statistics, selection, clock, lists)
  }

  /// The content of `statistics.mustache`.
  var content: [String: Any] {
    // A refused selection stays in the fields, but the numbers ignore it.
    let query = RefusedForm.typed("statistics") ?? selection.query
    let unit = query["by"] ?? selection.options.unit.rawValue
    return [
      "message": statistics.completed.todayMessage, "sentences": sentences, "tiles": tiles,
      "charts": [series, created, open, weekdays, hours] + [listChart, tagChart, priorityChart].compactMap(\.self),
      "from": query["from"] ?? "", "fromType": Self.typeOfField(with: query["from"]),
      "to": query["to"] ?? "", "toType": Self.typeOfField(with: query["to"]),
      "filter": query["filter"] ?? "", "goal": query["goal"] ?? "",
      "units": Series.Unit.allCases.map {
        ["value": $0.rawValue, "name": $0.rawValue.capitalized, "selected": $0.rawValue == unit] as [String: Any]
      },
      "choices": lists.map {
        ["id": $0.id.text, "name": $0.name.shortened(to: 60), "selected": $0.id.text == query["list"]]
          as [String: Any]
      },
    ]
  }

  /// The type of a field for a day; a field for dates would not show other text that was typed.
  static func typeOfField(with text: String?) -> String {
    guard let text, !text.isEmpty else { return "date" }
    return (try? CalendarDay(iso8601: text)) == nil ? "text" : "date"
  }

  private var sentences: [String] {
    var sentences = [statistics.completed.weekMessage, statistics.completed.monthMessage]
    sentences += [statistics.weekTrend.message, statistics.monthTrend.message]
    if let median = statistics.cycleTime.medianInSeconds, let slow = statistics.cycleTime.percentile90InSeconds {
      sentences.append(
        "Half of the tasks are done within \(Self.duration(median)) of their creation, 9 of 10 within "
          + Self.duration(slow))
    }
    if let goal = statistics.goal {
      sentences.append(
        "Goal \(goal.goal.text): \(goal.completed) now, met in \(goal.metCount) of \(goal.periodCount), "
          + "\(goal.streak.current) in a row")
    }
    return sentences
  }

  private var tiles: [[String: String]] {
    let (completed, streak, open) = (statistics.completed, statistics.streak, statistics.open)
    let tiles = [
      ("Today", completed.today), ("This week", completed.thisWeek), ("This month", completed.thisMonth),
      ("This year", completed.thisYear), ("All time", completed.allTime), ("Days in a row", streak.current),
      ("Longest streak", streak.longest), ("Open", open.total), ("Active", open.active), ("Overdue", open.overdue),
    ]
    return tiles.map { ["name": $0.0, "value": "\($0.1)"] }
  }

  private static func duration(_ seconds: Int64) -> String {
    switch seconds {
    case ..<3_600: "\(max(1, seconds / 60)) min"
    case ..<172_800: "\(seconds / 3_600) h"
    default: "\(seconds / 86_400) days"
    }
  }
}

extension StatisticsContent {
  private func bucketName(_ start: CalendarDay) -> String {
    switch statistics.series.by {
    case .day: clock.name(of: start)
    case .week: "week of \(clock.name(of: start))"
    case .month: "\(CalendarNames.months[start.month - 1]) \(start.year)"
    case .year: "\(start.year)"
    }
  }

  /// The days of each bucket, cut at the ends of the series.
  private var days: [(first: CalendarDay, last: CalendarDay)] {
    let starts = statistics.series.buckets.map(\.start)
    return starts.enumerated().map { index, start in
      let next = index + 1 < starts.count ? starts[index + 1] : nil
      let last = next.map { CalendarDay(clamping: Int64($0.dayNumber) - 1) } ?? statistics.series.to
      return (max(start, statistics.series.from), last)
    }
  }

  private var series: [String: Any] {
    chart("Completed", of: .completed) { $0.completed }
  }

  private var created: [String: Any] {
    chart("Created", of: .created) { $0.created }
  }

  private var open: [String: Any] {
    chart("Open at the end", of: .open) { $0.open }
  }

  /// A number of each bucket, whose bar leads to its tasks.
  private func chart(
    _ title: String, of kind: TasksBehindBar.Kind, _ count: (Series.Bucket) -> Int
  ) -> [String: Any] {
    chart(
      title,
      zip(statistics.series.buckets, days).map { bucket, days in
        let address = selection.address([
          "of": kind.rawValue, "from": days.first.iso8601, "to": days.last.iso8601,
        ])
        return (bucketName(bucket.start), count(bucket), address)
      })
  }

  private var weekdays: [String: Any] {
    chart(
      "By weekday",
      statistics.byWeekday.enumerated().map { index, count in
        // Both count from one: the calendar's Sunday is 1, the library's Monday is.
        let weekday = (statistics.weekStart - 1 + index) % 7 + 1
        return (CalendarNames.weekdays[weekday - 1], count, selection.address(["weekday": "\(weekday)"]))
      })
  }

  private var hours: [String: Any] {
    chart(
      "By hour",
      statistics.byHour.enumerated().map { hour, count in
        ("\(hour):00", count, selection.address(["hour": "\(hour)"]))
      })
  }

  private var listChart: [String: Any]? {
    statistics.byList.isEmpty
      ? nil
      : chart(
        "By list",
        statistics.byList.map { count in
          let name = count.name ?? (count.listID == nil ? "No list" : "A deleted list")
          return (name.shortened(to: 60), count.completed, count.listID.map { selection.address(["list": $0.text]) })
        })
  }

  private var tagChart: [String: Any]? {
    statistics.byTag.isEmpty
      ? nil
      : chart(
        "By tag",
        statistics.byTag.map { count in
          ("#\(count.tag)", count.completed, selection.address(["filter": TaskFilter.tag(count.tag).text]))
        })
  }

  private var priorityChart: [String: Any]? {
    chart(
      "By priority",
      statistics.byPriority.map { count in
        (
          count.priority.name, count.completed,
          selection.address(["filter": TaskFilter.priority(count.priority).text])
        )
      })
  }

  /// Rows of a table whose bars are as long as their numbers.
  private func chart(_ title: String, _ rows: [(name: String, count: Int, address: String?)]) -> [String: Any] {
    let greatest = max(1, rows.map(\.count).max() ?? 1)
    return [
      "title": title,
      "bars": rows.map { row in
        var bar: [String: Any] = ["label": row.name, "value": row.count, "width": 100 * row.count / greatest]
        if row.count > 0, let address = row.address { bar["address"] = address }
        return bar
      },
    ]
  }
}
