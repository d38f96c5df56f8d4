import Foundation
import TallyEngine
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// The rules of zones compared with those of the C library, which reads the same files with code of its own.
@Suite struct TimeZoneRulesTests {
  /// Instants from 1850 to 2300, and both sides of every change that the rules know of.
  private func instants(_ rules: TimeZoneRules, _ generator: inout SeededGenerator) -> [Int64] {
    var seconds = (0..<200).map { _ in Int64.random(in: -3_786_912_000...10_413_792_000, using: &generator) }
    var next = rules.change(afterSecond: -3_786_912_000)
    while let change = next, change < 4_102_444_800 {
      seconds += [change - 1, change]
      next = rules.change(afterSecond: change)
    }
    return seconds
  }

  @Test func everyZoneAgreesWithTheCLibrary() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "everyZoneAgreesWithTheCLibrary"))
    let others = TimeZone.knownTimeZoneIdentifiers.shuffled(using: &generator).prefix(100)
    for identifier in ZoneSample.all.map(\.identifier) + others {
      let rules = TimeZoneRules(of: try #require(TimeZone(identifier: identifier)))
      guard case .table = rules else {
        Issue.record("\(identifier) is not in the system's database")
        continue
      }
      let seconds = instants(rules, &generator)
      let expected = try CLibraryClock.offsets(in: identifier, atSeconds: seconds)
      #expect(seconds.map { rules.offset(atSecond: $0) } == expected, "\(identifier)")
    }
  }

  @Test(arguments: [
    "EST5EDT,M3.2.0,M11.1.0", "CET-1CEST,M3.5.0,M10.5.0/3", "IST-1GMT0,M10.5.0,M3.5.0/1",
    "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
    "<+00>0<+02>-2,M3.5.0/1,M10.5.0/3", "NZST-12NZDT,M9.5.0,M4.1.0/3", "AAA3:04:05BBB,J60/1:30:15,J300",
    "AAA-5BBB-6:30,59,299/23",
    "AAA4BBB,M2.5.6/0,M9.3.3/24", "UTC0", "<-0230>+02:30",
  ])
  func rulesAgreeWithTheCLibrary(text: String) throws {
    let rule = try #require(YearlyRule(posix: text.utf8))
    let rules = TimeZoneRules.table(TimeZoneTable(firstOffset: 0, changes: [], rule: rule))
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "rulesAgreeWithTheCLibrary \(text)"))
    let seconds = instants(rules, &generator).filter { $0 > 0 }
    #expect(try CLibraryClock.offsets(in: text, atSeconds: seconds) == seconds.map { rules.offset(atSecond: $0) })
  }

  @Test func daylightSavingTimeAllYearHasNoGaps() throws {
    for text in ["XXX3EDT4,0/0,J365/23", "EST5EDT,0/0,J365/25"] {
      let rule = try #require(YearlyRule(posix: text.utf8))
      let offsets = Set((0..<20_000).map { rule.offset(atSecond: $0 * 86_400 / 4) })
      #expect(offsets.count == 1, "\(text): \(offsets)")
    }
  }

  @Test(arguments: [
    "", "5", "EST", "EST5EDT", "EST5EDT,", "EST5EDT,M3.2.0", "EST5EDT,M3.2.0,", "EST5EDT,M13.2.0,M11.1.0",
    "EST5EDT,M3.6.0,M11.1.0",
    "EST5EDT,M3.2.7,M11.1.0", "EST5EDT,J0,J1", "EST5EDT,366,1", "EST5EDT,M3.2.0/168,M11.1.0", "EST5EDT,M3.2.0,M11.1.0 ",
    "EST24", "<EST5",
    "EST5:60", "EST5:", "EST99999999999999999999", "CET-1CEST,M3.5.0,M10.5.0/-",
  ])
  func anythingElseIsNoRule(text: String) {
    #expect(YearlyRule(posix: text.utf8) == nil)
  }

  @Test func amsterdamWasNineteenMinutesAndThirtyTwoSecondsAhead() throws {
    let zone = try #require(TimeZone(identifier: "Europe/Amsterdam"))
    let newYear = try Timestamp(iso8601: "1936-12-31T23:40:28Z")
    #expect(CalendarDay(containing: newYear, in: zone).iso8601 == "1937-01-01")
    #expect(try CalendarDay(iso8601: "1937-01-01").start(in: zone) == newYear)
  }

  @Test func zonesThatNoFileListsHaveFoundationsOffsets() throws {
    let nowhere = TimeZoneDatabase(directories: ["/nonexistent"])
    let istanbul = try #require(TimeZone(identifier: "Europe/Istanbul"))
    let rules = TimeZoneRules(of: istanbul, in: nowhere)
    guard case .foundation = rules else {
      Issue.record("There is no such directory")
      return
    }
    let system = TimeZoneRules(of: istanbul)
    let summer2012: Int64 = 1_341_100_800
    #expect(rules.offset(atSecond: summer2012) == system.offset(atSecond: summer2012))
    #expect(rules.change(afterSecond: summer2012) == system.change(afterSecond: summer2012))
    let fixed = TimeZoneRules(of: try #require(TimeZone(secondsFromGMT: 12_345)))
    #expect(fixed.offset(atSecond: summer2012) == 12_345)
    #expect(fixed.change(afterSecond: summer2012) == nil)
  }

  @Test(arguments: ["", "/etc/passwd", "../zoneinfo/UTC", "Europe/../UTC", "Europe", "zone.tab", "Europe/Nowhere", "."])
  func namesOutsideTheDatabaseHaveNoTable(name: String) {
    #expect(TimeZoneDatabase.system.table(named: name) == nil)
  }
}

/// The C library's local time, asked in another process, as its zone is set per process.
enum CLibraryClock {
  static func offsets(in zone: String, atSeconds seconds: [Int64]) throws -> [Int64] {
    let file = FileManager.default.temporaryDirectory.appending(path: "seconds-\(UUID().uuidString)")
    try Data(seconds.map { "@\($0)\n" }.joined().utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/bin/date")
    process.arguments = ["--file", file.path(), "+%::z"]
    process.environment = ["TZ": zone, "LC_ALL": "C"]
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map { line in
      let parts = line.dropFirst().split(separator: ":").compactMap { Int64($0) }
      let offset = zip(parts, [3_600, 60, 1]).reduce(into: Int64(0)) { $0 += $1.0 * $1.1 }
      return line.hasPrefix("-") ? -offset : offset
    }
  }
}
