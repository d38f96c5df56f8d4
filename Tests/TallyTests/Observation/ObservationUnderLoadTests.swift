import Foundation
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// Many observers of one store agree with it, while Swift tasks, threads and another process write.
@Suite struct ObservationUnderLoadTests {
  private static let writeCount = 150
  private static let lastTitle = "the last one"

  @Test func everyObserverEndsWithWhatTheStoreHolds() async throws {
    try await withStore { store in
      let changes = try store.changes()
      let counting = Task { try await Self.count(changes, in: store) }
      let views: [TaskView] = [.inbox, .today, .active, .completed(nil), .all]
      let following = views.map { view in Task { try await Self.follow(view, in: store) } }
      let statistics = Task { try await Self.watchStatistics(of: store) }
      let foreign = try HelperProcess("add", store.directory, Self.writeCount)
      let threads = (0..<2).map { number in startThread { try Self.write(store, "t\(number)") } }
      let tasks = (0..<4).map { number in Task { try await Self.writeWaiting(store, "a\(number)") } }
      for thread in threads { try await thread.value }
      for task in tasks { try await task.value }
      #expect(foreign.lines() == ["done"])
      // Seen by each of the views, and by the statistics.
      _ = try await store.write { transaction in
        try transaction.complete(try transaction.add("completed", to: .inbox).id)
        try transaction.start(try transaction.add(Self.lastTitle, to: .inbox).id)
        for place in [CapturePlace.today, .inbox] { _ = try transaction.add(Self.lastTitle, to: place) }
        try transaction.complete(try transaction.add(Self.lastTitle, to: .today).id)
      }
      let ids = try store.read { Set(try $0.view(.all).tasks.map(\.id)) }
      #expect(try await counting.value == ids)
      for (view, follower) in zip(views, following) {
        let fresh = try store.read { try $0.view(view).tasks }
        #expect(try await follower.value == fresh, "\(view.name)")
      }
      let completed = try store.statistics().completed
      #expect(try await statistics.value == completed)
    }
  }

  /// Combines the change sets into the set of tasks.
  private static func count(_ changes: StoreObservation<ChangeSet>, in store: TaskStore) async throws -> Set<UUID> {
    var ids: Set<UUID> = []
    for try await set in changes {
      let tasks = try store.read { try $0.view(.all).tasks }
      if set.isComplete {
        ids.formUnion(set.tasks.inserted)
        ids.subtract(set.tasks.deleted)
      } else {
        // Outrun, which it reports.
        ids = Set(tasks.map(\.id))
      }
      if tasks.contains(where: { $0.title == lastTitle && ids.contains($0.id) }) { break }
    }
    return ids
  }

  private static func follow(_ view: TaskView, in store: TaskStore) async throws -> [TaskItem] {
    var tasks: [TaskItem] = []
    for try await update in store.observe(view) {
      switch update {
      case .snapshot(let result): tasks = result.tasks
      case .difference(let difference): tasks = difference.applied(to: tasks)
      }
      if tasks.contains(where: { $0.title == lastTitle }) { break }
    }
    return tasks
  }

  private static func watchStatistics(of store: TaskStore) async throws -> CompletedCounts {
    for try await statistics in store.observeStatistics() where statistics.completed.today == 6 * writeCount + 2 {
      return statistics.completed
    }
    throw NeverSeen()
  }

  private static func write(_ store: TaskStore, _ name: String) throws {
    for number in 0..<writeCount {
      try store.writeAndWait { try addAndComplete("\(name)-\(number)", in: &$0) }
    }
  }

  private static func writeWaiting(_ store: TaskStore, _ name: String) async throws {
    for number in 0..<writeCount {
      try await store.write { try addAndComplete("\(name)-\(number)", in: &$0) }
    }
  }

  /// Three tasks: one is completed, one started, one deleted again.
  private static func addAndComplete(_ title: String, in transaction: inout StoreWriteTransaction) throws {
    try transaction.complete(try transaction.add(title, to: .today).id)
    try transaction.start(try transaction.add(title, to: .inbox).id)
    try transaction.delete(try transaction.add(title, to: .today).id)
  }

  private struct NeverSeen: Error {}
}
