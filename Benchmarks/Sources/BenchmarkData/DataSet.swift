import Foundation
package import SystemPackage
package import Tally

/// A generated store of a given size, created once and kept for every benchmark that reads it.
package struct DataSet {
  package let taskCount: Int

  private static let tasksPerTransaction = 50_000

  package init(taskCount: Int) {
    self.taskCount = taskCount
  }

  package var directory: FilePath { BenchmarkFolder.path.appending("data").appending("tally-\(taskCount)") }

  package static func configuration(durability: TaskStore.Durability = .durable) -> TaskStore.Configuration {
    var configuration = TaskStore.Configuration()
    configuration.now = { TaskGenerator.now }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TaskGenerator.timeZone
    calendar.firstWeekday = 2
    configuration.calendar = calendar
    configuration.durability = durability
    return configuration
  }

  /// Creates the store unless it exists; it gets its name when it is complete, so that an interrupted run leaves no half.
  package func makeIfMissing() throws {
    guard !FileManager.default.fileExists(atPath: directory.string) else { return }
    let staging = try BenchmarkFolder.makeScratch("tally-\(taskCount)").appending("store")
    let store = try Self.makeStoreOfLists(at: staging, durability: .relaxed)
    let tasks = try tasks()
    for start in stride(from: 0, to: taskCount, by: Self.tasksPerTransaction) {
      let batch = tasks[start..<min(start + Self.tasksPerTransaction, taskCount)]
      try store.writeAndWait { try $0.insert(contentsOf: batch) }
    }
    try store.close()
    try FileManager.default.createDirectory(
      atPath: directory.removingLastComponent().string, withIntermediateDirectories: true)
    try FileManager.default.moveItem(atPath: staging.string, toPath: directory.string)
  }

  /// The tasks in the order of their creation over the years: pages fill differently in another.
  package func tasks() throws -> [TaskItem] {
    var generator = TaskGenerator()
    return try generator.tasks(0..<taskCount).sorted { $0.createdAt < $1.createdAt }
  }

  /// Creates a store with the lists of the tasks, and no task.
  package static func makeStoreOfLists(
    at directory: FilePath, durability: TaskStore.Durability = .durable
  ) throws -> TaskStore {
    let store = try TaskStore(at: directory, configuration: configuration(durability: durability))
    try DocumentOfLists(lists: TaskGenerator().lists).importInto(store)
    return store
  }

  /// Opens the kept store, for reading only.
  package func open() throws -> TaskStore {
    var configuration = Self.configuration()
    configuration.createsIfMissing = false
    return try TaskStore(at: directory, configuration: configuration)
  }

  /// Opens a copy that a benchmark may change.
  package func openCopy(_ name: String, durability: TaskStore.Durability = .durable) throws -> TaskStore {
    let copy = try BenchmarkFolder.makeScratch(name).appending("store")
    try BenchmarkFolder.copy(directory, to: copy)
    return try TaskStore(at: copy, configuration: Self.configuration(durability: durability))
  }
}
