import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallySystem
import TallyTestSupport
import Testing

@testable import Tally

/// Other processes in the middle of a write, and children of a fork.
@Suite struct OtherProcessTests {
  /// The bug: a process that had opened the lock's file before its holder removed it held a lock that excluded no one.
  @Test func whoeverWaitsForALockThatIsRemovedWaitsForTheNewOne() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try reopen(path)
      let file = path.appending(StoreAccess.fileName)
      let (first, pauseCount) = (try FileLock(opening: file), Shared(0))
      let second = Shared<FileLock?>(nil)
      #expect(try first.tryAcquire(.exclusive))
      var configuration = TaskStore.Configuration.testing()
      configuration.pause = { _ in
        #expect(throws: Never.self) {
          let number = pauseCount.withLock { count in
            count += 1
            return count
          }
          guard number == 1 else { return second.withLock { $0?.release() } }
          try SystemCalls.removeFile(file)
          first.release()
          let lock = try FileLock(opening: file)
          #expect(try lock.tryAcquire(.exclusive))
          second.withLock { $0 = lock }
        }
      }
      try withStore(at: path, configuration) { _ in }
      #expect(pauseCount.withLock { $0 } == 2)
    }
  }

  @Test func aWriteThatLastsTooLongElsewhereMakesTheStoreBusyAndNothingElse() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory.appending("store")
      var configuration = TaskStore.Configuration.testing()
      configuration.waitLimitInSeconds = 0.02
      let store = try TaskStore(at: path, configuration: configuration)
      let holder = try HelperProcess("hold-write", path)
      #expect(holder.line() == "ready")
      let error = #expect(throws: TallyError.self) { try store.add("refused") }
      #expect(error?.code == .storeBusy)
      #expect(error?.remedy.contains("stopped") == true)
      let later = await #expect(throws: TallyError.self) { try await store.write { _ = try $0.add("x", to: .inbox) } }
      #expect(later?.code == .storeBusy)
      #expect(try store.read { try $0.taskCount } == 0)
      holder.release()
      #expect(holder.lines() == [])
      try store.add("goes on")
      #expect(try store.read { try $0.view(.inbox).tasks.map(\.title) } == ["held", "goes on"])
      try checkInvariants(of: store)
      try store.close()
    }
  }

  /// The slot of a killed process would keep pages from being used again for as long as the store is in use.
  @Test func readersOfKilledProcessesAreClearedAtOpening() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try reopen(path)
      let store = try TaskStore(at: path, configuration: .testing())
      let holder = try HelperProcess("hold", path)
      #expect(holder.line() == "ready")
      holder.kill()
      #expect(try store.environment.readers().contains { $0.processID != getpid() })
      // While another process has it open the table of readers lives on; a second store of this one may not be opened.
      let opener = try HelperProcess("add", path, 1)
      #expect(opener.lines() == ["done"])
      #expect(try store.environment.readers().allSatisfy { $0.processID == getpid() })
      try store.close()
    }
  }

  @Test func theChildOfAForkIsRefusedAndTheParentGoesOn() throws {
    try withTemporaryDirectory { directory in
      let parent = try HelperProcess("fork", directory.appending("store"))
      #expect(parent.line() == "child: storeClosed storeClosed storeClosed storeClosed storeClosed")
      #expect((0..<3).map { _ in parent.line() } == ["child opens: none", "child ended: 0", "ready"])
      // The parent's lock must still be there, or another process could replace the file.
      #expect(try HelperProcess("compact", directory.appending("store"), 0).lines() == ["storeBusy"])
      parent.release()
      #expect(parent.lines() == ["parent wrote: none", "parent closed: none"])
      let store = try TaskStore(at: directory.appending("store"), configuration: .testing())
      #expect(try store.read { try $0.view(.inbox).tasks.map(\.title) } == ["before", "after"])
      try checkInvariants(of: store)
      try store.close()
    }
  }
}

extension TaskStore {
  /// Adds a task to the inbox, where the asynchronous form would be chosen.
  fileprivate func add(_ title: String) throws {
    try writeAndWait { _ = try $0.add(title, to: .inbox) }
  }
}
