import TallyEngine
import Testing

@testable import Tally

/// Which entries stand, read off entries made up for it, newest first.
@Suite struct UndoLogTests {
  private func id(_ sequence: UInt64) -> ChangeID { ChangeID(sequence: sequence, position: 0) }

  private func entry(
    _ sequence: UInt64, _ kind: HistoryKind = .change, of target: UInt64? = nil, origin: WriteOrigin = .local
  ) -> HistoryEntry {
    HistoryEntry(
      id: id(sequence), kind: kind, origin: origin, target: target.map(id), dateMicroseconds: 0,
      actionName: nil)
  }

  /// The writes that can be undone, newest first.
  private func undoable(_ entries: [HistoryEntry]) -> [ChangeID] {
    var writes = UndoableWrites()
    return entries.filter { writes.pass($0) }.map(\.id)
  }

  /// The undo that can be undone.
  private func redoable(_ entries: [HistoryEntry]) -> ChangeID? {
    var search = RedoableUndo()
    for entry in entries where !search.pass(entry) { break }
    return search.entry?.id
  }

  @Test func whatIsUndoneIsNotUndoneAgain() {
    let entries = [entry(3, .undo, of: 2), entry(2), entry(1)]
    #expect(undoable(entries) == [id(1)])
    #expect(redoable(entries) == id(3))
  }

  @Test func whatIsDoneAgainIsNotDoneTwice() {
    let entries = [entry(4, .redo, of: 3), entry(3, .undo, of: 2), entry(2)]
    #expect(redoable(entries) == nil)
    #expect(undoable(entries) == [id(4)])
  }

  @Test func writesOfOthersAreLeftAloneAndDoNotEndRedo() {
    let entries = [entry(4, origin: .replica), entry(3, .undo, of: 2), entry(2), entry(1)]
    #expect(undoable(entries) == [id(1)])
    #expect(redoable(entries) == id(3))
  }

  @Test func nothingBeforeACutCanBeUndoneOrRedone() {
    let entries = [entry(4), entry(3, .cut), entry(2), entry(1, .undo, of: 0)]
    #expect(undoable(entries) == [id(4)])
    #expect(redoable(Array(entries.dropFirst())) == nil)
  }

  @Test func anUndoOfSomethingOlderCountsAndOneOfSomethingNewerCancels() {
    let entries = [entry(5, .undo, of: 4), entry(4), entry(3, .undo, of: 1)]
    #expect(UndoLog(entries: entries).effective(since: id(2)).map(\.id) == [id(3)])
    #expect(UndoLog(entries: Array(entries.prefix(1))).effective(since: id(4)).map(\.id) == [id(5)])
  }
}
