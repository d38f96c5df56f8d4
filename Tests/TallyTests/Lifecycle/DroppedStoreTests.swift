import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallySystem
import TallyTestSupport
import Testing

@testable import Tally

/// Stores that are dropped, suspended or copied while others still use them.
@Suite struct DroppedStoreTests {
  /// Whoever opens the store, and those who observe it, have threads of their own: other tests block those of the pool.
  @Test(arguments: [1, 8]) func aStoreThatWasDroppedWhileObservationsWindDownOpensAgain(count: Int) async throws {
    try await withTemporaryDirectory { directory in
      let path = directory.appending("store")
      for round in 0..<30 {
        let tasks = try await Self.observe(count) { try Self.open(path, addingTask: round) }
        try await TaskStore.perform {
          for task in tasks { task.cancel() }
          // Nobody has waited for the end of the tasks.
          let store = try TaskStore(at: path, configuration: .testing())
          #expect(try store.read { try $0.taskCount } == round + 1)
          if round.isMultiple(of: 7) { try checkInvariants(of: store) }
          try store.close()
        }
      }
    }
  }

  /// Opens a store, observes it and drops it.
  private static func observe(
    _ count: Int, _ open: @escaping @Sendable () throws -> TaskStore
  ) async throws -> [Task<Void, any Error>] {
    let store = try await TaskStore.perform(open)
    return (0..<count).map { _ in
      Task(executorPreference: ThreadExecutor.shared) {
        for try await update in store.observe(.inbox) {
          if case .snapshot(let view) = update { #expect(!view.tasks.isEmpty) }
        }
        // Whoever opens the store is there first.
        pause(microseconds: 5_000)
      }
    }
  }

  private static func open(_ path: FilePath, addingTask number: Int) throws -> TaskStore {
    let store = try TaskStore(at: path, configuration: .testing())
    try store.writeAndWait { _ = try $0.add("task \(number)", to: .inbox) }
    return store
  }

  @Test func compactingWaitsForADroppedStore() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory.appending("store")
      for round in 0..<5 {
        let tasks = try await Self.observe(4) { try Self.open(path, addingTask: round) }
        try await TaskStore.perform {
          for task in tasks { task.cancel() }
          try TaskStore.compact(at: path, configuration: .testing())
        }
      }
      try withStore(at: path) { (store) throws in #expect(try store.read { try $0.taskCount } == 5) }
    }
  }

  /// The bug: a published file, which has no directory of its own, was not waited for.
  @Test func aSnapshotThatWasDroppedWhileObservationsWindDownOpensAgain() async throws {
    try await withTemporaryDirectory { directory in
      let file = directory.appending("snapshot.mdb")
      try withStore(at: directory.appending("store")) { (store) throws in
        try store.writeAndWait { _ = try $0.add("task", to: .inbox) }
        try store.publishSnapshot(to: file)
      }
      for _ in 0..<10 {
        let tasks = try await Self.observe(4) { try TaskStore(snapshotAt: file, configuration: .testing()) }
        try await TaskStore.perform {
          for task in tasks { task.cancel() }
          let snapshot = try TaskStore(snapshotAt: file, configuration: .testing())
          #expect(try snapshot.read { try $0.taskCount } == 1)
          try snapshot.close()
        }
      }
    }
  }

  @Test func aStoreThatIsOpenIsRefusedUnderEachName() throws {
    try withStore { store in
      let twin = store.directory.removingLastComponent().appending("twin")
      try FileManager.default.createDirectory(atPath: twin.string, withIntermediateDirectories: true)
      for name in try FileManager.default.contentsOfDirectory(atPath: store.directory.string) {
        try SystemCalls.link(store.directory.appending(name), as: twin.appending(name))
      }
      func code(_ body: () throws -> Void) -> TallyError.Code? {
        #expect(throws: TallyError.self) { try body() }?.code
      }
      #expect(code { _ = try TaskStore(at: twin, configuration: .testing()) } == .alreadyOpen)
      #expect(code { try TaskStore.compact(at: twin, configuration: .testing()) } == .alreadyOpen)
      try store.writeAndWait { _ = try $0.add("task", to: .inbox) }
    }
  }

