import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

struct ReadmeTests {
  @Test func exampleInTheReadmeIsTheOneThatIsCompiled() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    let readme = tests.deletingLastPathComponent().deletingLastPathComponent().appending(path: "README.md")
    let shown = try lines(of: readme, from: "import SystemPackage", upTo: "```")
    let compiled = try lines(
      of: tests.appending(path: "ReadmeExample.swift"),
      from: "import SystemPackage",
      upTo: "// README ends"
    )
    #expect(shown == compiled)
    #expect(compiled.count > 10)
  }

  @Test func exampleInTheReadmeDoesWhatItSays() throws {
    let today = { CalendarDay(containing: .now(), in: TimeZone.autoupdatingCurrent) }
    var result: [String]
    var dayBefore: CalendarDay
    repeat {
      // Again if midnight came in between: the example lives by the real clock.
      dayBefore = today()
      result = try withTemporaryDirectory { try planTheDay(in: $0.appending("store")) }
    } while today() != dayBefore
    #expect(result == ["Water the plants: notStarted", "Repair the fence: completed"])
  }

  private func lines(of file: URL, from first: String, upTo last: String) throws -> [Substring] {
    let text = try String(contentsOf: file, encoding: .utf8)
    return Array(
      text.split(separator: "\n", omittingEmptySubsequences: false).drop { $0 != first }.prefix { $0 != last }
    )
  }
}
