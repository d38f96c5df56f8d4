import Foundation
import TallyEngine
import TestSupport
import Testing

@testable import Tally

@Suite struct TZifTests {
  /// A block: a header, and the data it announces; `changes` are seconds and indexes of offsets.
  private func block(
    version: Character?, changes: [(Int64, UInt8)] = [], offsets: [Int32], isWide: Bool = false, leapSeconds: Int = 0
  ) -> [UInt8] {
    func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
      (0..<value.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    let counts = [0, 0, leapSeconds, changes.count, offsets.count, 4].map { UInt32($0) }
    var result = Array("TZif".utf8) + [version?.asciiValue ?? 0] + [UInt8](repeating: 0, count: 15)
    result += counts.flatMap { bytes($0) }
    result += changes.flatMap { isWide ? bytes($0.0) : bytes(Int32(truncatingIfNeeded: $0.0)) }
    result += changes.map(\.1)
    result += offsets.flatMap { bytes($0) + [0, 0] }
    return result + Array("AAA\0".utf8) + [UInt8](repeating: 0, count: leapSeconds * (isWide ? 12 : 8))
  }

  @Test func theFirstVersionHasTimesOf32BitsAndNoRule() throws {
    let bytes = block(version: nil, changes: [(-100, 1), (50, 0)], offsets: [-3_600, 7_200])
    let table = try #require(TimeZoneTable(tzif: bytes))
    #expect(
      [-101, -100, 49, 50, 1 << 40].map { table.offset(atSecond: $0) } == [-3_600, 7_200, 7_200, -3_600, -3_600])
    #expect(table.change(afterSecond: -101) == -100)
    #expect(table.change(afterSecond: -100) == 50)
    #expect(table.change(afterSecond: 50) == nil)
    for count in 0..<bytes.count { #expect(TimeZoneTable(tzif: Array(bytes.prefix(count))) == nil) }
    #expect(TimeZoneTable(tzif: [0] + bytes.dropFirst()) == nil)
  }

  @Test func laterVersionsHaveTimesOf64BitsAndARule() throws {
    let wide = block(version: "2", changes: [(-(1 << 35), 1), (0, 0)], offsets: [3_600, 60], isWide: true)
    let bytes = block(version: "2", offsets: [0]) + wide + Array("\nCET-1CEST,M3.5.0,M10.5.0/3\n".utf8)
    let table = try #require(TimeZoneTable(tzif: bytes))
    #expect(table.offset(atSecond: -(1 << 35) - 1) == 3_600)
    #expect(table.offset(atSecond: -1) == 60)
    // 2020-03-29T01:00:00Z, by the rule.
    #expect(table.offset(atSecond: 1_585_443_599) == 3_600)
    #expect(table.offset(atSecond: 1_585_443_600) == 7_200)
    #expect(table.change(afterSecond: 1_585_000_000) == 1_585_443_600)
  }

  @Test func theRuleHoldsFromTheLastListedSecondOn() throws {
    let rule = try #require(YearlyRule(posix: "AAA-2".utf8))
    let table = TimeZoneTable(firstOffset: 0, changes: [(second: 100, offset: 3_600)], rule: rule)
    #expect([99, 100, 101].map { table.offset(atSecond: $0) } == [0, 7_200, 7_200])
  }

  @Test func changesThatChangeNothingAreNone() throws {
    let bytes = block(version: nil, changes: [(10, 1), (20, 0), (30, 2)], offsets: [60, 60, 120])
    #expect(try #require(TimeZoneTable(tzif: bytes)).change(afterSecond: 0) == 30)
  }

  /// As of Riga in 2000, which kept winter time before it adopted Europe's rule.
  @Test func aRuleHoldsFromTheLastListedTimeOnAlsoIfNothingChangesThen() throws {
    let changes: [(Int64, UInt8)] = [(0, 1), (978_300_000, 0)]
    let wide = block(version: "2", changes: changes, offsets: [7_200, 7_200], isWide: true)
    let bytes = block(version: "2", offsets: [0]) + wide + Array("\nEET-2EEST,M3.5.0/3,M10.5.0/4\n".utf8)
    let table = try #require(TimeZoneTable(tzif: bytes))
    // 2000-07-01 and 2001-07-01; in 2001 summer time began on March 25 at 01:00 UTC.
    #expect(table.offset(atSecond: 962_409_600) == 7_200)
    #expect(table.offset(atSecond: 993_945_600) == 10_800)
    #expect(table.change(afterSecond: 962_409_600) == 985_482_000)
  }

  @Test func timesBeyondAnyInstantAreNoOverflow() throws {
    let wide = block(version: "3", changes: [(.min, 1), (.max, 0)], offsets: [0, 60], isWide: true)
    let table = try #require(TimeZoneTable(tzif: block(version: "3", offsets: [0]) + wide + Array("\n\n".utf8)))
    #expect(table.offset(atSecond: 0) == 60)
    #expect(try #require(table.change(afterSecond: 0)) < .max / 1_000_000)
  }

  @Test func whatCannotBeUnderstoodIsNoTable() {
    let changes: [(Int64, UInt8)] = [(0, 0)]
    let faults: [(String, [UInt8])] = [
      ("empty", []), ("text", Array("# tz zone descriptions, longer than a header is in bytes".utf8)),
      ("no offset", block(version: nil, offsets: [])),
      ("index without offset", block(version: nil, changes: [(0, 1)], offsets: [0])),
      ("changes not in order", block(version: nil, changes: [(5, 0), (4, 0)], offsets: [0])),
      ("changes at one time", block(version: nil, changes: [(5, 0), (5, 0)], offsets: [0])),
      ("offset of a day", block(version: nil, changes: changes, offsets: [86_400])),
      ("leap seconds", block(version: nil, changes: changes, offsets: [0], leapSeconds: 1)),
      ("no second block", block(version: "2", offsets: [0])),
      ("no line", block(version: "2", offsets: [0]) + block(version: "2", offsets: [0], isWide: true)),
      (
        "no rule",
        block(version: "2", offsets: [0]) + block(version: "2", offsets: [0], isWide: true)
          + Array("\nCET-1CEST\n".utf8)
      ),
    ]
    for (name, bytes) in faults { #expect(TimeZoneTable(tzif: bytes) == nil, "\(name)") }
  }

  @Test func damagedFilesNeverStopTheProgram() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "damagedFilesNeverStopTheProgram"))
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/Europe/Lisbon")))
    for length in 0..<bytes.count - 30 { #expect(TimeZoneTable(tzif: Array(bytes.prefix(length))) == nil) }
    for _ in 0..<20_000 {
      var damaged = bytes
      for _ in 0...Int.random(in: 0..<4, using: &generator) {
        damaged[Int.random(in: 0..<damaged.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      guard let table = TimeZoneTable(tzif: damaged) else { continue }
      for _ in 0..<5 {
        let second = Int64.random(in: -62_135_596_800...253_402_300_799, using: &generator)
        #expect(abs(table.offset(atSecond: second)) < 86_400)
        if let change = table.change(afterSecond: second) { #expect(change > second) }
      }
    }
  }
}
