import Foundation
import SystemPackage
import Tally

/// Whole stores: how long they take to fill, to write out and to read in, and how much room they take.
struct BulkBenchmark {
  struct Row {
    let name: String
    let duration: Duration
    let sizeInBytes: Int64
  }

  let taskCount: Int
  let folder: FilePath

  func run() throws -> [Row] {
    let document = folder.appending("tasks.json")
    let store = try open("inserted")
    let copy = try open("imported")
    var generator = TaskGenerator(lists: try BenchmarkStore.addLists(to: store))
    let tasks = try generator.tasks(0..<taskCount)
    let rows = [
      try row("insert in one transaction", sizeOf: store.directory.appending("data.mdb")) {
        try store.write { try $0.insert(contentsOf: tasks) }
      },
      try row("export to JSON", sizeOf: document) { _ = try store.export(to: document) },
      try row("import of that into an empty store", sizeOf: copy.directory.appending("data.mdb")) {
        try expect(try copy.importDocument(from: document).tasks.added, taskCount)
      },
      try row("import of the same again", sizeOf: copy.directory.appending("data.mdb")) {
        try expect(try copy.importDocument(from: document).tasks.unchanged, taskCount)
      },
    ]
    try store.close()
    try copy.close()
    return rows
  }

  private func open(_ name: String) throws -> TaskStore {
    try TaskStore(at: folder.appending(name), configuration: BenchmarkStore.configuration())
  }

  private func row(_ name: String, sizeOf file: FilePath, _ work: () throws -> Void) throws -> Row {
    let duration = try ContinuousClock().measure(work)
    let size = try FileManager.default.attributesOfItem(atPath: file.string)[.size] as? Int64
    return Row(name: name, duration: duration, sizeInBytes: size ?? 0)
  }
}
