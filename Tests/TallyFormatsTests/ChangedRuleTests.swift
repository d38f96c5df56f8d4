import Foundation
import TallyFormats
import TallyTestSupport
import Testing

@testable import Tally

/// A document that changes the rule of a repeating task changes its series, as `edit --series` does.
@Suite struct ChangedRuleTests {
  private static func day(_ text: String) throws -> CalendarDay { try CalendarDay(iso8601: text) }

  /// Pills every day at nine in New York, wherever the person is, with days left out, on 5 May 2026 in Berlin.
  private func withPills(_ body: (TaskStore, TaskItem, TestClock) throws -> Void) throws {
    let clock = TestClock(try Timestamp(iso8601: "2026-05-04T06:00:00Z"))
    try withStore(.testing(clock: clock, timeZone: "Europe/Berlin")) { store in
      let task = try store.writeAndWait { transaction in
        let due = try Timestamp(iso8601: "2026-05-04T09:00:00+02:00")
        let first = try transaction.add("Pills") { task in
          (task.dueDate, task.reminderDate, task.recurrence) = (due, due, try Recurrence(text: "FREQ=DAILY"))
        }
        try transaction.setTimeZone(TimeZone(identifier: "America/New_York"), ofSeriesWith: first.id)
        try transaction.skip(first.id)
        var series = try #require(try transaction.storedSeries(first.id))
        series.skippedDays += try ["2026-05-07", "2026-05-08"].map(Self.day)
        try transaction.write(series)
        return try #require(try transaction.successor(of: first))
      }
      clock.now = clock.now.adding(seconds: 60)
      try body(store, task, clock)
    }
  }

  static let formats: [DocumentFormat] = [.json, .ndjson, .ical, .taskwarrior, .csv, .markdown]

  /// The text with another rule, wherever it has one: in JSON, in JSON within JSON, as a line, as a cell.
  private func changed(_ text: String, to rule: String = "FREQ=DAILY;INTERVAL=2") -> String {
    ["\"", "\\\"", "\r\n", ","].reduce(text) { $0.replacing("FREQ=DAILY\($1)", with: rule + $1) }
  }

  @Test(arguments: formats)
  func theSeriesStaysWithItsZoneAndTheDaysThatFallOnTheRule(format: DocumentFormat) throws {
    try withPills { store, task, clock in
      let before = try #require(try store.read { try $0.storedSeries() }.first)
      // In Tally's own formats, the series that is written after the tasks stays as it was.
      let separator = format == .json ? "\"series\": [" : "{\"series\""
      let parts = try store.exportedText(as: format, matching: .is(.open)).components(separatedBy: separator)
      let text = ([changed(parts[0])] + parts.dropFirst()).joined(separator: separator)
      clock.now = clock.now.adding(seconds: 60)
      #expect(try store.importText(text, as: format).tasks.changed == 1, "\(text)")
      let series = try store.read { try $0.storedSeries() }
      #expect(series.map(\.id) == [before.id])
      #expect(series.map(\.timeZoneIdentifier) == ["America/New_York"])
      #expect(series.map(\.recurrence.text) == ["FREQ=DAILY;INTERVAL=2"])
      #expect(series.map(\.start.iso8601) == ["2026-05-05"])
      #expect(series.map { $0.skippedDays.map(\.iso8601) } == [["2026-05-07"]])
      #expect(try store.read { try $0.task(task.id)?.series?.id } == before.id)
      // Again, it changes nothing.
      clock.now = clock.now.adding(seconds: 60)
      #expect(try store.importText(text, as: format).tasks.changed == 0)
      #expect(try store.read { try $0.storedSeries() } == series)
      // One step back, and everything is as it was.
      try store.writeAndWait { _ = try $0.undo() }
      #expect(try store.read { try $0.storedSeries() } == [before])
      let back = try store.read { try $0.task(task.id) }
      #expect(back?.series == task.series && back?.recurrence == task.recurrence && back?.dueDate == task.dueDate)
      try store.writeAndWait { _ = try $0.redo() }
      clock.now = try Timestamp(iso8601: "2026-05-05T14:00:00Z")
      let next = try store.writeAndWait { transaction in
        try transaction.complete(task.id)
        return try #require(try transaction.successor(of: task))
      }
      // The seventh is left out.
      #expect(next.dueDate == (try Timestamp(iso8601: "2026-05-09T09:00:00-04:00")) && next.title == "Pills")
    }
  }

