import Foundation
import LMDB
import TallyTestSupport
import Testing

@testable import Tally

/// Asynchronous writes share commits, keep their order and fail alone.
@Suite struct AsynchronousWriteTests {
  private struct Regret: Error, Equatable {
    let number: Int
  }

  @Test func concurrentWritesAreAllAppliedInFewerCommits() async throws {
    try await withStore { store in
      let before = try store.read { try $0.sequence }
      try await withThrowingTaskGroup(of: TaskItem.self) { group in
        for number in 0..<1_000 {
          group.addTask { try await store.write { try $0.add("task \(number)", to: .inbox) } }
        }
        for try await task in group {
          #expect(try store.read { try $0.task(task.id) } == task, "there when the call has returned")
        }
      }
      let titles = try store.read { try $0.view(.inbox).tasks.map(\.title) }
      #expect(Set(titles) == Set((0..<1_000).map { "task \($0)" }))
      #expect(titles.count == 1_000)
      let commits = try store.read { try $0.sequence } - before
      #expect(commits < 1_000, "\(commits) commits")
    }
  }

  #if os(Linux)
    /// The bug: the name was given from outside, which Linux ignores, so that a debugger showed that of the program.
    @Test func theSystemKnowsTheThreadOfCommitsByItsName() async throws {
      try await withStore { store in
        let name = try await store.write { _ in
          try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        }
        #expect(name == "tally.commits\n")
      }
    }
  #endif

  @Test func oneCommitServesAllThatWait() async throws {
    try await withStore { store in
      let gate = await QueueGate(store)
      let before = try store.read { try $0.sequence }
      let writes = (0..<200).map { number in Task { try await store.write { try $0.add("\(number)", to: .inbox) } } }
      await gate.open(whenWaiting: writes.count)
      for write in writes { _ = try await write.value }
      #expect(try store.read { try $0.sequence } == before + 1)
    }
  }

  @Test func writesTakeEffectInTheOrderOfTheCalls() async throws {
    try await withStore { store in
      let gate = await QueueGate(store)
      var writes: [Task<TaskItem, any Error>] = []
      for number in 0..<600 {
        writes.append(Task { try await store.write { try $0.add("\(number)", to: .inbox) } })
        await gate.waitUntilWaiting(writes.count)
      }
      await gate.open()
      for write in writes { _ = try await write.value }
      #expect(try store.read { try $0.view(.inbox).tasks.map(\.title) } == (0..<600).map { "\($0)" })
    }
  }

  @Test func aFailingClosureTakesBackOnlyItself() async throws {
    try await withStore { store in
      let gate = await QueueGate(store)
      let writes = (0..<60).map { number in
        Task {
          try await store.write { transaction in
            _ = try transaction.add("\(number)", to: .inbox)
            if number.isMultiple(of: 3) { throw Regret(number: number) }
          }
        }
      }
      await gate.open(whenWaiting: writes.count)
      for (number, write) in writes.enumerated() {
        switch await write.result {
        case .success: #expect(!number.isMultiple(of: 3))
        case .failure(let error): #expect(error as? Regret == Regret(number: number), "its own error and no other")
        }
      }
      let titles = try store.read { try $0.view(.inbox).tasks.map(\.title) }
      #expect(Set(titles) == Set((0..<60).filter { !$0.isMultiple(of: 3) }.map { "\($0)" }))
    }
  }

  @Test(arguments: [true, false])
  func companyRunsAgainOnlyWhereAFailureHasChangedSomething(changesFirst: Bool) async throws {
    try await withStore { store in
      let gate = await QueueGate(store)
      let runCount = Shared(0)
      let others = (0..<20).map { number in
        Task {
          try await store.write { transaction in
            runCount.withLock { $0 += 1 }
            return try transaction.add("\(number)", to: .inbox)
          }
        }
      }
      let failing = Task {
        try await store.write { transaction in
          if changesFirst { _ = try transaction.add("regretted", to: .inbox) }
          throw Regret(number: 1)
        }
      }
      await gate.open(whenWaiting: 21)
      for write in others { _ = try await write.value }
      await #expect(throws: Regret(number: 1)) { try await failing.value }
      // The scheduler decides the number of writes before the failing one.
      #expect(runCount.withLock { $0 } == 20 || changesFirst)
      #expect(runCount.withLock { $0 } >= 20)
      #expect(try store.read { try $0.taskCount } == 20)
      // Each has its own entry in the undo log: undoing the last removes one task.
      _ = try await store.undo()
      #expect(try store.read { try $0.taskCount } == 19)
    }
  }

  /// The bug: a closure that hit an error of the storage threw that of the binding if it shared its commit.
  @Test(arguments: [1, 2])
  func errorsOfTheStorageAreOnesOfTallyAloneAndInCompany(count: Int) async throws {
    try await withStore { store in
      let gate = await QueueGate(store)
      let writes = (0..<count).map { _ in
        Task { try await store.write { _ in throw LMDBError(.badValueSize, operation: "test") } }
      }
      await gate.open(whenWaiting: count)
      for write in writes {
        let error = await #expect(throws: TallyError.self) { try await write.value }
        #expect(error?.code == .valueOutOfRange)
      }
    }
  }

  @Test func aWriteCancelledBeforeItsTurnChangesNothing() async throws {
    try await withStore { store in
      let gate = await QueueGate(store)
      let hasRun = Shared(false)
      let cancelled = Task {
        try await store.write { transaction in
          hasRun.withLock { $0 = true }
          _ = try transaction.add("cancelled", to: .inbox)
        }
      }
      let other = Task { try await store.write { try $0.add("other", to: .inbox) } }
      await gate.waitUntilWaiting(2)
      cancelled.cancel()
      await #expect(throws: CancellationError.self, "answered at once, not when its turn comes") {
        try await cancelled.value
      }
      await gate.open()
      _ = try await other.value
      #expect(!hasRun.withLock { $0 })
      #expect(try store.read { try $0.view(.all).tasks.map(\.title) } == ["other"])
    }
  }

  @Test func aWriteCancelledBeforeTheCallChangesNothing() async throws {
    try await withStore { (store) async throws in
      let write = Task {
        // The handle does not leave the closure.
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        try await store.write { _ = try $0.add("cancelled", to: .inbox) }
      }
      await #expect(throws: CancellationError.self) { try await write.value }
      #expect(try store.read { try $0.taskCount } == 0)
    }
  }

  @Test func cancellingAWriteThatHasBegunHasNoEffect() async throws {
    try await withStore { (store) async throws in
      let (hasBegun, mayEnd) = (Signal(), Signal())
      let write = Task.detached {
        try await store.write { transaction in
          hasBegun.send()
          mayEnd.waitOnThread()
          return try transaction.add("begun", to: .inbox)
        }
      }
      await hasBegun.wait()
      write.cancel()
      mayEnd.send()
      #expect(try await write.value.title == "begun")
      #expect(try store.read { try $0.taskCount } == 1)
    }
  }
}
