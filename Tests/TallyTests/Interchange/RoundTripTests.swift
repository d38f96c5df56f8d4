import Foundation
import TallyTestSupport
import Testing

@testable import Tally

struct RoundTripTests {
  @Test func anExportIntoAnEmptyStoreExportsTheSameAgain() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "anExportIntoAnEmptyStore"))
    try withStore { source in
      try Samples.fill(source, taskCount: 300, using: &generator)
      let export = try source.exportedText()
      #expect(export.contains("\"taskDeleted\": true"))
      #expect(export.contains("\"taskDeleted\": false"))
      let clock = TestClock.noon
      clock.now = clock.now.adding(seconds: 1_000)
      try withStore(.testing(clock: clock)) { copy in
        let summary = try copy.importText(export)
        #expect(summary.tasks.added == (try source.read { try $0.taskCount }))
        #expect(summary.lists.added == 3)
        let second = try copy.exportedText()
        #expect(second != export, "the export's date is in it")
        #expect(Array(second.withoutExportDate.utf8) == Array(export.withoutExportDate.utf8))
      }
    }
  }

  @Test func aSecondImportChangesNothing() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "aSecondImport"))
    try withStore { (store: TaskStore) throws in
      try Samples.fill(store, taskCount: 100, using: &generator)
      let export = try store.exportedText()
      let (taskCount, sequence) = try store.read { (try $0.taskCount, try $0.sequence) }
      let summary = try store.importText(export)
      #expect(summary.tasks == ImportSummary.Counts(added: 0, changed: 0, unchanged: taskCount))
      #expect(summary.lists == ImportSummary.Counts(added: 0, changed: 0, unchanged: 3))
      #expect(try store.read { try $0.sequence } == sequence, "nothing was committed")
      #expect(try store.exportedText() == export)
    }
  }

  @Test func linesGoOutAndComeInAgain() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "linesGoOut"))
    try withStore { source in
      try source.writeAndWait { transaction in
        try transaction.insert(contentsOf: Samples.tasks(200, in: [], using: &generator))
      }
      let lines = try source.exportedText(.ndjson)
      #expect(lines.split(separator: "\n", omittingEmptySubsequences: false).count == 201)
      try withStore { copy in
        let summary = try copy.importText(lines, .ndjson)
        #expect(summary.tasks.added == 200)
        let (again, all, sourceAll) = (
          try copy.exportedText(.ndjson), try copy.exportedText(), try source.exportedText()
        )
        #expect(again == lines)
        #expect(all.withoutExportDate == sourceAll.withoutExportDate)
      }
    }
  }

  @Test func nastyTextsComeBackByteForByte() throws {
    try withStore { source in
      let tasks = Samples.nastyTexts.enumerated().map { number, text in
        TaskItem(title: text, notes: text, sortOrder: Int64(number), createdAt: Samples.now)
      }
      try source.writeAndWait { try $0.insert(contentsOf: tasks) }
      try withStore { copy in
        try copy.importText(try source.exportedText())
        for task in tasks {
          let read = try #require(try copy.read { try $0.task(task.id) })
          #expect(read.isIdentical(to: task), "\(task.title.unicodeScalars.prefix(20).map(\.value))")
        }
      }
    }
  }

  @Test func aMegabyteOfTitleComesBack() throws {
    let title = String(repeating: "水\u{0}\"👩‍👩‍👧", count: 50_000)
    try withStore { source in
      let task = try source.writeAndWait { try $0.add(title, to: .today) }
      try withStore { copy in
        try copy.importText(try source.exportedText())
        let read = try #require(try copy.read { try $0.task(task.id) })
        #expect(read.title.utf8.elementsEqual(title.utf8))
      }
    }
  }

  @Test func tasksStandInTheOrderOfTheirIDs() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "tasksStandInOrder"))
    try withStore { (store: TaskStore) throws in
      try Samples.fill(store, taskCount: 100, using: &generator)
      let document = try JSONSerialization.jsonObject(with: Data(try store.exportedText().utf8)) as? [String: Any]
      for key in ["tasks", "lists"] {
        let ids = (document?[key] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
        #expect(!ids.isEmpty)
        #expect(ids == ids.sorted())
      }
    }
  }
}
