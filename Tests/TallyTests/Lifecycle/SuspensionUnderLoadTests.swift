import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallySystem
import TallyTestSupport
import Testing

@testable import Tally

/// A store is suspended and resumed while eight threads and eight Swift tasks read and write.
@Suite struct SuspensionUnderLoadTests {
  private static let suspensionCount = 20

  /// The results of the writers.
  private struct Outcome: Sendable {
    var acknowledged: Set<String> = []
    var refused: Set<String> = []
    var suspendedReadCount = 0
    var unexpected: [String] = []
  }

  @Test func eachWriteIsDoneOrRefusedAndNothingIsHeldBetween() async throws {
    try await withStore { store in
      let (outcome, isDone) = (Shared(Outcome()), Shared(false))
      let threads = (0..<4).map { number in startThread { Self.write(store, "t\(number)", outcome, isDone) } }
      let readers = (0..<4).map { _ in startThread { Self.read(store, outcome, isDone) } }
      let tasks = (0..<8).map { number in Task { await Self.writeWaiting(store, "a\(number)", outcome, isDone) } }
      try await Self.suspendAgainAndAgain(store, outcome)
      isDone.withLock { $0 = true }
      for thread in threads + readers { try await thread.value }
      for task in tasks { await task.value }
      let outcomes = outcome.withLock { $0 }
      let titles = Set(try store.read { try $0.view(.inbox).tasks.map(\.title) })
      #expect(outcomes.unexpected.isEmpty, "\(outcomes.unexpected.prefix(3))")
      #expect(titles == outcomes.acknowledged)
      #expect(titles.isDisjoint(with: outcomes.refused))
      #expect(!outcomes.refused.isEmpty && outcomes.suspendedReadCount > 0)
    }
  }

  private static func suspendAgainAndAgain(_ store: TaskStore, _ outcome: Shared<Outcome>) async throws {
    var seenCount = 0
    for _ in 0..<suspensionCount {
      // There has been work since the last time.
      await waitUntil { [seenCount] in outcome.withLock { $0.acknowledged.count } > seenCount }
      try await startThread { try store.suspend(waitingAtMost: .seconds(60)) }.value
      seenCount = outcome.withLock { $0.acknowledged.count }
      let lock = try FileLock(opening: store.directory.appending(StoreAccess.fileName))
      #expect(try lock.tryAcquire(.exclusive))
      #expect(try HelperProcess("compact", store.directory, 0).lines() == ["storeBusy"])
      lock.release()
      #expect(try HelperProcess("compact", store.directory, 1_000).lines() == ["none"])
      try store.resume()
    }
  }

  private static func write(
    _ store: TaskStore, _ name: String, _ outcome: Shared<Outcome>, _ isDone: Shared<Bool>
  ) {
    var number = 0
    while !isDone.withLock({ $0 }) {
      let title = "\(name)-\(number)"
      note(Result { try store.writeAndWait { _ = try $0.add(title, to: .inbox) } }, title, outcome)
      number += 1
      usleep(1_000)
    }
  }

  private static func writeWaiting(
    _ store: TaskStore, _ name: String, _ outcome: Shared<Outcome>, _ isDone: Shared<Bool>
  ) async {
    var number = 0
    while !isDone.withLock({ $0 }) {
      let title = "\(name)-\(number)"
      do {
        try await store.write { _ = try $0.add(title, to: .inbox) }
        note(.success(()), title, outcome)
      } catch {
        note(.failure(error), title, outcome)
      }
      number += 1
      try? await Task.sleep(for: .milliseconds(1))
    }
  }

  private static func note(_ result: Result<Void, any Error>, _ title: String, _ outcome: Shared<Outcome>) {
    outcome.withLock { outcome in
      switch result {
      case .success: outcome.acknowledged.insert(title)
      case .failure(let error as TallyError) where error.code == .storeSuspended: outcome.refused.insert(title)
      case .failure(let error): outcome.unexpected.append("\(error)")
      }
    }
  }

  private static func read(_ store: TaskStore, _ outcome: Shared<Outcome>, _ isDone: Shared<Bool>) {
    while !isDone.withLock({ $0 }) {
      do {
        let (count, listed) = try store.read { (try $0.taskCount, try $0.view(.inbox).tasks.count) }
        if count != listed { outcome.withLock { $0.unexpected.append("\(count) is not \(listed)") } }
      } catch let error as TallyError where error.code == .storeSuspended {
        outcome.withLock { $0.suspendedReadCount += 1 }
      } catch {
        outcome.withLock { $0.unexpected.append("\(error)") }
      }
      usleep(1_000)
    }
  }
}
