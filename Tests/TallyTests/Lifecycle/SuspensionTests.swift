import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct SuspensionTests {
  @Test func aSuspendedStoreRefusesEverythingUntilItIsResumed() async throws {
    try await withStore { store in
      try await store.write { _ = try $0.add("before", to: .inbox) }
      let file = store.directory.removingLastComponent().appending("copy")
      try store.suspend()
      try store.suspend()
      let calls: [() throws -> Void] = [
        { _ = try store.read { try $0.taskCount } }, { _ = try store.information() }, { try store.flush() },
        { _ = try store.verify() }, { _ = try store.statistics() }, { _ = try store.backup(to: file) },
        { try store.publishSnapshot(to: file) }, { _ = try store.changes() },
        { _ = try store.writeAndWait { try $0.undo() } },
      ]
      for call in calls { #expect(code(call) == .storeSuspended) }
      await expectRefusedWrites(store, .storeSuspended)
      try store.resume()
      try store.resume()
      try await store.write { _ = try $0.add("after", to: .inbox) }
      #expect(try store.read { try $0.view(.inbox).tasks.map(\.title) } == ["before", "after"])
    }
  }

  @Test func aSuspendedStoreHasNothingOpenAndLetsOthersReplaceItsFile() throws {
    try withStore { store in
      try store.writeAndWait { transaction in for number in 0..<50 { _ = try transaction.add("\(number)", to: .inbox) }
      }
      try store.backup(to: store.directory.removingLastComponent().appending("backup"))
      #expect(!(try openNames(under: store.directory)).isEmpty)
      #expect(try HelperProcess("compact", store.directory, 20).lines() == ["storeBusy"])
      try store.suspend()
      #expect(try openNames(under: store.directory).isEmpty)
      #expect(try HelperProcess("compact", store.directory, 20).lines() == ["none"])
      #expect(try HelperProcess("restore", store.directory, 20).lines() == ["none"])
      #expect(try HelperProcess("add", store.directory, 3).lines() == ["done"])
      try store.resume()
      #expect(try store.read { try $0.taskCount } == 53)
      #expect(try HelperProcess("compact", store.directory, 20).lines() == ["storeBusy"])
    }
  }

  @Test func thePendingGroupCommitFinishesFirstAndLaterWritesLearnTheOutcome() async throws {
    try await withStore { store in
      let (gate, writes) = await QueueGate.holding(300, writesOf: store)
      let suspending = startThread { try store.suspend(waitingAtMost: .seconds(60)) }
      await waitUntil { store.commits.isEnding }
      let late = Task { try await store.write { _ = try $0.add("late", to: .inbox) } }
      await waitUntil { store.commits.lateCount == 1 }
      await gate.open()
      try await suspending.value
      for write in writes { _ = try await write.value }
      let error = await #expect(throws: TallyError.self) { try await late.value }
      #expect(error?.code == .storeSuspended)
      try store.resume()
      #expect(try store.read { try $0.taskCount } == writes.count)
    }
  }

  @Test func aSuspensionThatTakesTooLongLeavesTheStoreOpen() async throws {
    try await withStore { store in
      // The queue is busy, and a write arrives meanwhile.
      let gate = await QueueGate(store)
      let suspending = startThread { code { try store.suspend(waitingAtMost: .milliseconds(300)) } }
      await waitUntil { store.commits.isEnding }
      let late = Task { try await store.write { try $0.add("late", to: .inbox) } }
      #expect(try await suspending.value == .storeBusy)
      await gate.open()
      _ = try await late.value
      // A reader is inside.
      let reading = await HeldRead(store)
      #expect(code { try store.suspend(waitingAtMost: .milliseconds(5)) } == .storeBusy)
      #expect(code { try store.close(waitingAtMost: .milliseconds(5)) } == .storeBusy)
      try await store.write { _ = try $0.add("goes on", to: .inbox) }
      #expect(try await reading.end() == 1)
      #expect(try store.read { try $0.taskCount } == 2)
    }
  }

  @Test func aWriteThatCameWhileASuspensionFailedIsCommittedThen() async throws {
    try await withStore { store in
      let reading = await HeldRead(store)
      let suspending = startThread { code { try store.suspend(waitingAtMost: .milliseconds(500)) } }
      await waitUntil { store.commits.isEnding }
      let late = Task { try await store.write { try $0.add("late", to: .inbox) } }
      #expect(try await suspending.value == .storeBusy)
      // No other write comes and starts the thread.
      _ = try await late.value
      try await reading.end()
    }
  }

  @Test func aCopyThatBeginsWhileASuspensionWaitsForAnotherWaitsToo() async throws {
    try await withStore { store in
      let directory = store.directory.removingLastComponent()
      let (isCopied, mayEnd, hasBegun) = (Signal(), Signal(), Shared(false))
      let copying = startThread {
        try store.backup(to: directory.appending("first")) { _ in
          isCopied.send()
          mayEnd.waitOnThread()
        }
      }
      await isCopied.wait()
      let suspending = startThread { try store.suspend(waitingAtMost: .seconds(60)) }
      await waitUntil { store.connection.waiterCount == 1 }
      let late = startThread {
        code { _ = try store.backup(to: directory.appending("second")) { _ in hasBegun.withLock { $0 = true } } }
      }
      await waitUntil { store.connection.waiterCount == 2 || hasBegun.withLock { $0 } }
      mayEnd.send()
      _ = try await copying.value
      try await suspending.value
      #expect(try await late.value == .storeSuspended)
      try store.resume()
    }
  }

  @Test func aCopyInTheMakingIsWaitedForAsItHoldsALockOfItsOwn() async throws {
    try await withStore { store in
      let directory = store.directory.removingLastComponent()
      let (isCopied, mayEnd) = (Signal(), Signal())
      let copying = startThread {
        try store.backup(to: directory.appending("backup")) { _ in
          isCopied.send()
          mayEnd.waitOnThread()
        }
      }
      await isCopied.wait()
      #expect(code { try store.suspend(waitingAtMost: .milliseconds(5)) } == .storeBusy)
      let suspending = startThread { try store.suspend(waitingAtMost: .seconds(60)) }
      mayEnd.send()
      _ = try await copying.value
      try await suspending.value
      #expect(try names(in: directory) == ["backup", "store"])
      #expect(try openNames(under: directory).isEmpty)
      try store.resume()
    }
  }

  @Test func suspendingInsideATransactionIsRefusedInsteadOfHanging() async throws {
    try await withStore { (store) async throws in
      #expect(try store.read { _ in code { try store.suspend() } } == .storeBusy)
      #expect(try await store.write { _ in code { try store.suspend() } } == .storeBusy)
      #expect(try store.read { _ in code { try store.close(waitingAtMost: .seconds(60)) } } == .storeBusy)
      #expect(try store.read { try $0.taskCount } == 0)
    }
  }

  @Test func aStoreThatWentAwayMeanwhileIsNotMadeAnew() throws {
    try withTemporaryDirectory { directory in
      let (path, elsewhere) = (directory.appending("store"), directory.appending("elsewhere"))
      let store = try TaskStore(at: path, configuration: .testing())
      try store.writeAndWait { _ = try $0.add("kept", to: .inbox) }
      try store.suspend()
      try FileManager.default.moveItem(atPath: path.string, toPath: elsewhere.string)
      #expect(code { try store.resume() } == .storeMissing)
      #expect(code { _ = try store.read { try $0.taskCount } } == .storeSuspended)
      #expect(try names(in: directory) == ["elsewhere"])
      try FileManager.default.moveItem(atPath: elsewhere.string, toPath: path.string)
      try store.resume()
      #expect(try store.read { try $0.taskCount } == 1)
      try store.close()
    }
  }

  @Test func aSuspendedStoreCanBeClosedAndStaysClosed() throws {
    try withTemporaryDirectory { directory in
      let store = try TaskStore(at: directory.appending("store"), configuration: .testing())
      try store.suspend()
      try store.close()
      #expect(code { _ = try store.read { try $0.taskCount } } == .storeClosed)
      #expect(code { try store.resume() } == .storeClosed)
      #expect(code { try store.suspend() } == .storeClosed)
      try store.close(waitingAtMost: .zero)
    }
  }
}
