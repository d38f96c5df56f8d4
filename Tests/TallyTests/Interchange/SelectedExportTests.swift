import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// Exports of what a filter finds, and lines that hold a whole store.
struct SelectedExportTests {
  @Test(arguments: InterchangeFormat.allCases)
  func aSelectionHoldsItsAncestorsAndListsAndCanBeImported(format: InterchangeFormat) throws {
    try withStore { (store: TaskStore) throws in
      let child = try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "Home")
        try transaction.addList(name: "Work")
        let parent = try transaction.add(TaskDraft(title: "parent", listID: list.id))
        try transaction.add(TaskDraft(title: "other", listID: list.id))
        let child = try transaction.add(TaskDraft(title: "child", listID: list.id))
        return try transaction.update(child.id) {
          $0.parentID = parent.id
          $0.tags = ["garden"]
        }
      }
      let text = try store.exportedText(format, matching: .tag("garden"))
      try withStore { (copy: TaskStore) throws in
        let summary = try copy.importText(text, format)
        #expect(summary.tasks.added == 2 && summary.lists.added == 1)
        #expect(try copy.read { try $0.task(child.id) } == child)
      }
    }
  }

  @Test func linesRestoreAWholeStore() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "linesRestoreAWholeStore"))
    try withStore { source in
      try Samples.fill(source, taskCount: 200, using: &generator)
      let lines = try source.exportedText(.ndjson)
      try withStore { copy in
        let summary = try copy.importText(lines, .ndjson)
        #expect(summary.lists.added == 3 && summary.completions.added > 0)
        #expect(try copy.exportedText(.ndjson) == lines)
        #expect(try copy.exportedText().withoutExportDate == source.exportedText().withoutExportDate)
        #expect(try copy.importText(lines, .ndjson).tasks.unchanged == summary.tasks.added)
      }
    }
  }

  @Test(arguments: [
    (#"{"list":1}"#, "not an object", 9), (#"{"list":{"name":"a"}}"#, "no id", 9),
    (#"{"completion":{}}"#, "no taskID", 15),
    (#"{"list":{"id":"00000000-0000-0000-0000-0000000000a1","name":"a"},"text":"b"}"#, "its line to itself", 66),
  ])
  func brokenLinesOfListsAreNamedWithTheirPlace(line: String, message: String, column: Int) throws {
    try withStore { (store: TaskStore) throws in
      let error = #expect(throws: TallyError.self) { try store.importText(line, .ndjson) }
      #expect(error?.message.contains(message) == true)
      #expect(error?.position == TextPosition(line: 1, column: column))
    }
  }
}