  /// Two stores that shared all files until one of them was compacted must not share a table of readers.
  @Test func aTwinThatIsCompactedIsAStoreOfItsOwn() throws {
    try withTemporaryDirectory { directory in
      let (path, twin) = (directory.appending("store"), directory.appending("twin"))
      let store = try TaskStore(at: path, configuration: .testing())
      for number in 0..<30 { try store.writeAndWait { _ = try $0.add("task \(number)", to: .inbox) } }
      try store.close()
      try FileManager.default.createDirectory(atPath: twin.string, withIntermediateDirectories: true)
      for name in try FileManager.default.contentsOfDirectory(atPath: path.string) {
        try SystemCalls.link(path.appending(name), as: twin.appending(name))
      }
      try TaskStore.compact(at: path, configuration: .testing())
      let (first, second) = (
        try TaskStore(at: path, configuration: .testing()), try TaskStore(at: twin, configuration: .testing())
      )
      for number in 0..<20 {
        try first.writeAndWait { _ = try $0.add("first \(number)", to: .inbox) }
        if number.isMultiple(of: 2) { try second.writeAndWait { _ = try $0.add("second \(number)", to: .inbox) } }
      }
      #expect(try first.read { try $0.taskCount } == 50)
      #expect(try second.read { try $0.taskCount } == 40)
      for store in [first, second] {
        try checkInvariants(of: store)
        try store.close()
      }
    }
  }

  /// Where one of the two data files was replaced, as by copying over it, the lock file is still shared.
  @Test func aTwinWhoseFileWasReplacedGetsItsOwnLocks() throws {
    try withTemporaryDirectory { directory in
      let (path, twin) = (directory.appending("store"), directory.appending("twin"))
      let store = try TaskStore(at: path, configuration: .testing())
      for number in 0..<30 { try store.writeAndWait { _ = try $0.add("task \(number)", to: .inbox) } }
      try store.close()
      try FileManager.default.createDirectory(atPath: twin.string, withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        atPath: path.appending("data.mdb").string, toPath: twin.appending("data.mdb").string)
      for name in ["lock.mdb", "access.lock"] {
        try SystemCalls.link(path.appending(name), as: twin.appending(name))
      }
      let (first, second) = (
        try TaskStore(at: path, configuration: .testing()), try TaskStore(at: twin, configuration: .testing())
      )
      for number in 0..<5 { try first.writeAndWait { _ = try $0.add("first \(number)", to: .inbox) } }
      try second.writeAndWait { _ = try $0.add("second", to: .inbox) }
      #expect(try first.read { try $0.taskCount } == 35)
      #expect(try second.read { try $0.taskCount } == 31)
      for store in [first, second] {
        try checkInvariants(of: store)
        try store.close()
      }
    }
  }