  /// The rule goes, or becomes one that counts from the completion.
  @Test func aRuleThatIsRemovedEndsTheSeriesAndAnotherKindKeepsIt() throws {
    try withPills { store, task, clock in
      let line = try #require(
        try store.exportedText(as: .ndjson).components(separatedBy: "\n").first { $0.contains("\"index\":1") })
      let parts = line.components(separatedBy: "\"recurrence\":\"FREQ=DAILY\"")
      clock.now = clock.now.adding(seconds: 60)
      try store.importText(parts.joined(separator: "\"recurrence\":\"after 3 days\"") + "\n", as: .ndjson)
      let series = try store.read { try $0.storedSeries() }
      #expect(series.map(\.recurrence.text) == ["after 3 days"] && series.map(\.skippedDays) == [[]])
      try store.writeAndWait { _ = try $0.undo() }
      let bare = parts.joined(separator: "\"recurrence\":null")
      // Undoing was a change, too.
      try store.importText(bare + "\n", as: .ndjson, ImportOptions(overwrites: true))
      #expect(try store.read { try $0.task(task.id)?.recurrence } == nil)
      #expect(try store.read { try $0.storedSeries() } == [])
      try store.writeAndWait { _ = try $0.undo() }
      #expect(try store.read { try $0.storedSeries() }.count == 1)
    }
  }

  /// The document of another device has the series as that device left it.
  @Test func aDocumentWithTheSeriesItselfGivesIt() throws {
    try withPills { store, task, clock in
      let text = try store.exportedText(as: .json)
      try withStore(.testing(clock: clock, timeZone: "Asia/Tokyo")) { other in
        try other.importText(text, as: .json)
        clock.now = clock.now.adding(seconds: 60)
        try other.writeAndWait { transaction in
          try transaction.updateSeries(of: task.id) { task in
            (task.recurrence, task.title) = (try Recurrence(text: "FREQ=WEEKLY"), "Vitamins")
          }
        }
        clock.now = clock.now.adding(seconds: 60)
        try store.importText(try other.exportedText(as: .json), as: .json)
        let (series, expected) = (try store.read { try $0.storedSeries() }, try other.read { try $0.storedSeries() })
        #expect(series == expected && series.map(\.template.title) == ["Vitamins"])
        #expect(try store.read { try $0.task(task.id) } == (try other.read { try $0.task(task.id) }))
      }
    }
  }

  /// A calendar program that drops what it does not know, and moves the time.
  @Test func aTimeThatAnotherProgramMovesIsThatOfOneTask() throws {
    try withPills { store, task, clock in
      let text = try store.exportedText(as: .ical).replacing("\r\n ", with: "")
      #expect(text.contains("\r\nDUE;TZID=America/New_York:20260505T090000\r\n"), "\(text)")
      let moved = text.replacing("20260505T090000", with: "20260505T113000")
        .replacing(/LAST-MODIFIED:\d*T\d*Z/, with: "LAST-MODIFIED:20260504T060130Z")
      clock.now = clock.now.adding(seconds: 3_600)
      try store.importText(moved, as: .ical)
      #expect(try store.read { try $0.task(task.id)?.dueDate?.iso8601 } == "2026-05-05T15:30:00Z")
      #expect(try store.read { try $0.storedSeries().first?.time } == "09:00")
    }
  }

  /// A store of an earlier version, whose task describes its series, needs no feature for another rule of the first kind.
  @Test func aTaskWithoutAStoredSeriesDescribesItsOwn() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let line = { (rule: String) in
        "{\"id\":\"00000000-0000-4000-8000-000000000001\",\"text\":\"a\",\"dueDay\":\"2026-11-21\",\"recurrence\":\"\(rule)\"}\n"
      }
      try store.importText(line("FREQ=DAILY"), as: .ndjson)
      clock.now = clock.now.adding(seconds: 60)
      #expect(try store.importText(line("FREQ=WEEKLY"), as: .ndjson).tasks.changed == 1)
      #expect(try store.read { try $0.storedSeries() } == [])
      #expect(try store.read { try !$0.header().requiredFeatures.contains(.taskLife) })
    }
  }
}
