import Foundation
import Tally

/// A difference from the expected result.
struct Failure: Error, CustomStringConvertible {
  let description: String
}

/// The application's store, opened with its index or without.
struct IndexedStore {
  let folder: URL
  static let taskCount = 12_000

  /// Opens the store with indexes, and closes it again.
  func open<R>(_ indexes: [TaskIndex], _ body: (TaskStore) throws -> R) throws -> R {
    var configuration = TaskStore.Configuration()
    configuration.indexes = indexes
    let store = try TaskStore(at: folder, configuration: configuration)
    let result = try body(store)
    try store.close()
    return result
  }

  /// Creates the store; two tasks in three have a ticket.
  func fill() throws {
    try open([]) { store in
      try store.writeAndWait { transaction in
        for number in 0..<Self.taskCount {
          let ticket = number % 3 == 0 ? "" : "OPS-\(number / 3) "
          _ = try transaction.add("\(ticket)Restart the server")
        }
      }
    }
  }

  /// Compares all of an index with what its function says of each task, and the store with itself.
  func check(_ version: UInt32) throws {
    let index = TicketIndex.version(version)
    try open([index]) { store in
      let (found, tasks) = try store.read { snapshot in
        let entries = try snapshot.page(of: index, .all, limit: .max).entries
        let found = entries.map { [String(decoding: $0.key, as: UTF8.self), $0.task.id.uuidString] }
        return (found, try snapshot.view(.all).tasks)
      }
      let expected = tasks.flatMap { task in
        TicketIndex.keys(of: task, version).map { [$0, task.id.uuidString] }
      }
      let sorted = expected.sorted { $0.lexicographicallyPrecedes($1) }
      guard found == sorted, found.count > Self.taskCount / 2 else {
        throw Failure(description: "version \(version) has \(found.count) entries, not the expected \(expected.count)")
      }
      let report = try store.verify()
      guard report.isSound else { throw Failure(description: "version \(version): \(report.faults)") }
    }
  }
}