  @Test func aWriterThatRacesASuspensionIsToldSo() async throws {
    try await withTemporaryDirectory { directory in
      let store = try TaskStore(at: directory.appending("store"), configuration: .testing())
      let isDone = Monitor(false)
      try await withThrowingTaskGroup(of: Set<String>.self) { group in
        for kind in 0..<6 {
          group.addTask {
            var wrong: Set<String> = []
            while !isDone.withLock({ $0 }) {
              do {
                switch kind % 3 {
                case 0: _ = try await store.write { try $0.add("task", to: .inbox) }
                case 1: try Self.write(to: store)
                default: _ = try store.read { try $0.taskCount }
                }
              } catch let error as TallyError where error.code == .storeSuspended {
                await Task.yield()
              } catch {
                wrong.insert("\(error)")
              }
            }
            return wrong
          }
        }
        for _ in 0..<60 {
          do {
            try store.suspend(waitingAtMost: .seconds(30))
          } catch {
            Issue.record("suspend: \(error)")
          }
          try store.resume()
        }
        isDone.withLock { $0 = true }
        for try await wrong in group { #expect(wrong == []) }
      }
      try checkInvariants(of: store)
      try store.close()
    }
  }

  private static func write(to store: TaskStore) throws {
    try store.writeAndWait { _ = try $0.add("task", to: .inbox) }
  }

}

/// Whether one that waits for a lock shows it to the others.
private var marksWaiting: Bool {
  #if os(Linux)
    true
  #else
    false
  #endif
}

/// Who wants a store alone, beside those who open it.
@Suite(.enabled(if: marksWaiting)) struct StoreAccessTests {
  private static var patient: TaskStore.Configuration {
    var configuration = TaskStore.Configuration.testing()
    configuration.waitLimitInSeconds = 60
    return configuration
  }

  /// Where many open and close a store, one that wants it alone would find it open at each of its looks.
  @Test func whoWantsAStoreAloneGetsItBesideManyWhoOpenIt() async throws {
    try await withTemporaryDirectory { directory in
      let (isDone, openers) = (Shared(false), Shared<Set<Int>>([]))
      let threads = (0..<8).map { number in
        startThread {
          while !isDone.withLock({ $0 }) {
            let access = try StoreAccess(.shared, to: directory, configuration: Self.patient.store)
            _ = openers.withLock { $0.insert(number) }
            Thread.sleep(forTimeInterval: 0.003)
            access.end()
          }
        }
      }
      await waitUntil { openers.withLock { $0.count } == threads.count }
      let alone = startThread {
        for _ in 0..<3 { try StoreAccess(.exclusive, to: directory, configuration: Self.patient.store).end() }
      }
      let result = await alone.result
      isDone.withLock { $0 = true }
      for thread in threads { try await thread.value }
      try result.get()
    }
  }

  @Test func whoComesLaterLetsOneGoFirstThatWantsTheStoreAlone() async throws {
    try await withTemporaryDirectory { directory in
      let holder = try StoreAccess(.shared, to: directory, configuration: Self.patient.store)
      let (order, hasWaited) = (Shared<[String]>([]), Signal())
      let alone = try await Self.waitAlone(directory) { order.withLock { $0.append("alone") } }
      // Time stands still for this one.
      var configuration = Self.patient
      let now = ContinuousClock.now
      configuration.instant = { now }
      configuration.pause = { [pause = configuration.pause] in
        hasWaited.send()
        pause($0)
      }
      let later = startThread { [configuration] in
        let access = try StoreAccess(.shared, to: directory, configuration: configuration.store)
        order.withLock { $0.append("later") }
        hasWaited.send()
        access.end()
      }
      await hasWaited.wait()
      holder.end()
      for thread in [alone, later] { try await thread.value }
      #expect(order.withLock { $0 } == ["alone", "later"])
    }
  }

  /// A process that stays must not keep those from the store who can have it beside that.
  @Test func whoComesLaterDoesNotLetOneGoFirstForLong() async throws {
    try await withTemporaryDirectory { directory in
      let holder = try StoreAccess(.shared, to: directory, configuration: Self.patient.store)
      let alone = try await Self.waitAlone(directory) {}
      var configuration = Self.patient
      let (now, pauseCount) = (Shared(ContinuousClock.now), Shared(0))
      configuration.instant = { now.withLock { $0 } }
      configuration.pause = { _ in
        pauseCount.withLock { $0 += 1 }
        now.withLock { $0 += .milliseconds(500) }
      }
      try StoreAccess(.shared, to: directory, configuration: configuration.store).end()
      #expect(pauseCount.withLock { $0 } == 2)
      holder.end()
      try await alone.value
    }
  }

  /// Starts a thread that waits for the store alone, and waits until it waits.
  private static func waitAlone(
    _ directory: FilePath, _ body: @escaping @Sendable () -> Void
  ) async throws -> Task<Void, any Error> {
    let alone = startThread {
      let access = try StoreAccess(.exclusive, to: directory, configuration: patient.store)
      body()
      access.end()
    }
    let lock = try FileLock(opening: directory.appending(StoreAccess.fileName))
    await waitUntil { lock.isAwaitedByOthers }
    return alone
  }
}

/// Programming errors are not called failures of the storage.
@Suite struct ProgrammingErrorTests {
  @Test func errorsOfTheProgramSaySo() throws {
    try withStore { store in
      let reentrant = #expect(throws: TallyError.self) {
        try store.writeAndWait { _ in try store.writeAndWait { _ in } }
      }
      let open = #expect(throws: TallyError.self) {
        var configuration = store.configuration
        configuration.waitLimitInSeconds = 0
        _ = try TaskStore(at: store.directory, configuration: configuration)
      }
      let long = #expect(throws: TallyError.self) {
        try store.writeAndWait { _ in throw LMDBError(.badValueSize, operation: "put") }
      }
      let codes: [LMDBError.Code] = [
        .closed, .forked, .badTransaction, .readOnly, .wrongThread, .badDatabase, .keyExists, .notPositioned,
        .databasesFull, .readersFull, .invalidArgument,
      ]
      let errors =
        [reentrant, open, long].compactMap { $0 } + codes.map { TallyError(LMDBError($0, operation: "test")) }
      #expect(errors.count == codes.count + 3)
      for error in errors {
        #expect(!error.message.contains("The storage failed"), "\(error.message)")
        for text in [error.message, error.remedy] {
          #expect(!text.contains("environment"), "\(text)")
        }
      }
    }
  }

  @Test func aValueThatCannotBeReadKeepsTheDecodersError() throws {
    struct Person: Codable { var name: String }
    try withStore { store in
      try store.writeAndWait { transaction in
        try transaction.setBytes(Array(#"{"name": 7, "secret": "private"}"#.utf8), forKey: "person", in: "test")
      }
      let error = #expect(throws: TallyError.self) {
        try store.read { _ = try $0.value(Person.self, forKey: "person", in: "test") }
      }
      #expect(error?.code == .invalidValue)
      let cause = try #require(error?.cause as? DecodingError)
      #expect("\(cause)".contains("name") && !"\(cause)".contains("private"))
    }
  }
}
