import Foundation
import LMDB
import Synchronization
import SystemPackage
import TallyEngine
import TallySystem
import TallyTestSupport
import Testing

@testable import Tally

/// Clocks that go backwards, and time that passes while waiting.
@Suite struct ClockTests {
  private let clock = TestClock.noon

  private func goBack() { clock.now = clock.now.adding(seconds: -3_600) }

  @Test func timesOfChangeAndIdsNeverGoBack() throws {
    let start = clock.now
    try withStore(.testing(clock: clock)) { (store) throws in
      let (task, list) = try store.writeAndWait { transaction in
        (try transaction.add("one", to: .inbox), try transaction.addList(name: "Home"))
      }
      goBack()
      let (changed, renamed, next) = try store.writeAndWait { transaction in
        (
          try transaction.update(task.id) { $0.title = "two" }, try transaction.renameList(list.id, to: "House"),
          try transaction.add("three", to: .inbox)
        )
      }
      #expect(changed.title == "two" && changed.updatedAt == start)
      #expect(renamed.name == "House" && renamed.updatedAt == start)
      #expect(next.createdAt == clock.now && next.id.uuidString > task.id.uuidString)
      try store.writeAndWait { _ = try $0.undo() }
      let restored = try store.read { try $0.task(task.id) }
      #expect(restored?.title == "one" && restored?.updatedAt == start)
    }
  }

  @Test func wholeSecondStampsKeepTheOrderOfChanges() throws {
    let second = clock.now
    clock.now = second.adding(microseconds: 700_000)
    var configuration = TaskStore.Configuration.testing(clock: clock)
    configuration.stampsWholeSeconds = true
    try withStore(configuration) { (store) throws in
      let task = try store.writeAndWait { try $0.add("one") }
      #expect(task.createdAt == second && task.updatedAt == second)
      let changed = try store.writeAndWait { try $0.complete(task.id) }
      #expect(changed.completedAt?.instant == second)
      #expect(changed.updatedAt == clock.now, "the change is newer than the creation, in the same second")
      clock.now = second.adding(microseconds: 1_200_000)
      let reopened = try store.writeAndWait { try $0.reopen(task.id) }
      #expect(reopened.updatedAt == second.adding(seconds: 1))
    }
  }

  @Test func aCompletionIsNotBeforeACreationInItsSecond() throws {
    clock.now = clock.now.adding(microseconds: 700_000)
    let (now, created) = (clock.now, clock.now.adding(microseconds: -100_000))
    var configuration = TaskStore.Configuration.testing(clock: clock)
    configuration.stampsWholeSeconds = true
    try withStore(configuration) { (store) throws in
      // Of a program that stores the fraction.
      let task = try store.writeAndWait { transaction in try transaction.add("one") { $0.createdAt = created } }
      let done = try store.writeAndWait { try $0.complete(task.id) }
      #expect(done.completedAt?.instant == now)
    }
  }

  @Test func theBeginningOfASecondIsNotAfterIt() {
    for (microseconds, expected) in [(-1, -1_000_000), (-1_000_000, -1_000_000), (0, 0), (1_999_999, 1_000_000)] {
      #expect(Timestamp(clamping: Int64(microseconds)).wholeSecond == Timestamp(clamping: Int64(expected)))
    }
  }

  @Test func anUndatedImportNeverGoesBack() throws {
    let start = clock.now
    try withTemporaryDirectory { directory in
      try withStore(.testing(clock: clock)) { (store) throws in
        let task = try store.writeAndWait { try $0.add("one", to: .inbox) }
        goBack()
        let file = directory.appending("tasks.ndjson")
        try Data("{\"id\":\"\(task.id.uuidString)\",\"text\":\"two\"}\n".utf8).write(
          to: URL(fileURLWithPath: file.string))
        try store.importDocument(from: file, format: .ndjson)
        let imported = try store.read { try $0.task(task.id) }
        #expect(imported?.title == "two" && imported?.updatedAt == start)
      }
    }
  }

  /// The bug: attempts were counted, so that on a busy machine, where each takes longer, the limit did too.
  @Test func waitingForTheStoreCountsTimeAndNotAttempts() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try TaskStore(at: path, configuration: .testing()).close()
      let holder = try StoreAccess(.exclusive, to: path, configuration: TaskStore.Configuration.testing().store)
      let waiting = Waiting()
      var configuration = TaskStore.Configuration.testing()
      configuration.waitLimitInSeconds = 3
      configuration.makesLog = false
      configuration.instant = { waiting.now.withLock { $0 } }
      configuration.pause = { _ in
        waiting.pauseCount.withLock { $0 += 1 }
        waiting.now.withLock { $0 += .seconds(1) }
      }
      let error = #expect(throws: TallyError.self) { try TaskStore(at: path, configuration: configuration) }
      #expect(error?.code == .storeBusy)
      #expect(waiting.pauseCount.withLock { $0 } == 3)
      holder.end()
      try TaskStore(at: path, configuration: configuration).close()
    }
  }
}

/// The time that has passed while waiting.
private final class Waiting: Sendable {
  let now = Mutex(ContinuousClock.now)
  let pauseCount = Mutex(0)
}
