import Foundation

@testable import Tally

/// The counters of the golden store, counted by hand from its events.
struct ExpectedCounters {
  private struct Event: Hashable {
    let series: String
    let scope: Scope
    let seconds: Int64
  }

  /// In the stored order: all, no list, the lists by id, the tags by hash, the priorities.
  private struct Scope: Hashable {
    let name: String
    let id: String
  }

  private var events: [Event] = []
  /// The bucket of each completion's time from creation; both completions took no time.
  private var cycleTimeScopes: [Scope] = []

  private static let seriesNames = [
    "cycleTime", "completed", "created", "completedAsRecorded", "completedBeforeCreation", "createdAfterCompletion",
    "openDue", "openDueDay",
  ]

  init(golden: GoldenStore) {
    let start = golden.start.microsecondsSince1970 / 1_000_000
    let day: Int64 = 86_400
    note(created: start + 1, list: nil)
    note(created: start + 2, list: golden.home, due: start + 3_600)
    note(created: start + 3, list: golden.books, completed: start - day, offset: -210 * 60)
    note(created: start + 4, list: nil, due: Timestamp.earliest.microsecondsSince1970 / 1_000_000)
    note(created: start + 5, list: golden.books, completed: start + 5, offset: 180 * 60)
    let scopes: [(String, UUID)] = [
      ("tag", TagID.of("Home")), ("tag", TagID.of("çay")), ("priority", UUID(high: 0, low: 3)),
    ]
    note(created: start + 6, list: golden.home, dueDay: 20_788 * day, others: scopes)
  }

  private mutating func note(
    created: Int64, list: UUID?, due: Int64? = nil, dueDay: Int64? = nil, completed: Int64? = nil, offset: Int64 = 0,
    others: [(name: String, id: UUID)] = []
  ) {
    let others = others.map { Scope(name: $0.name, id: hexadecimal($0.id)) }
    let none = String(repeating: "0", count: 32)
    let own = list.map { Scope(name: "list", id: hexadecimal($0)) } ?? Scope(name: "noList", id: none)
    for scope in [Scope(name: "all", id: none), own] + others {
      events.append(Event(series: "created", scope: scope, seconds: created))
      if let due { events.append(Event(series: "openDue", scope: scope, seconds: due)) }
      if let dueDay { events.append(Event(series: "openDueDay", scope: scope, seconds: dueDay)) }
      guard let completed else { continue }
      events.append(Event(series: "completed", scope: scope, seconds: completed))
      events.append(Event(series: "completedAsRecorded", scope: scope, seconds: completed + offset))
      cycleTimeScopes.append(scope)
      guard completed < created else { continue }
      events.append(Event(series: "completedBeforeCreation", scope: scope, seconds: completed))
      events.append(Event(series: "createdAfterCompletion", scope: scope, seconds: created))
    }
  }

  /// One row per series, scope and block of sixteen days; the cycle times are in the first bucket.
  var blockRows: [Row] {
    var slots: [Row: [Int64: Int]] = [:]
    for event in events {
      let length: Int64 = 16 * 86_400
      let second = (event.seconds % length + length) % length
      let block = (event.seconds - second) / length
      let slot = second / 900
      slots[row(event.series, event.scope, block: block), default: [:]][slot, default: 0] += 1
    }
    for scope in cycleTimeScopes { slots[row("cycleTime", scope, block: 0), default: [:]][0, default: 0] += 1 }
    return slots.map { key, counts in
      let texts = counts.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
      let total = counts.values.reduce(0, +)
      return key.merging(["total": "\(total)", "slots": texts.joined(separator: " ")]) { first, _ in first }
    }.sorted(by: Self.areInOrder)
  }

  /// One row per series and scope.
  var totalRows: [Row] {
    var counts: [Row: Int] = [:]
    for event in events { counts[row(event.series, event.scope), default: 0] += 1 }
    return counts.map { key, count in key.merging(["count": "\(count)"]) { first, _ in first } }
      .sorted(by: Self.areInOrder)
  }

  private func row(_ series: String, _ scope: Scope, block: Int64) -> Row {
    row(series, scope).merging(["block": "\(block)"]) { first, _ in first }
  }

  private func row(_ series: String, _ scope: Scope) -> Row {
    ["series": series, "scope": scope.name, "scopeID": scope.id]
  }

  private static func areInOrder(_ left: Row, _ right: Row) -> Bool {
    func key(_ row: Row) -> (Int, Int, String, Int) {
      let series = seriesNames.firstIndex(of: row["series"] ?? "") ?? 0
      let scope = ["all", "noList", "list", "tag", "priority"].firstIndex(of: row["scope"] ?? "") ?? 0
      return (series, scope, row["scopeID"] ?? "", Int(row["block"] ?? "") ?? 0)
    }
    return key(left) < key(right)
  }
}
