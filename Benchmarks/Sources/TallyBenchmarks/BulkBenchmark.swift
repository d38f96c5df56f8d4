import Foundation
import SystemPackage
import Tally

/// Whole stores: how long they take to fill, and how much disk they take.
struct BulkBenchmark {
  struct Row {
    let name: String
    let duration: Duration
    let sizeInBytes: Int64
  }

  let taskCount: Int
  let folder: FilePath

  func run() throws -> [Row] {
    let clock = ContinuousClock()
    var rows: [Row] = []
    let store = try TaskStore(at: folder.appending("bulk"), configuration: BenchmarkStore.configuration())
    let lists = try store.write { transaction in
      try (0..<TaskGenerator.listCount).map { try transaction.addList(name: "List \($0)").id }
    }
    var generator = TaskGenerator(lists: lists)
    let tasks = try generator.tasks(0..<taskCount)
    let insertion = try clock.measure { try store.write { try $0.insert(contentsOf: tasks) } }
    rows.append(
      Row(name: "insert, one durable commit: store", duration: insertion, sizeInBytes: try sizeInBytes(store))
    )
    try store.close()
    return rows
  }

  private func sizeInBytes(_ store: TaskStore) throws -> Int64 {
    try store.information().sizeInBytes
  }
}
