import Benchmark
import BenchmarkData
import Foundation
import SystemPackage
import Tally
import TallySync

/// The additional cost of a write in a store that synchronises: recording the changes, not their delivery to others.
enum WritingBenchmarks {
  private static let insertCount = 9

  static func register() {
    comparison("sync-create", create)
    comparison("sync-bulk-insert", iterations: insertCount, seconds: 120, bulkInsert)
  }

  @Sendable private static func create() throws -> Comparison {
    let space = try runAndWait { try await SyncedSpace("sync-create") }
    let plain = try dataSet.openCopy("sync-create-plain")
    let list = try plain.read { try $0.lists()[0].id }
    @Sendable func add(_ number: Int, to store: TaskStore) throws {
      _ = try store.writeAndWait { try $0.add("Water the plants \(number)", to: .list(list)) }
    }
    return Comparison(
      tally: { try add($0, to: space.store) },
      peer: { try add($0, to: plain) },
      close: {
        let pending = try runAndWait { try await StoreSync(space.store).status().pending }
        let created = try plain.read { try $0.taskCount } - dataSet.taskCount
        try expectEqual(pending, created, "created tasks that wait to be sent")
        try plain.close()
        try space.store.close()
      })
  }

  /// The stores are ready: setting up synchronisation is not part of it.
  @Sendable private static func bulkInsert() throws -> Comparison {
    let tasks = try dataSet.tasks()
    let folder = try BenchmarkFolder.makeScratch("sync-bulk-insert")
    let synced = try (0..<insertCount).map { number in
      let store = try DataSet.makeStoreOfLists(at: folder.appending("synced-\(number)"))
      return try runAndWait { try await SyncedSpace("sync-bulk-insert-space-\(number)", store) }.store
    }
    let plain = try (0..<insertCount).map { try DataSet.makeStoreOfLists(at: folder.appending("plain-\($0)")) }
    return Comparison(
      tally: { number in try synced[number].writeAndWait { try $0.insert(contentsOf: tasks) } },
      peer: { number in try plain[number].writeAndWait { try $0.insert(contentsOf: tasks) } },
      close: { for store in synced + plain { try store.close() } })
  }
}
