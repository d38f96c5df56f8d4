import LMDB
import SystemPackage
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// Threads that end, resume and reopen one store at the same time.
@Suite struct LifecycleRaceTests {
  /// The bug: the suspending thread found the failed environment closed, and returned while another thread opened the files.
  @Test func aSuspensionWaitsForFilesThatAreBeingOpenedAgain() async throws {
    let (isOpening, mayOpen) = (Signal(), Signal())
    var configuration = TaskStore.Configuration.testing()
    configuration.logger = .ofTest { line in
      // Called in the middle of opening.
      guard line.contains("cleared reader slots") else { return }
      isOpening.send()
      mayOpen.waitOnThread()
    }
    try await withStore(configuration) { store in
      // The live one keeps the table of readers from being created again, and the dead one's slot in it.
      let (staying, dying) = try (HelperProcess("hold", store.directory), HelperProcess("hold", store.directory))
      for process in [staying, dying] { #expect(process.line() == "ready") }
      dying.kill()
      try store.fail()
      let reading = startThread { try store.read { try $0.taskCount } }
      await isOpening.wait()
      #expect(code { try store.suspend(waitingAtMost: .milliseconds(5)) } == .storeBusy)
      mayOpen.send()
      #expect(try await reading.value == 0)
      try store.suspend(waitingAtMost: .seconds(60))
      #expect(try openNames(under: store.directory).isEmpty)
      staying.release()
      #expect(staying.lines().isEmpty)
      try store.resume()
    }
  }

  /// The bug: the second one waited for the first, regardless of its own limit.
  @Test func aLimitHoldsAlsoWhileAnotherThreadSuspends() async throws {
    try await withStore { store in
      let reading = await HeldRead(store)
      let suspending = startThread { try store.suspend(waitingAtMost: .seconds(60)) }
      await waitUntil { store.commits.isEnding }
      #expect(code { try store.suspend(waitingAtMost: .milliseconds(5)) } == .storeBusy)
      #expect(code { try store.close(waitingAtMost: .milliseconds(5)) } == .storeBusy)
      // The first one continues to wait, undisturbed.
      #expect(store.commits.isEnding)
      try await reading.end()
      try await suspending.value
      #expect(code { _ = try store.read { try $0.taskCount } } == .storeSuspended)
      try store.resume()
    }
  }

  /// The bug: it waited for the thread that was opening the files again, which waited for the outer read.
  @Test func aReadInsideAReadIsRefusedAtOnceWhereTheFilesMustBeOpenedAgain() async throws {
    try await withStore { store in
      let inner = Shared<TallyError.Code?>(nil)
      let outer = await HeldRead(store) {
        let found = code { _ = try store.read { try $0.taskCount } }
        inner.withLock { $0 = found }
      }
      try store.fail()
      let other = startThread { try store.read { try $0.taskCount } }
      try await store.waitUntilDraining()
      #expect(try await outer.end() == 0)
      #expect(inner.withLock { $0 } == .storeBusy)
      // It would have given up before the inner read did.
      #expect(try await other.value == 0)
    }
  }

  /// The bug: a call that failed meanwhile reported that the store is suspended, though it was not.
  @Test func whatFailsDuringASuspensionThatIsGivenUpIsNotToldThatItHappened() async throws {
    try await withStore { store in
      let reading = await HeldRead(store)
      let suspending = startThread { code { try store.suspend(waitingAtMost: .milliseconds(500)) } }
      try await store.waitUntilDraining()
      try store.fail()
      let late = startThread { try store.read { try $0.taskCount } }
      #expect(try await suspending.value == .storeBusy)
      try await reading.end()
      #expect(try await late.value == 0)
    }
  }

  /// The bug: it waited for the closing, which waited for the write.
  @Test func resumingInsideAWriteDoesNotWaitForWhoeverWaitsForTheWrite() async throws {
    try await withTemporaryDirectory { directory in
      let store = try TaskStore(at: directory.appending("store"), configuration: .testing())
      let (hasBegun, mayResume) = (Signal(), Signal())
      let writing = startThread {
        try store.writeAndWait { transaction in
          hasBegun.send()
          mayResume.waitOnThread()
          try store.resume()
          _ = try transaction.add("written", to: .inbox)
        }
      }
      await hasBegun.wait()
      let closing = startThread { try store.close(waitingAtMost: .seconds(60)) }
      await waitUntil { store.commits.isEnding }
      mayResume.send()
      try await writing.value
      try await closing.value
      #expect(try taskCount(at: directory.appending("store")) == 1)
    }
  }

  /// The bug: it checked whether the store is closed before the other thread had closed it.
  @Test func aSuspensionThatWaitsForAClosingIsRefused() async throws {
    try await withTemporaryDirectory { directory in
      let store = try TaskStore(at: directory.appending("store"), configuration: .testing())
      let reading = await HeldRead(store)
      let closing = startThread { try store.close(waitingAtMost: .seconds(60)) }
      await waitUntil { store.commits.isEnding }
      let suspending = startThread { code { try store.suspend(waitingAtMost: .seconds(60)) } }
      // Time to start waiting; a later call is refused as well.
      try await Task.sleep(for: .milliseconds(100))
      try await reading.end()
      try await closing.value
      #expect(try await suspending.value == .storeClosed)
      await expectRefusedWrites(store, .storeClosed)
    }
  }
}
