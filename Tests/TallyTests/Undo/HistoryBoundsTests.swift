import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

/// The undo log keeps only the last changes.
@Suite struct HistoryBoundsTests {
  @Test func theOldestChangesGo() throws {
    try withStore { store in
      let id = try store.writeAndWait { try $0.add("start", to: .inbox).id }
      let count = HistoryBounds.ordinaryPartCount + 3 * HistoryBounds.slackPartCount
      for number in 0..<count {
        try store.writeAndWait { transaction in _ = try transaction.update(id) { $0.title = "title \(number)" } }
      }
      let kept = try store.read { try $0.historyEntries() }
      #expect(kept.count <= HistoryBounds.ordinaryPartCount + HistoryBounds.slackPartCount)
      #expect(kept.count >= HistoryBounds.ordinaryPartCount)
      #expect(kept.first?.id.sequence == UInt64(count + 1))
    }
  }

  @Test func manySmallInsertsOfOneWriteShareTheirParts() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        for number in 0..<300 {
          let tasks = (0..<20).map { TaskItem(title: "\(number) \($0)", createdAt: .earliest) }
          try transaction.insert(contentsOf: tasks)
        }
      }
      // An image of a new task takes 18 bytes, a part is full with 32 KiB.
      #expect(try store.read { try $0.tables.history.count(in: $0.base) } == 4)
      try store.writeAndWait { try $0.undo() }
      #expect(try store.read { try $0.taskCount } == 0)
    }
  }

  /// The bytes reach their bound before the number of entries does, and no commit may leave more.
  @Test func changesOfMiddlingSizeNeverExceedTheBound() throws {
    try withStore { store in
      let id = try store.writeAndWait { try $0.add("start", to: .inbox).id }
      let text = String(repeating: "x", count: 20_000)
      for number in 0..<440 {
        try store.writeAndWait { transaction in _ = try transaction.update(id) { $0.title = "\(number)" + text } }
        if number > 400 { #expect(try store.verify().isSound, "after \(number)") }
      }
    }
  }

  @Test func theBytesOfTheHistoryAreBounded() throws {
    try withStore { store in
      let id = try store.writeAndWait { try $0.add("start", to: .inbox).id }
      let megabyte = String(repeating: "x", count: 1 << 20)
      for number in 0..<20 {
        try store.writeAndWait { transaction in _ = try transaction.update(id) { $0.title = "\(number)" + megabyte } }
      }
      // The check of the invariants at the end counts the bytes; the log is as full as possible.
      #expect(try store.read { try $0.historyEntries().count } == 7)
      // The entries of the undos do not push out those to be undone next.
      for _ in 0..<7 { try store.writeAndWait { try $0.undo() } }
      expect(.nothingToUndo) { try store.writeAndWait { _ = try $0.undo() } }
      #expect(try store.read { try $0.task(id)?.title.hasPrefix("12x") } == true)
      for _ in 0..<7 { try store.writeAndWait { try $0.redo() } }
      expect(.nothingToRedo) { try store.writeAndWait { _ = try $0.redo() } }
      #expect(try store.read { try $0.task(id)?.title.hasPrefix("19x") } == true)
      // Undone and redone again and again, the log stays within twice its bounds, and a change cuts it back.
      for _ in 0..<20 {
        try store.writeAndWait { try $0.undo() }
        try store.writeAndWait { try $0.redo() }
      }
      #expect(try store.read { try $0.historyEntries().count } == 15)
      try store.writeAndWait { _ = try $0.update(id) { $0.title = "end" } }
      #expect(try store.read { try $0.historyEntries().count } == 7)
    }
  }

  /// The bug: after many undos, they and the writes that they had undone pushed out what could still be undone.
  @Test(arguments: TestSize.pick(quick: [500], long: [64, 500, 900]))
  func whatWasUndoneDoesNotPushOutWhatCanBeUndone(undoneCount: Int) throws {
    try withStore { store in
      let id = try store.writeAndWait { try $0.add("start", to: .inbox).id }
      func retitle(_ title: String) throws {
        try store.writeAndWait { transaction in _ = try transaction.update(id) { $0.title = title } }
      }
      for number in 1..<1_000 { try retitle("\(number)") }
      for _ in 0..<undoneCount - 1 { try store.writeAndWait { try $0.undo() } }
      // Redone and undone once more, which cancels as well.
      try store.writeAndWait { try $0.undo() }
      try store.writeAndWait { try $0.redo() }
      try store.writeAndWait { try $0.undo() }
      let left = 1_000 - undoneCount
      try retitle("new")
      #expect(try store.read { try $0.task(id)?.title } == "new")
      for number in (1...left).reversed() {
        try store.writeAndWait { try $0.undo() }
        let title = try store.read { try $0.task(id)?.title }
        #expect(title == (number == 1 ? "start" : "\(number - 1)"))
      }
      try store.writeAndWait { try $0.undo() }
      expect(.nothingToUndo) { try store.writeAndWait { _ = try $0.undo() } }
      for _ in 0...left { try store.writeAndWait { try $0.redo() } }
      #expect(try store.read { try $0.task(id)?.title } == "new")
    }
  }

  /// Writes that were not undone from the newest on may not cancel out.
  @Test func onlyWhatCancelsOutGoesBeforeWhatIsOlder() throws {
    try withStore { store in
      let ids = try store.writeAndWait { transaction in
        try (0..<2).map { try transaction.add("start \($0)", to: .inbox).id }
      }
      func retitle(_ number: Int, _ title: String) throws {
        try store.writeAndWait { transaction in _ = try transaction.update(ids[number]) { $0.title = title } }
      }
      let count = HistoryBounds.ordinaryPartCount + HistoryBounds.slackPartCount - 4
      for number in 0..<count { try retitle(0, "\(number)") }
      try retitle(0, "first")
      try retitle(1, "second")
      let first = try store.read { try $0.historyEntries() }[1].id
      try store.writeAndWait { _ = try $0.undo(first) }
      try store.writeAndWait { try $0.undo() }
      for number in 0..<HistoryBounds.slackPartCount { try retitle(0, "new \(number)") }
      for _ in 0..<HistoryBounds.slackPartCount { try store.writeAndWait { try $0.undo() } }
      #expect(try store.read { try $0.task(ids[0])?.title } == "\(count - 1)")
      #expect(try store.read { try $0.task(ids[1])?.title } == "start 1")
    }
  }

  /// Also while changes of another replica arrive.
  @Test(arguments: TestSize.pick(quick: [true], long: [false, true]))
  func theWholeHistoryCanBeUndoneAndRedone(besideAReplica: Bool) throws {
    try withStore { store in
      func arrive() throws {
        guard besideAReplica else { return }
        try store.writeAndWait { transaction in
          transaction.state.origin = .replica
          _ = try transaction.add("from elsewhere", to: .inbox)
        }
      }
      let count = HistoryBounds.ordinaryPartCount + HistoryBounds.slackPartCount
      for number in 0..<count { try store.writeAndWait { _ = try $0.add("\(number)", to: .inbox) } }
      #expect(try store.read { try $0.historyEntries().count } == count)
      for _ in 0..<count { try store.writeAndWait { try $0.undo() } }
      try arrive()
      expect(.nothingToUndo) { try store.writeAndWait { _ = try $0.undo() } }
      #expect(try store.read { try $0.taskCount } == (besideAReplica ? 1 : 0))
      for _ in 0..<count { try store.writeAndWait { try $0.redo() } }
      expect(.nothingToRedo) { try store.writeAndWait { _ = try $0.redo() } }
      #expect(try store.read { try $0.taskCount } == count + (besideAReplica ? 1 : 0))
    }
  }

  @Test func aChangeTooLargeToBeKeptCutsTheHistoryAndSaysSo() throws {
    try withStore { store in
      let id = try store.writeAndWait { try $0.add(String(repeating: "x", count: 9 << 20), to: .inbox).id }
      try store.writeAndWait { _ = try $0.delete(id) }
      #expect(try store.read { try $0.historyEntries().map(\.kind) } == [.cut])
      #expect {
        try store.writeAndWait { try $0.undo() }
      } throws: { error in
        (error as? TallyError)?.message == TallyError.historyIsCut.message
      }
      try store.writeAndWait { _ = try $0.add("small", to: .inbox) }
      try store.writeAndWait { try $0.undo() }
      expect(.nothingToUndo) { try store.writeAndWait { _ = try $0.undo() } }
    }
  }

  /// Neither the title's image nor those of the new tasks are too large alone.
  @Test func imagesOfABatchThatDoNotFitBesideEarlierOnesCutTheHistory() throws {
    try withStore { store in
      let title = String(repeating: "x", count: BeforeImages.maximumSizeInBytes - 1_000)
      let id = try store.writeAndWait { try $0.add(title, to: .inbox).id }
      try store.writeAndWait { transaction in
        _ = try transaction.update(id) { $0.title = "short" }
        let wasUndoable = transaction.isUndoable
        try transaction.insert(contentsOf: (0..<100).map { TaskItem(title: "\($0)", createdAt: .earliest) })
        let isUndoable = transaction.isUndoable
        #expect(wasUndoable && !isUndoable)
      }
      #expect(try store.read { try $0.historyEntries().map(\.kind) } == [.cut])
    }
  }

  @Test func anUndoTooLargeToBeKeptLeavesWhatCameBeforeItsTarget() throws {
    try withStore { store in
      let first = try store.writeAndWait { try $0.add("first", to: .inbox).id }
      try store.writeAndWait { _ = try $0.add("second", to: .inbox) }
      try store.writeAndWait { try $0.undo() }
      let large = String(repeating: "x", count: 3 << 20)
      let change = try store.writeAndWait { transaction in
        for _ in 0..<3 { _ = try transaction.add(large, to: .inbox) }
        return try transaction.changeID
      }
      try store.writeAndWait { _ = try $0.update(first) { $0.title = "renamed" } }
      try store.writeAndWait { transaction in
        _ = try transaction.undo(change)
        let isUndoable = transaction.isUndoable
        #expect(!isUndoable)
      }
      #expect(try store.read { try $0.view(.all).tasks.map(\.title) } == ["renamed"])
      #expect(try store.read { try $0.redoableChange } == nil)
      #expect {
        try store.writeAndWait { try $0.redo() }
      } throws: { error in
        (error as? TallyError)?.message == TallyError.undoTooLarge.message
      }
      let shown = try store.read { try $0.history() }
      #expect(shown.map(\.kind) == [.undo, .change, .undo, .change, .change])
      #expect(shown.first?.target == change && shown.first?.tasks.isEmpty == true)
      // The changes before and after its target can be undone, and redone.
      try store.writeAndWait { try $0.undo() }
      #expect(try store.read { try $0.view(.all).tasks.map(\.title) } == ["first"])
      try store.writeAndWait { try $0.undo() }
      #expect(try store.read { try $0.taskCount } == 0)
      try store.writeAndWait { try $0.redo() }
      try store.writeAndWait { try $0.redo() }
      expect(.nothingToRedo) { try store.writeAndWait { _ = try $0.redo() } }
      #expect(try store.read { try $0.view(.all).tasks.map(\.title) } == ["renamed"])
    }
  }

  @Test func aWriteThatHasLostItsImagesStaysIrrevocable() throws {
    try withStore { store in
      let id = try store.writeAndWait { try $0.add(String(repeating: "x", count: 9 << 20), to: .inbox).id }
      try store.writeAndWait { transaction in
        try transaction.delete(id)
        // Records the changes so far.
        expect(.nothingToUndo) { _ = try transaction.undo() }
        _ = try transaction.add("small", to: .inbox)
        let isUndoable = transaction.isUndoable
        #expect(!isUndoable)
      }
    }
  }

  @Test func aCommitHasNoMoreStepsThanItsKeysCanNumber() throws {
    try withStore { store in
      for last in [ChangeID.maximumPosition - 1, ChangeID.maximumPosition] {
        let added = code {
          try store.writeAndWait { transaction in
            let entry = HistoryEntry(
              id: ChangeID(sequence: transaction.commitSequence, position: last), kind: .change, origin: .local,
              target: nil, dateMicroseconds: transaction.now.microsecondsSince1970, actionName: nil)
            try transaction.changeIfNeeded { (tables, _, base) throws(LMDBError) in
              try HistoryWriter(table: tables.history).append(entry, BeforeImages(), in: &base)
              return false
            }
            _ = try transaction.add("one more", to: .inbox)
          }
        }
        #expect(added == (last < ChangeID.maximumPosition ? nil : .valueOutOfRange))
      }
    }
  }

  @Test func aPurgeForgetsTheHistoryToo() throws {
    try withStore { store in
      let id = try store.writeAndWait { transaction in
        let id = try transaction.add("secret", to: .inbox).id
        return try transaction.complete(id).id
      }
      try store.writeAndWait { _ = try $0.delete(id) }
      try store.writeAndWait { _ = try $0.purgeCompletions(before: .latest) }
      #expect(try store.read { try $0.historyEntries().map(\.kind) } == [.cut])
      expect(.nothingToUndo) { try store.writeAndWait { _ = try $0.undo() } }
    }
  }

  @Test(arguments: [(0, 7), (1, 9), (2, 9), (21, 1), (30, 1), (31, 9), (32, 2)] as [(Int, UInt8)])
  func aDamagedEntryIsFound(offset: Int, value: UInt8) throws {
    try withTemporaryDirectory { directory in
      let store = try TaskStore(at: directory.appending("store"), configuration: .testing())
      for _ in 0..<2 { try store.writeAndWait { _ = try $0.add("x", to: .inbox) } }
      try checkInvariants(of: store)
      let raw = try Database<HistoryKey, [UInt8]>(opening: "history", in: store.environment)
      try store.environment.write { transaction in
        let key = HistoryKey(ChangeID(sequence: 2, position: 0), part: 0)
        var bytes = try #require(try raw.value(forKey: key, in: transaction))
        bytes[offset] = value
        try raw.put(bytes, forKey: key, in: &transaction)
      }
      #expect(throws: UnsoundStore.self) { try checkInvariants(of: store) }
      try store.close()
    }
  }

  @Test func theHistoryOfRandomChangesLeadsBackToTheBeginning() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "HistoryBoundsTests"))
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      var model = TaskModel()
      var states = [try contents(of: store)]
      for _ in 0..<150 {
        clock.now = clock.now.adding(seconds: 1)
        let calendar = store.configuration.calendar
        let change = RandomChange.next(in: model, now: clock.now, calendar: calendar, using: &generator)
        _ = model.apply(change, now: clock.now, timeZone: calendar.timeZone)
        try? store.writeAndWait { try change.apply(to: &$0) }
        let state = try contents(of: store)
        if state != states.last { states.append(state) }
      }
      for state in states.dropLast().reversed() {
        try store.writeAndWait { try $0.undo() }
        #expect(try contents(of: store) == state)
      }
      for state in states.dropFirst() {
        try store.writeAndWait { try $0.redo() }
        #expect(try contents(of: store) == state)
      }
    }
  }
}
