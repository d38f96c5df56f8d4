import Foundation
import Tally
import TallyTestSupport
import Testing

/// `completed` lists the tasks behind every number of `stats`, and the two agree.
@Suite struct DrillDownTests {
  @Test func completedTasksAreThoseThatTheStatisticsCount() throws {
    let seed = SeededGenerator.chooseSeed(for: "completedTasksAreThoseThatTheStatisticsCount")
    try withProgram { program in
      try HistoryFixture.fill(program, seed: seed)
      let zones = ["Europe/Istanbul", "America/Sao_Paulo", "Pacific/Chatham", "America/St_Johns"]
      var generator = SeededGenerator(seed: seed &+ 1)
      for number in 0..<24 {
        var arguments = try days(&generator) + ["--time-zone", zones[number % zones.count]]
        if generator.oneIn(2) { arguments += ["--list", ["Work", "Home 家"][number % 2]] }
        if generator.oneIn(3) { arguments += ["--day-start", "04:30"] }
        if generator.oneIn(3) { arguments += ["--as-recorded"] }
        if generator.oneIn(3) { arguments += ["--tag", "HOME"] }
        if generator.oneIn(2) { arguments += [["#home", "priority:high"], ["-#home"], ["text~7"]][number % 3] }
        try compare(program, arguments)
      }
      try compare(program, [])
      for filter in [["--list", "work"], ["--tag", "home"], ["#home", "or", "priority=high"], ["title~1"]] {
        try compare(program, filter)
      }
    }
  }

  /// Compares the sum of the series, or of the lists without days, with the tasks that are listed and deleted.
  private func compare(_ program: Program, _ arguments: [String]) throws {
    let counted = try statistics(program, arguments)
    let sum =
      arguments.contains("--from")
      ? counted.series.buckets.reduce(0) { $0 + $1.completed } : counted.completed.allTime
    #expect(counted.byHour.reduce(0, +) == sum, "\(arguments)")
    let outcome = try program.runBare(["--now", Program.now, "completed", "--json"] + arguments)
    let view = try JSONDecoder().decode(View.self, from: Data(outcome.output.utf8))
    let ids = view.sections.flatMap(\.tasks).map(\.id)
    #expect(Set(ids).count == ids.count && view.completedCount == ids.count, "\(arguments)")
    let deletedCount = outcome.errors.split(separator: " ").first.flatMap { Int($0) } ?? 0
    #expect(ids.count + deletedCount == sum, "\(arguments): \(outcome.errors)")
  }

  @Test func workOfADeletedListIsFoundByItsNameOrItsID() throws {
    try withProgram { program in
      try Fixture.fill(program)
      let list = try Fixture.id("11111111").uuidString.lowercased()
      #expect(try program.run(["move", "2e11", "--list", "Home 家", "--quiet"]).status == 0)
      #expect(try program.run(["lists", "delete", "Work", "--force", "--quiet"]).status == 0)
      let end = String(list.suffix(4))
      #expect(try program.run(["stats"]).output.contains("Work (deleted)"))
      let json = try program.run(["stats", "--json"]).output
      #expect(json.contains(#"{"listID":"\#(list)","name":"Work","completed":1}"#))
      for name in [list, end, "work"] {
        #expect(try program.run(["completed", "--list", name, "--plain"]).output.contains("Send the invoice"))
        #expect(try statistics(program, ["--time-zone", "UTC", "--list", name]).completed.allTime == 1)
      }
      #expect(try program.run(["completed", "--list", String(list.suffix(3))]).status == 1)
      // A list without completions leaves nothing behind, and an undo removes the name again.
      #expect(try program.run(["lists", "delete", "Home 家", "--force"]).status == 0)
      #expect(try program.run(["values", "--plain"]).output.split(separator: "\n").count == 1)
      for _ in 1...2 { #expect(try program.run(["undo"]).status == 0) }
      #expect(try program.run(["values", "--plain"]).output.isEmpty)
      #expect(try !program.run(["stats"]).output.contains("(deleted)"))
    }
  }

  private func statistics(_ program: Program, _ arguments: [String]) throws -> Counted {
    let outcome = try program.runBare(["--now", Program.now, "stats", "--json"] + arguments)
    return try JSONDecoder().decode(Counted.self, from: Data(outcome.output.utf8))
  }

  private func days(_ generator: inout SeededGenerator) throws -> [String] {
    let today = try CalendarDay(iso8601: "2026-11-21")
    let first = try today.adding(days: -Int.random(in: 0...420, using: &generator))
    let last = try first.adding(days: Int.random(in: 0...60, using: &generator))
    return ["--from", first.iso8601, "--to", last.iso8601]
  }
}

private struct Counted: Decodable {
  struct Completed: Decodable { let allTime: Int }
  struct Series: Decodable { let buckets: [Bucket] }
  struct Bucket: Decodable { let completed: Int }
  let completed: Completed
  let byHour: [Int]
  let series: Series
}

private struct View: Decodable {
  struct Section: Decodable { let tasks: [Item] }
  struct Item: Decodable { let id: String }
  let completedCount: Int
  let sections: [Section]
}
