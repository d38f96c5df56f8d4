import Foundation

@testable import Tally

extension BruteForceStatistics {
  /// The days of the series.
  var seriesDays: ClosedRange<Int64> {
    let from = options.from.map { Int64($0.dayNumber) }
    let last = options.to.map { Int64($0.dayNumber) } ?? max(today, from ?? today)
    if let from { return from...last }
    guard options.unit != .day else { return (last - 29)...last }
    var first = days.days(options.unit, around: last).lowerBound
    for _ in 0..<11 { first = days.days(options.unit, around: first - 1).lowerBound }
    return first...last
  }

  /// The completions that profiles cover.
  var profiled: [Completed] {
    guard options.from != nil || options.to != nil else { return completed }
    return completed.filter { seriesDays.contains($0.day) }
  }

  var byWeekday: [Int] {
    (0..<7).map { weekday in profiled.count { days.weekday(of: $0.day) == weekday } }
  }

  var byHour: [Int] {
    let hours = profiled.map { BruteForceDays.floor($0.local, 3_600_000_000) }
    return (0..<24).map { hour in
      hours.count { $0 - 24 * BruteForceDays.floor($0, 24) == hour }
    }
  }

  var byList: [ListCount] {
    let counts = Dictionary(grouping: profiled, by: \.life.listID).mapValues(\.count)
    let known = model.lists.map { (Optional($0.id), Optional($0.name)) }
    let deleted = counts.keys.filter { id in id != nil && !model.lists.contains { $0.id == id } }
      .sorted { ($0?.uuidString ?? "") < ($1?.uuidString ?? "") }
    let names = model.deletedListNames
    let order = [(UUID?.none, String?.none)] + known + deleted.map { ($0, $0.flatMap { names[$0] }) }
    return order.compactMap { id, name in
      counts[id].map { ListCount(listID: id, name: name, isDeleted: deleted.contains(id), completed: $0) }
    }
  }

  var byTag: [TagCount] {
    // In the order of the counts, then of the folded names, which are in the order of the bytes.
    StatisticsHistory.tags
      .map { tag in TagCount(tag: tag, completed: profiled.count { $0.life.classification.tags.contains(tag) }) }
      .filter { $0.completed > 0 }
      .sorted { ($1.completed, $0.tag.lowercased()) < ($0.completed, $1.tag.lowercased()) }
  }

  var byPriority: [PriorityCount] {
    [Priority.high, .medium, .low, .none]
      .map { priority in
        PriorityCount(priority: priority, completed: profiled.count { $0.life.classification.priority == priority })
      }
      .filter { $0.completed > 0 }
  }

  /// Whole seconds from creation to completion, ascending.
  var durations: [Int64] {
    profiled.map { max(0, BruteForceDays.floor($0.instant - $0.life.createdAt, 1_000_000)) }.sorted()
  }

  var series: Series {
    let range = seriesDays
    let creations = lives.map { days.dayNumber(of: $0.createdAt) }
    let buckets = groups(of: range).compactMap { group -> Series.Bucket? in
      let hasAny = group.contains { days.exists($0) } || count(group) > 0
      guard hasAny else { return nil }
      return Series.Bucket(
        start: CalendarDay(clamping: group.lowerBound),
        completed: count(group),
        created: creations.count { group.contains($0) },
        open: openCount(atEndOf: group)
      )
    }
    return Series(
      by: options.unit,
      from: CalendarDay(clamping: range.lowerBound),
      to: CalendarDay(clamping: range.upperBound),
      buckets: buckets
    )
  }

  /// The days of each period, cut at the ends of a range.
  private func groups(of range: ClosedRange<Int64>) -> [ClosedRange<Int64>] {
    var groups: [ClosedRange<Int64>] = []
    var first = range.lowerBound
    for day in range
    where day == range.upperBound || days.period(options.unit, of: day + 1) != days.period(options.unit, of: day) {
      groups.append(first...day)
      first = day + 1
    }
    return groups
  }

  /// The tasks created by the last instant of some days and not closed by then.
  private func openCount(atEndOf group: ClosedRange<Int64>) -> Int { open(atEndOf: group).count }

  private func open(atEndOf group: ClosedRange<Int64>) -> [HistoryModel.Life] {
    // A day that does not exist ends where the one before it does.
    var last = group.upperBound
    while !days.exists(last) { last -= 1 }
    let end = days.lastInstant(of: last)
    return lives.filter { life in
      life.createdAt <= end && !(life.closedInstant.map { $0 <= end } ?? false)
    }
  }

  /// The tasks behind the series that still exist, newest first: created in its days, and open at its end.
  var seriesTasks: (created: [UUID], open: [UUID]) {
    func ids(_ lives: [HistoryModel.Life]) -> [UUID] {
      lives.compactMap(\.task).sorted { ($0.createdAt, $0.id.uuidString) > ($1.createdAt, $1.id.uuidString) }.map(\.id)
    }
    let created = lives.filter { seriesDays.contains(days.dayNumber(of: $0.createdAt)) }
    return (ids(created), ids(open(atEndOf: seriesDays)))
  }
}
