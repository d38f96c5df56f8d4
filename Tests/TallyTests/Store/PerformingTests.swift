import Foundation
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// Blocking calls from asynchronous code.
@Suite struct PerformingTests {
  @Test func blockingCallsRunOnThreadsOfTheirOwn() async throws {
    try await withStore { store in
      try await store.write { _ = try $0.add("x", to: .inbox) }
      // More calls that block than Swift's tasks have threads: on those, none would ever begin.
      let count = 4 * ProcessInfo.processInfo.activeProcessorCount + 8
      let gate = Gate(count)
      try await withThrowingTaskGroup { group in
        for _ in 0..<count {
          group.addTask { try await TaskStore.perform { gate.enterAndWaitForAll() } }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test func everyBlockingCallCanBeAwaited() async throws {
    try await withTemporaryDirectory { directory in
      let store = try TaskStore(at: directory.appending("store"), configuration: .testing())
      try await store.write { _ = try $0.add("x", to: .inbox) }
      let file = directory.appending("export.json")
      #expect(try await TaskStore.perform { try store.export(to: file) }.taskCount == 1)
      #expect(try await TaskStore.perform { try store.importDocument(from: file) }.tasks.unchanged == 1)
      #expect(try await TaskStore.perform { try store.verify() }.isSound)
      try await TaskStore.perform { try store.backup(to: directory.appending("backup")) }
      try await TaskStore.perform { try store.close(waitingAtMost: .seconds(5)) }
      _ = try await TaskStore.perform { try TaskStore.compact(at: directory.appending("store")) }
    }
  }

  @Test func cancellingTheTaskEndsACallThatReportsProgress() async throws {
    try await withStore { store in
      try await store.write { _ = try $0.add("x", to: .inbox) }
      let export = Task {
        try await TaskStore.perform {
          // The task is only used inside the closure.
          unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
          return try store.export(to: store.directory.removingLastComponent().appending("export.json"))
        }
      }
      await #expect(throws: TallyError.self) { try await export.value }
    }
  }
}

/// Lets nobody go on before all are there.
private final class Gate: Sendable {
  private let condition = NSCondition()
  private let missing: Shared<Int>

  init(_ count: Int) {
    missing = Shared(count)
  }

  func enterAndWaitForAll() {
    condition.withLock {
      let isLast = missing.withLock { count in
        count -= 1
        return count == 0
      }
      if isLast { condition.broadcast() }
      while missing.withLock({ $0 }) > 0 { condition.wait() }
    }
  }
}
