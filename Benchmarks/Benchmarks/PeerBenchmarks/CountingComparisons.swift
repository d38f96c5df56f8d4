import BenchmarkData
import Foundation
import GRDB
import SQLitePeer
import Tally

/// Counts of completions, and the statistics.
enum CountingComparisons {
  static func register() {
    for (name, component) in StatisticsPeriods.names {
      count("count-\(name)") { try StatisticsPeriods.interval(of: component) }
    }
    count("count-all") { nil }
    comparison("statistics", iterations: 50) {
      let peers = try Peers("statistics")
      let tally: @Sendable () throws -> Statistics = { try peers.tally.read { try $0.statistics() } }
      let sqlite: @Sendable () throws -> [Int] = { try peers.sqlite.pool.read(statisticsOfPeer) }
      try expectSameAnswer(AnswerHash(numbers(try tally())), AnswerHash(try sqlite()), "the statistics")
      return Comparison(tally: { _ in _ = try tally() }, peer: { _ in _ = try sqlite() }, close: peers.close)
    }
  }

  private static func count(_ name: String, _ interval: @escaping @Sendable () throws -> Range<Timestamp>?) {
    comparison(name) {
      let (peers, interval) = (try Peers(name), try interval())
      let tally: @Sendable () throws -> Int = { try peers.tally.read { try $0.completionCount(in: interval) } }
      let sqlite: @Sendable () throws -> Int = {
        try peers.sqlite.pool.read { try SQLiteTaskStore.completionCount(in: interval, in: $0) }
      }
      try expectSameAnswer(AnswerHash([try tally()]), AnswerHash([try sqlite()]), name)
      return Comparison(
        tallyRepetitionCount: 20, peerRepetitionCount: 5, tally: { _ in _ = try tally() },
        peer: { _ in _ = try sqlite() }, close: peers.close)
    }
  }

  /// The part that both answer: counts by period, weekday, hour and list.
  private static func numbers(_ statistics: Statistics) -> [Int] {
    let completed = statistics.completed
    let lists = statistics.byList.sorted { ($0.listID?.uuidString ?? "") < ($1.listID?.uuidString ?? "") }
    return [completed.today, completed.thisWeek, completed.thisMonth, completed.thisYear, completed.allTime]
      + statistics.byWeekday + statistics.byHour + lists.map(\.completed)
  }

  @Sendable private static func statisticsOfPeer(_ database: Database) throws -> [Int] {
    var counts = try StatisticsPeriods.names.map { _, component in
      try SQLiteTaskStore.completionCount(in: StatisticsPeriods.interval(of: component), in: database)
    }
    counts.append(try SQLiteTaskStore.completionCount(in: nil, in: database))
    let profiles = try SQLiteTaskStore.profiles(in: database)
    let lists = profiles.byList.sorted { ($0.key?.uuidString ?? "") < ($1.key?.uuidString ?? "") }
    return counts + profiles.byWeekday + profiles.byHour + lists.map(\.value)
  }
}
