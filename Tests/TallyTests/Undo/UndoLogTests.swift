import Testing

@testable import Tally

/// Which entries stand, read off entries made up for it, newest first.
@Suite struct UndoLogTests {
  private func id(_ sequence: UInt64) -> ChangeID { ChangeID(sequence: sequence, position: 0) }

  private func entry(
    _ sequence: UInt64, _ kind: HistoryKind = .change, of target: UInt64? = nil, origin: WriteOrigin = .local
  ) -> HistoryEntry {
    HistoryEntry(
      id: id(sequence), kind: kind, origin: origin, target: target.map(id), date: Timestamp(clamping: 0),
      actionName: nil)
  }

  @Test func whatIsUndoneIsNotUndoneAgain() {
    let log = UndoLog(entries: [entry(3, .undo, of: 2), entry(2), entry(1)])
    #expect(log.undoable().entries.map(\.id) == [id(1)])
    #expect(log.redoable()?.id == id(3))
  }

  @Test func whatIsDoneAgainIsNotDoneTwice() {
    let log = UndoLog(entries: [entry(4, .redo, of: 3), entry(3, .undo, of: 2), entry(2)])
    #expect(log.redoable() == nil)
    #expect(log.undoable().entries.map(\.id) == [id(4)])
  }

  @Test func writesOfOthersAreLeftAloneAndDoNotEndRedo() {
    let log = UndoLog(entries: [entry(4, origin: .replica), entry(3, .undo, of: 2), entry(2), entry(1)])
    #expect(log.undoable().entries.map(\.id) == [id(1)])
    #expect(log.redoable()?.id == id(3))
  }

  @Test func anUndoOfSomethingOlderCountsAndOneOfSomethingNewerCancels() {
    let log = UndoLog(entries: [entry(5, .undo, of: 4), entry(4), entry(3, .undo, of: 1), entry(2), entry(1)])
    #expect(log.effective(since: id(2)).map(\.id) == [id(3)])
    #expect(log.effective(since: id(4)).map(\.id) == [id(5)])
  }
}
