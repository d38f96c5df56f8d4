import BenchmarkData
import Foundation
import SQLitePeer
import Tally

/// Tally and the peer on the same tasks.
struct Peers: Sendable {
  static let dataSet = DataSet(taskCount: BenchmarkFolder.isSmoke ? 1_000 : 100_000)

  /// The tasks for operations that must stay quick at a million tasks.
  static let largeDataSet = DataSet(taskCount: BenchmarkFolder.isSmoke ? 1_000 : 1_000_000)

  let tally: TaskStore
  let sqlite: SQLiteTaskStore
  /// Some of the tasks, in an order unrelated to the pages of either.
  let sampleIDs: [UUID]
  let project: UUID

  /// Opens copies of the kept data sets, at the same durability.
  init(_ name: String, of dataSet: DataSet = Self.dataSet, isDurable: Bool = true) throws {
    tally = try dataSet.openCopy("peers-\(name)", durability: isDurable ? .durable : .relaxed)
    sqlite = try SQLiteDataSet(of: dataSet)
      .openCopy("peers-\(name)-sqlite", synchronous: isDurable ? .full : .normal)
    var random = SeededRandom(seed: TaskGenerator.seed)
    sampleIDs = try tally.read { try $0.page(of: .all, limit: 100_000).tasks.map(\.id) }.shuffled(using: &random)
    project = try tally.read { try $0.lists()[0].id }
  }

  func close() throws {
    try tally.close()
    try sqlite.close()
  }
}
