import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// An import merges: nothing older takes the place of something newer.
struct ImportMergeTests {
  /// A store with a moving clock, one task in a list, and its export.
  private func withExport(
    _ format: InterchangeFormat = .json,
    _ body: (_ store: TaskStore, _ clock: TestClock, _ task: TaskItem, _ export: String) throws -> Void
  ) throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let task = try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "Home")
        return try transaction.add(TaskDraft(title: "first", listID: list.id))
      }
      clock.advance()
      let export = try store.exportedText(format)
      clock.advance()
      try body(store, clock, task, export)
      try checkInvariants(of: store)
    }
  }

  @Test(arguments: InterchangeFormat.allCases)
  func anOldExportLeavesEditsAndCompletionsAlone(format: InterchangeFormat) throws {
    try withExport(format) { store, clock, task, export in
      try store.writeAndWait { transaction in
        try transaction.update(task.id) { $0.title = "second" }
        try transaction.complete(task.id)
      }
      let before = try store.read { (try $0.task(task.id), try $0.statistics().completed.allTime) }
      let dryRun = try store.importText(export, format, ImportOptions(isDryRun: true))
      let summary = try store.importText(export, format)
      #expect(summary.tasks == ImportSummary.Counts(keptNewer: 1))
      #expect(dryRun.tasks == summary.tasks)
      let after = try store.read { (try $0.task(task.id), try $0.statistics().completed.allTime) }
      #expect(after == before)
      #expect(after.0?.title == "second" && after.1 == 1)
      let overwritten = try store.importText(export, format, ImportOptions(overwrites: true))
      #expect(overwritten.tasks == ImportSummary.Counts(changed: 1))
      #expect(try store.read { try $0.task(task.id) } == task)
    }
  }

  @Test(arguments: InterchangeFormat.allCases)
  func whatWasDeletedAfterTheExportStaysDeleted(format: InterchangeFormat) throws {
    try withExport(format) { store, clock, task, export in
      try store.writeAndWait { try $0.deleteList(try #require(task.listID)) }
      clock.advance()
      let summary = try store.importText(export, format)
      #expect(summary.tasks == ImportSummary.Counts(keptNewer: 1))
      #expect(summary.lists == ImportSummary.Counts(keptNewer: 1))
      #expect(try store.read { try $0.taskCount + $0.listCount } == 0)
      #expect(try store.importText(export, format, ImportOptions(overwrites: true)).tasks.added == 1)
      #expect(try store.read { try $0.task(task.id)?.isIdentical(to: task) } == true)
    }
  }

  @Test func whatWasDeletedBeforeTheExportComesBack() throws {
    try withExport { store, clock, task, export in
      try store.writeAndWait { _ = try $0.delete(task.id) }
      clock.advance()
      let later = export.replacing(/"exportDate": "[^"]*"/, with: "\"exportDate\": \"\(clock.now.iso8601)\"")
      #expect(try store.importText(later).tasks.added == 1)
    }
  }

  @Test func aLaterChangeBringsADeletedTaskBackIntoTheInboxOfItsDeletedList() throws {
    try withExport(.ndjson) { store, clock, task, export in
      try store.writeAndWait { try $0.deleteList(try #require(task.listID)) }
      clock.advance()
      let lines = export.split(separator: "\n")
      let later = lines[1].replacing(/"updatedAt":"[^"]*"/, with: "\"updatedAt\":\"\(clock.now.iso8601)\"")
      #expect(try store.importText("\(lines[0])\n\(later)\n", .ndjson).tasks.added == 1)
      #expect(try store.read { try $0.task(task.id) }.map { $0.listID == nil } == true)
    }
  }

  /// Deletions whose date the history has lost count as made when its oldest entry was.
  @Test func anUnknownDateOfADeletionKeepsItDeleted() throws {
    try withExport { store, clock, task, export in
      try store.writeAndWait { _ = try $0.delete(task.id) }
      try store.writeAndWait { _ = try $0.purgeCompletions(before: .latest) }
      let other = try store.writeAndWait { try $0.complete(try $0.add("other", to: .inbox).id) }
      try store.writeAndWait { _ = try $0.delete(other.id) }
      try store.writeAndWait { _ = try $0.purgeCompletions(before: .latest) }
      #expect(try store.read { try $0.historyEntries() }.allSatisfy { $0.date > task.updatedAt })
      #expect(try store.importText(export).tasks == ImportSummary.Counts(keptNewer: 1))
    }
  }

  @Test func aNewerChangeOfTheDocumentWins() throws {
    try withExport { store, clock, task, export in
      try store.writeAndWait { _ = try $0.update(task.id) { $0.notes = "here" } }
      clock.advance()
      let newer =
        export
        .replacing("\"text\": \"first\"", with: "\"text\": \"edited elsewhere\"")
        .replacing(/"updatedAt": "[^"]*",\s*"completedAt"/) { _ in
          "\"updatedAt\": \"\(clock.now.iso8601)\", \"completedAt\""
        }
      #expect(try store.importText(newer).tasks == ImportSummary.Counts(changed: 1))
      let merged = try #require(try store.read { try $0.task(task.id) })
      #expect(merged.title == "edited elsewhere" && merged.notes == nil && merged.updatedAt == clock.now)
      #expect(try store.importText(newer).tasks == ImportSummary.Counts(unchanged: 1))
    }
  }

  @Test func aNewerOpenTaskLeavesTheCompletion() throws {
    try withExport { store, clock, task, export in
      let done = try store.writeAndWait { try $0.complete(task.id) }
      let line = #"{"id":"\#(task.id)","text":"renamed","state":"active","updatedAt":"2030-01-01T00:00:00Z"}"#
      #expect(try store.importText(line, .ndjson).tasks == ImportSummary.Counts(changed: 1))
      let merged = try #require(try store.read { try $0.task(task.id) })
      #expect(merged.title == "renamed" && merged.completedAt == done.completedAt)
    }
  }

  @Test func aCompletionAfterTheLastChangeHereIsTaken() throws {
    try withExport { store, clock, task, export in
      try store.writeAndWait { _ = try $0.update(task.id) { $0.title = "second" } }
      let (later, earlier) = (clock.now.adding(seconds: 5), clock.now.adding(seconds: -5))
      clock.advance()
      func line(_ instant: Timestamp) -> String {
        #"{"id":"\#(task.id)","text":"first","updatedAt":"2020-01-01T00:00:00Z","completedAt":"\#(instant)"}"#
      }
      #expect(try store.importText(line(earlier), .ndjson).tasks == ImportSummary.Counts(keptNewer: 1))
      #expect(try store.importText(line(later), .ndjson).tasks == ImportSummary.Counts(changed: 1))
      let merged = try #require(try store.read { try $0.task(task.id) })
      #expect(merged.title == "second" && merged.completedAt?.instant == later)
      #expect(try store.importText(line(later), .ndjson).tasks == ImportSummary.Counts(keptNewer: 1))
    }
  }

  /// The time of change is not what people edit in a file.
  @Test func aChangeByHandIsTakenUnlessTheStoreMayHaveChangedAtTheSameInstant() throws {
    try withExport { (store, clock, task, export) throws in
      let edited = export.replacing("\"text\": \"first\"", with: "\"text\": \"by hand\"")
      let simultaneous = edited.replacing(
        /"exportDate": "[^"]*"/, with: "\"exportDate\": \"\(task.updatedAt.iso8601)\"")
      #expect(try store.importText(simultaneous).tasks == ImportSummary.Counts(keptNewer: 1))
      #expect(try store.importText(edited).tasks == ImportSummary.Counts(changed: 1))
      #expect(try store.read { try $0.task(task.id)?.title } == "by hand")
    }
  }

  /// Neighbours are renumbered without a new time of change.
  @Test func anOldExportLeavesTheOrderAlone() throws {
    try withExport { store, clock, task, _ in
      let other = try store.writeAndWait { try $0.add(TaskDraft(title: "other", listID: task.listID)) }
      clock.advance()
      let export = try store.exportedText()
      try store.writeAndWait { transaction in
        try transaction.put(try #require(try transaction.task(task.id)).with(order: other.sortOrder + 1))
      }
      #expect(try store.importText(export).tasks == ImportSummary.Counts(unchanged: 2))
      #expect(try store.read { try $0.task(task.id)?.sortOrder } == other.sortOrder + 1)
    }
  }

  @Test func documentsWithoutAVersionAreDatedByTheirExport() throws {
    try withExport { store, clock, task, _ in
      func document(_ date: Timestamp, _ title: String) -> String {
        """
        {"tasks":[{"id":"\(task.id)","text":"\(title)","state":"notStarted","createdAt":"\(task.createdAt)",
        "completedAt":null,"scheduledDate":null,"sortOrder":\(task.sortOrder)}],
        "appVersion":"0.9","exportDate":"\(date)"}
        """
      }
      let edited = try store.writeAndWait { try $0.update(task.id) { $0.title = "second" } }
      #expect(
        try store.importText(document(edited.updatedAt.adding(seconds: -1), "old")).tasks
          == ImportSummary.Counts(keptNewer: 1))
      let date = edited.updatedAt.adding(seconds: 1)
      clock.advance()
      #expect(try store.importText(document(date, "new")).tasks == ImportSummary.Counts(changed: 1))
      #expect(try store.read { try $0.task(task.id)?.updatedAt } == date)
      #expect(try store.importText(document(date, "new")).tasks == ImportSummary.Counts(unchanged: 1))
    }
  }

  @Test func aDryRunNamesEachTaskThatIsAffected() throws {
    try withExport { store, clock, task, export in
      let deleted = try store.writeAndWait { try $0.add("to delete", to: .inbox) }
      clock.advance()
      let later = try store.exportedText()
      try store.writeAndWait { transaction in
        try transaction.delete(deleted.id)
        try transaction.update(task.id) { $0.title = "second" }
      }
      clock.advance()
      let new = UUID(namedBy: "test")
      let document = later.replacing(
        "\"tasks\": [", with: "\"tasks\": [{\"id\":\"\(new)\",\"text\":\"new\"},", maxReplacements: 1)
      var reported: [ImportedRecord] = []
      try store.importText(document, .json, ImportOptions(isDryRun: true)) { reported.append($0) }
      #expect(
        Set(reported) == [
          ImportedRecord(kind: .task, id: new, name: "new", outcome: .added),
          ImportedRecord(kind: .task, id: task.id, name: "second", outcome: .keptNewer),
          ImportedRecord(kind: .task, id: deleted.id, name: "to delete", outcome: .keptDeleted),
        ])
    }
  }

  @Test func aDryRunReportsListsAndFilters() throws {
    try withExport { store, clock, task, _ in
      try store.writeAndWait { _ = try $0.saveFilter(.is(.open), as: "Open") }
      let export = try store.exportedText()
      clock.advance()
      let listID = try #require(task.listID)
      func reported(_ overwrites: Bool = false) throws -> Set<ImportedRecord> {
        var records: [ImportedRecord] = []
        let options = ImportOptions(isDryRun: true, overwrites: overwrites)
        try store.importText(export, .json, options) { records.append($0) }
        #expect(Set(records).count == records.count)
        return Set(records)
      }
      #expect(try reported() == [])
      try store.writeAndWait { transaction in
        try transaction.renameList(listID, to: "House")
        try transaction.saveFilter(.is(.done), as: "OPEN")
      }
      let list = ImportedRecord(kind: .list, id: listID, name: "House", outcome: .keptNewer)
      let filter = ImportedRecord(kind: .filter, id: nil, name: "Open", outcome: .keptNewer)
      #expect(try reported() == [list, filter])
      #expect(
        try reported(true) == [
          ImportedRecord(kind: .list, id: listID, name: "Home", outcome: .changed),
          ImportedRecord(kind: .filter, id: nil, name: "Open", outcome: .changed),
        ])
    }
  }

  /// A sub-task of the document whose parent has moved here follows it; one whose parent was deleted stands alone.
  @Test func subtasksFollowParentsThatStayed() throws {
    try withExport { store, clock, task, _ in
      let child = try store.writeAndWait { transaction in
        let child = try transaction.add(TaskDraft(title: "child", listID: task.listID))
        return try transaction.update(child.id) { $0.parentID = task.id }
      }
      clock.advance()
      let lines = try store.exportedText(.ndjson)
      try store.writeAndWait { _ = try $0.move(task.id, toList: nil) }
      clock.advance()
      let newer = clock.now
      clock.advance()
      try store.importText(lines.dating("child", newer), .ndjson)
      #expect(try store.read { try $0.task(child.id) }.map { $0.listID == nil && $0.parentID == task.id } == true)
      try store.writeAndWait { _ = try $0.delete(task.id) }
      clock.advance()
      try store.importText(lines.dating("child", clock.now), .ndjson)
      #expect(try store.read { try $0.task(child.id) }.map { $0.parentID == nil } == true)
      #expect(try store.read { try $0.task(task.id) } == nil)
    }
  }
}

extension TestClock {
  /// Lets a minute pass.
  func advance() { now = now.adding(seconds: 60) }
}

extension String {
  /// Lines of an export with another time of change of one task.
  fileprivate func dating(_ title: String, _ instant: Timestamp) -> String {
    let lines = split(separator: "\n").map { line in
      line.contains("\"text\":\"\(title)\"")
        ? line.replacing(/"updatedAt":"[^"]*"/, with: "\"updatedAt\":\"\(instant)\"") : line
    }
    return lines.joined(separator: "\n")
  }
}

extension TaskItem {
  fileprivate func with(order: Int64) -> TaskItem {
    var task = self
    task.sortOrder = order
    return task
  }
}
