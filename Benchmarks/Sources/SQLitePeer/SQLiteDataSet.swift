package import BenchmarkData
import Foundation
import GRDB
package import SystemPackage
import Tally

/// The peer's copy of a data set.
package struct SQLiteDataSet {
  private let dataSet: DataSet

  package init(of dataSet: DataSet) {
    self.dataSet = dataSet
  }

  private var directory: FilePath {
    BenchmarkFolder.path.appending("data").appending("sqlite-\(dataSet.taskCount)")
  }

  package var file: FilePath { directory.appending("tasks.sqlite") }

  /// Creates it from Tally's, unless it exists.
  package func makeIfMissing() throws {
    guard !FileManager.default.fileExists(atPath: directory.string) else { return }
    let staging = try BenchmarkFolder.makeScratch("sqlite-\(dataSet.taskCount)")
    let store = try dataSet.open()
    let tasks = try store.read { try $0.view(.all).tasks }
    try store.close()
    let peer = try SQLiteTaskStore(at: staging.appending("tasks.sqlite"), synchronous: .normal)
    try peer.insert(tasks)
    try peer.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try peer.close()
    try FileManager.default.moveItem(atPath: staging.string, toPath: directory.string)
  }

  package func openCopy(_ name: String, synchronous: SQLiteTaskStore.Synchronous) throws -> SQLiteTaskStore {
    let copy = try BenchmarkFolder.makeScratch(name)
    try BenchmarkFolder.copy(directory, to: copy.appending("sqlite"))
    return try SQLiteTaskStore(at: copy.appending("sqlite").appending("tasks.sqlite"), synchronous: synchronous)
  }
}
