import Foundation
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally
@testable import TallyFormats

/// What other programs see of an export.
struct WrittenFormTests {
  private func withTask(_ body: (TaskStore, TaskItem) throws -> Void) throws {
    try withStore { (store: TaskStore) throws in
      let task = try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "Home")
        let draft = TaskDraft(title: "Water, the plants", notes: "twice", listID: list.id)
        return try transaction.update(try transaction.add(draft).id) {
          $0.tags = ["garden"]
          $0.priority = .high
          $0.dueDay = try CalendarDay(iso8601: "2026-12-01")
          $0.attributes = ["LOCATION": "Roof", "cost": "5"]
        }
      }
      try body(store, task)
    }
  }

  @Test func aLineOfTodoTxtBeginsWithWordsForPeople() throws {
    try withTask { store, _ in
      let line = try store.exportedText(as: .todotxt)
      #expect(
        line.hasPrefix("(A) 2026-11-21 Water, the plants +Home @garden due:2026-12-01 LOCATION:Roof cost:5 tally:{"))
      #expect(line.hasSuffix("}\n"))
    }
  }

  @Test func aToDoHasThePropertiesOfTheStandard() throws {
    try withTask { store, task in
      let text = try store.exportedText(as: .ical)
      for line in [
        "UID:\(task.id.uuidString.lowercased())", "DTSTAMP:20261121T090000Z", "SUMMARY:Water\\, the plants",
        "DESCRIPTION:twice", "STATUS:NEEDS-ACTION", "DUE;VALUE=DATE:20261201", "PRIORITY:1", "CATEGORIES:garden",
        "LOCATION:Roof", "X-TALLY-LIST:Home",
      ] {
        #expect(text.contains("\r\n\(line)\r\n"), "\(line)")
      }
      #expect(text.split(separator: "\r\n").allSatisfy { $0.utf8.count <= 75 })
    }
  }

  @Test func longLinesAreFoldedBetweenScalars() throws {
    try withStore { (store: TaskStore) throws in
      let title = String(repeating: "水👩‍👩‍👧", count: 60)
      try store.writeAndWait { _ = try $0.add(title, to: .inbox) }
      let bytes = Array(try store.exportedText(as: .ical).utf8)
      let lines = bytes.split(separator: UInt8(ascii: "\n"))
      #expect(lines.allSatisfy { $0.count <= 76 && $0.last == UInt8(ascii: "\r") })
      #expect(lines.allSatisfy { String(validating: $0, as: UTF8.self) != nil })
    }
  }

  /// A piece of a line that begins with a colon would be misread by a server.
  @Test func noPieceOfALineBeginsWithAColon() {
    for length in 1..<160 {
      let line = ContentLine("X-A", String(repeating: "a", count: length) + ":b:" + String(repeating: "c", count: 80))
      var bytes: [UInt8] = []
      line.append(to: &bytes)
      let pieces = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
      #expect(pieces.allSatisfy { $0.utf8.count <= 75 && !$0.hasPrefix(" :") }, "\(pieces)")
      #expect(pieces.joined().replacing(" ", with: "") == line.text)
    }
  }

  @Test func noCellIsAFormula() throws {
    try withStore { (store: TaskStore) throws in
      let titles = ["=1+1", "+1", "-1+2", "@SUM(A1)", "\tx", "'=x", "-5"]
      try store.writeAndWait { transaction in for title in titles { _ = try transaction.add(title, to: .inbox) } }
      let text = try store.exportedText(as: .csv)
      for cell in ["'=1+1", "'+1", "'-1+2", "'@SUM(A1)", "\"'\tx\"", "''=x", ",-5,"] {
        #expect(text.contains(cell), "\(cell)")
      }
      try withStore { copy in
        try copy.importText(text, as: .csv)
        #expect(try copy.tasks.map(\.title).sorted() == titles.sorted())
      }
    }
  }

  @Test func taskwarriorGetsNothingButItsOwnOfATaskThatItCanSay() throws {
    try withStore { (store: TaskStore) throws in
      let text = """
        [
        {"depends":["00000000-0000-4000-8000-000000000002"],"description":"a","due":"20261130T210000Z",\
        "entry":"20260101T000000Z","modified":"20260102T000000Z","project":"Home","scheduled":"20261129T093000Z",\
        "status":"waiting","tags":["b"],"uuid":"00000000-0000-4000-8000-000000000001","wait":"20300101T000000Z"}
        ]

        """
      try store.importText(text, as: .taskwarrior)
      #expect(try store.exportedText(as: .taskwarrior) == text)
    }
  }

  @Test func aChecklistHasHeadingsAndSubtasks() throws {
    try withStore { (store: TaskStore) throws in
      try store.importText("# Home\n\n- [ ] a\n  - [x] b\n\n- [ ] c\n", as: .markdown)
      let lines = try store.exportedText(as: .markdown).split(separator: "\n").map { $0.prefix { $0 != "<" } }
      #expect(lines == ["# Home ".dropLast(), "- [ ] a ", "  - [x] b ", "- [ ] c "])
    }
  }

  @Test func onlyTheSelectedTasksAreWritten() throws {
    try withTask { store, _ in
      try store.writeAndWait { _ = try $0.add("other", to: .inbox) }
      for format in FormatRoundTripTests.formats {
        let text = try store.exportedText(as: format, matching: .tag("garden"))
        #expect(text.contains("plants") && !text.contains("other"), "\(format)")
      }
    }
  }

  @Test func dailyCountsAreATable() throws {
    try withStore { (store: TaskStore) throws in
      try store.writeAndWait { _ = try $0.complete(try $0.add("a", to: .inbox).id) }
      try withTemporaryDirectory { directory in
        let file = directory.appending("days.csv")
        var options = StatisticsOptions()
        (options.from, options.to) = (try CalendarDay(iso8601: "2026-11-20"), try CalendarDay(iso8601: "2026-11-21"))
        #expect(try store.exportDailyCounts(to: file, options) == 2)
        let text = try String(contentsOf: URL(filePath: file.string), encoding: .utf8)
        #expect(text == "day,completed,created,open\r\n2026-11-20,0,0,0\r\n2026-11-21,1,1,0\r\n")
      }
    }
  }
}
