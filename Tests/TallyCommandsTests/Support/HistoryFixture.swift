import Foundation
import Tally
import TallyTestSupport

/// A store with a year of completed tasks, the same for the same seed.
enum HistoryFixture {
  static let hostileName = "<script>alert(1)</script>\"&\u{1B}[31m"

  /// Fills the store, then moves some completed tasks to another list and deletes others.
  static func fill(_ program: Program, seed: UInt64, count: Int = 240) throws {
    var generator = SeededGenerator(seed: seed)
    let clock = TestClock(try Timestamp(iso8601: "2025-11-01T06:00:00Z"))
    let store = try TaskStore(at: program.store, configuration: .testing(clock: clock))
    let lists = try ["Work", "Home 家", hostileName].enumerated().map { index, name in
      try store.writeAndWait { try $0.addList(name: name, colorHex: "007AFF", id: Fixture.id("1111000\(index)")) }
    }
    try store.close()
    let lines = try (0..<count).map { try line($0, lists, &generator) }.joined()
    let outcome = try program.run(["import", "-", "--format", "ndjson", "--quiet"], input: lines)
    guard outcome.status == 0 else { throw NotFilled(errors: outcome.errors) }
    try rearrange(program, lists, count: count, &generator)
  }

  struct NotFilled: Error {
    let errors: String
  }

  private static func id(_ number: Int) throws -> UUID {
    let digits = String(0x1000 + number, radix: 16)
    return try Fixture.id(String(repeating: "0", count: 8 - digits.count) + digits)
  }

  /// A task as a line of an import: more of them lately, one in eight open, with offsets of three zones.
  private static func line(_ number: Int, _ lists: [TaskList], _ generator: inout SeededGenerator) throws -> String {
    let now = try Timestamp(iso8601: Program.now)
    let ages = (0..<2).map { _ in Int64.random(in: 0..<400 * 86_400, using: &generator) }
    let created = now.adding(seconds: -(ages.min() ?? 0) - 60)
    let completed = created.adding(seconds: min(Int64.random(in: 60..<400_000, using: &generator), ages.min() ?? 0))
    let list = generator.oneIn(3) ? "null" : "\"\(lists[Int.random(in: 0..<3, using: &generator)].id.uuidString)\""
    let offset = [0, 180, -330].randomElement(using: &generator) ?? 0
    let state = generator.oneIn(8) ? "" : #","state":"completed","completedAt":"\#(try local(completed, offset))""#
    let tags = (number % 3 == 0 ? ["\"home\""] : []) + (number % 5 == 0 ? ["\"<b>\""] : [])
    let group = #""tags":[\#(tags.joined(separator: ","))],"priority":\#(number % 4 == 0 ? "\"high\"" : "null")"#
    return
      #"{"id":"\#(try id(number))","text":"task \#(number)","listID":\#(list),\#(group),"#
      + #""createdAt":"\#(created.iso8601)"\#(state)}"# + "\n"
  }

  private static func local(_ instant: Timestamp, _ offset: Int) throws -> String {
    try OffsetTimestamp(instant, utcOffsetInMinutes: offset).iso8601
  }

  private static func rearrange(
    _ program: Program, _ lists: [TaskList], count: Int, _ generator: inout SeededGenerator
  ) throws {
    let clock = TestClock(try Timestamp(iso8601: Program.now))
    let store = try TaskStore(at: program.store, configuration: .testing(clock: clock))
    for number in 0..<count where generator.oneIn(10) {
      let (id, list) = (try id(number), lists[Int.random(in: 0..<2, using: &generator)].id)
      let isDeleted = generator.oneIn(2)
      try store.writeAndWait { transaction in
        if isDeleted { _ = try transaction.delete(id) } else { _ = try transaction.move(id, toList: list) }
      }
    }
    try store.close()
  }
}
