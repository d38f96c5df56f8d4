import Foundation
import SystemPackage
import Tally

/// A generated store in a directory of its own.
struct BenchmarkStore {
  let directory: FilePath
  let taskCount: Int
  let lists: [UUID]

  static func configuration(durability: TaskStore.Durability = .durable) -> TaskStore.Configuration {
    var configuration = TaskStore.Configuration()
    configuration.now = { TaskGenerator.now }
    configuration.calendar.timeZone = TaskGenerator.timeZone
    configuration.durability = durability
    return configuration
  }

  /// Makes the store anew, in transactions small enough for memory to stay flat.
  init(at directory: FilePath, taskCount: Int, tasksPerTransaction: Int = 50_000) throws {
    self.directory = directory
    self.taskCount = taskCount
    let store = try TaskStore(at: directory, configuration: Self.configuration(durability: .relaxed))
    lists = try Self.addLists(to: store)
    var generator = TaskGenerator(lists: lists)
    for start in stride(from: 0, to: taskCount, by: tasksPerTransaction) {
      let tasks = try generator.tasks(start..<min(start + tasksPerTransaction, taskCount))
      try store.write { try $0.insert(contentsOf: tasks) }
    }
    try store.close()
  }

  static func addLists(to store: TaskStore) throws -> [UUID] {
    try store.write { transaction in
      try (0..<TaskGenerator.listCount).map { try transaction.addList(name: "List \($0)").id }
    }
  }

  func open() throws -> TaskStore {
    try TaskStore(at: directory, configuration: Self.configuration())
  }
}
