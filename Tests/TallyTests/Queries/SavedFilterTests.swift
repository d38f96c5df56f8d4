import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// Filters that a store keeps under names.
@Suite struct SavedFilterTests {
  @Test func aFilterIsSavedUnderOneNameHoweverItIsWritten() throws {
    try withStore { (store: TaskStore) throws in
      try store.writeAndWait { transaction in
        try transaction.saveFilter(.tag("home") && .is(.open), as: " Chores ")
        try transaction.saveFilter(TaskFilter(text: "due<=today+3d"), as: "Bald fällig")
        try transaction.saveFilter(.is(.done), as: "CHORES")
      }
      let filters = try store.read { try $0.savedFilters() }
      #expect(filters.map(\.name) == ["Bald fällig", "CHORES"])
      #expect(filters.map(\.text) == ["due<=today+3d", "is:done"])
      let dueSoon = try TaskFilter(text: "due<=today+3d")
      #expect(try store.read { try $0.savedFilter(named: "BALD FA\u{308}LLIG")?.filter } == dueSoon)
      #expect(try store.read { try $0.savedFilter(named: "chore") } == nil)
      #expect(try store.read { try $0.savedFilter(named: "") } == nil)
      #expect(try store.read { try $0.savedFilter(named: String(repeating: "x", count: 1_000)) } == nil)
    }
  }

  @Test func savingTheSameFilterAgainChangesNothing() throws {
    let clock = TestClock(Timestamp(clamping: 1_000))
    try withStore(.testing(clock: clock)) { (store: TaskStore) throws in
      try store.writeAndWait { try $0.saveFilter(.is(.open), as: "Open") }
      clock.now = Timestamp(clamping: 2_000)
      try store.writeAndWait { try $0.saveFilter(.is(.open), as: "Open") }
      #expect(try store.read { try $0.savedFilters().map(\.updatedAt) } == [Timestamp(clamping: 1_000)])
      try store.writeAndWait { try $0.saveFilter(.is(.done), as: "Open") }
      #expect(try store.read { try $0.savedFilters().map(\.updatedAt) } == [Timestamp(clamping: 2_000)])
    }
  }

  @Test(arguments: ["", " \n", "two\nlines", String(repeating: "x", count: 65)])
  func aNameThatCannotBeOneIsRefused(name: String) throws {
    try withStore { (store: TaskStore) throws in
      expect(.invalidFilter) { try store.writeAndWait { _ = try $0.saveFilter(.all, as: name) } }
      #expect(try store.read { try $0.savedFilters() } == [])
    }
  }

  @Test func aFilterThatHasNoTextIsRefused() throws {
    let tooDeep = (0..<100).reduce(TaskFilter.is(.open)) { filter, _ in !(filter && .is(.done)) }
    try withStore { (store: TaskStore) throws in
      for filter in [tooDeep, .tag("")] {
        expect(.invalidFilter) { try store.writeAndWait { _ = try $0.saveFilter(filter, as: "name") } }
      }
      #expect(try store.read { try $0.savedFilters() } == [])
    }
  }

  /// One saved with a list that is deleted later stays, and says so when it is used.
  @Test func aFilterThatNamesNoListIsRefused() throws {
    try withStore { (store: TaskStore) throws in
      let filter = try TaskFilter(text: "#home list:Work")
      expect(.listNotFound) { try store.writeAndWait { _ = try $0.saveFilter(filter, as: "Work") } }
      #expect(try store.read { try $0.savedFilters() } == [])
      let list = try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "Work")
        try transaction.saveFilter(filter, as: "Work")
        return list
      }
      try store.writeAndWait { try $0.deleteList(list.id) }
      let saved = try #require(try store.read { try $0.savedFilter(named: "Work")?.filter })
      let error = #expect(throws: TallyError.self) { try store.read { try $0.count(saved) } }
      #expect(error?.code == .listNotFound && error?.position?.column == 12)
    }
  }

  @Test func renamingATagRenamesItInFilters() throws {
    try withStore { (store: TaskStore) throws in
      try store.writeAndWait { transaction in
        try transaction.add("task") { $0.tags = ["house"] }
        try transaction.saveFilter(TaskFilter(text: "#HOUSE (due<=today or -#house) text~house"), as: "House")
        try transaction.saveFilter(TaskFilter(text: "#garden"), as: "Garden")
      }
      let old = try store.read { try $0.savedFilters() }
      try store.writeAndWait { _ = try $0.renameTag("House", to: "my home") }
      let new = try store.read { try $0.savedFilters() }
      #expect(new.map(\.text) == ["#garden", #"#"my home" (due<=today or -#"my home") house"#])
      #expect(new[0] == old[0])
      try store.writeAndWait { _ = try $0.undo() }
      #expect(try store.read { try $0.savedFilters() } == old)
    }
  }

  @Test(arguments: InterchangeFormat.allCases)
  func aFilterThatWasDeletedAfterTheExportStaysDeleted(format: InterchangeFormat) throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { (store: TaskStore) throws in
      try store.writeAndWait { _ = try $0.saveFilter(.is(.open), as: "Open") }
      let saved = try store.read { try $0.savedFilters() }
      clock.advance()
      let export = try store.exportedText(format)
      clock.advance()
      try store.writeAndWait { try $0.deleteFilter(named: "open") }
      clock.advance()
      for _ in 0..<2 {
        var reported: [ImportedRecord] = []
        #expect(try store.importText(export, format).filters == ImportSummary.Counts(keptNewer: 1))
        try store.importText(export, format, ImportOptions(isDryRun: true)) { reported.append($0) }
        #expect(reported == [ImportedRecord(kind: .filter, id: nil, name: "Open", outcome: .keptDeleted)])
        #expect(try store.read { try $0.savedFilters() } == [])
      }
      let options = ImportOptions(overwrites: true)
      #expect(try store.importText(export, format, options).filters == ImportSummary.Counts(added: 1))
      #expect(try store.read { try $0.savedFilters() } == saved)
      // One that was only ever imported, and one that the history does not know, are new.
      try withStore { (other: TaskStore) throws in
        #expect(try other.importText(export, format).filters == ImportSummary.Counts(added: 1))
      }
    }
  }

  @Test func deletingAndUndoingFollowOneAnother() throws {
    try withStore { (store: TaskStore) throws in
      try store.writeAndWait { try $0.saveFilter(.is(.open), as: "Open") }
      let saved = try store.read { try $0.savedFilters() }
      try store.writeAndWait { try $0.deleteFilter(named: "OPEN") }
      #expect(try store.read { try $0.savedFilters() } == [])
      expect(.filterNotFound) { try store.writeAndWait { try $0.deleteFilter(named: "Open") } }
      let undone = try store.writeAndWait { try $0.undo() }
      #expect(undone.savedFilters == saved && undone.deletedFilters.isEmpty && undone.values.isEmpty)
      #expect(try store.read { try $0.savedFilters() } == saved)
      #expect(try store.writeAndWait { try $0.redo() }.deletedFilters == saved)
    }
  }

  @Test func applicationsCannotWriteWhereFiltersAreKept() throws {
    try withStore { (store: TaskStore) throws in
      try store.writeAndWait { try $0.saveFilter(.is(.open), as: "Open") }
      expect(.invalidKey) { try store.writeAndWait { try $0.setValue(1, forKey: "k", in: "tally.filters") } }
      expect(.invalidKey) { try store.writeAndWait { _ = try $0.removeValue(forKey: "open", in: "tally.filters") } }
      expect(.invalidKey) { try store.writeAndWait { _ = try $0.removeAllValues(in: "tally.filters") } }
      #expect(try store.read { try $0.savedFilters().count } == 1)
    }
  }

  @Test func exportAndImportCarryFiltersAndASecondImportChangesNothing() throws {
    try withStore { (store: TaskStore) throws in
      try store.writeAndWait { transaction in
        try transaction.saveFilter(TaskFilter(text: "#home (priority>=medium or is:overdue)"), as: "Wichtig")
        try transaction.saveFilter(.all, as: "All")
      }
      let (document, filters) = (try store.exportedText(), try store.read { try $0.savedFilters() })
      try withStore { (copy: TaskStore) throws in
        #expect(try copy.importText(document).filters.added == 2)
        #expect(try copy.read { try $0.savedFilters() } == filters)
        #expect(try copy.importText(document).filters.unchanged == 2)
        #expect(try copy.exportedText() == document)
      }
    }
  }

  @Test(
    arguments: [
      (#"{"name":"a","filter":"is:opne","updatedAt":"2026-11-21T12:00:00Z"}"#, TallyError.Code.malformedDocument),
      (#"{"name":" ","filter":"is:open","updatedAt":"2026-11-21T12:00:00Z"}"#, .malformedDocument),
      (#"{"name":"a","filter":"is:open"}"#, .malformedDocument),
      (#"{"name":"a","filter":"is:open","updatedAt":"2026-11-21T12:00:00Z","x":1}"#, .unknownKey),
      (
        #"{"name":"a","filter":"","updatedAt":"2026-11-21T12:00:00Z"},{"name":"A","filter":"","updatedAt":"2026-11-21T12:00:00Z"}"#,
        .malformedDocument
      ),
    ] as [(String, TallyError.Code)])
  func aDocumentWithAWrongFilterIsRefusedWithItsPlace(filters: String, code: TallyError.Code) throws {
    try withStore { (store: TaskStore) throws in
      let document =
        #"{"schemaVersion":2,"lists":[],"tasks":[],"filters":[\#(filters)]}"#
      let error = #expect(throws: TallyError.self) { try store.importText(document) }
      #expect(error?.code == code && error?.position?.line == 1)
      #expect(try store.read { try $0.savedFilters() } == [])
    }
  }
}
