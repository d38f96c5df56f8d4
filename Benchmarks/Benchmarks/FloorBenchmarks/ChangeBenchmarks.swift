import Benchmark
import BenchmarkData
import Foundation
import Tally

/// Changes that are on the disk when the call returns.
enum ChangeBenchmarks {
  static func register() {
    changeBenchmark("create") { _, store in
      let task = try store.writeAndWait { try $0.add("Water the plants", to: .today) }
      try expectEqual(task.scheduledDate, TaskGenerator.today, "the day of a task captured in Today")
    }
    changeBenchmark("create-five-in-a-row") { benchmark, store in
      let countBefore = try store.read { try $0.taskCount }
      benchmark.startMeasurement()
      var ids: Set<UUID> = []
      for number in 1...5 { ids.insert(try store.writeAndWait { try $0.add("Task \(number)", to: .inbox) }.id) }
      benchmark.stopMeasurement()
      let countAfter = try store.read { try $0.taskCount }
      try expectEqual([ids.count, countAfter], [5, countBefore + 5], "ids and tasks after five creates")
    }
    changeBenchmark("change-state") { _, store in
      let tasks = try store.read { try $0.page(of: .list($0.project), limit: 1).tasks }
      let changed = try store.writeAndWait { try $0.advanceState(of: tasks[0].id) }
      try expectEqual(changed.state, tasks[0].state.next, "the state")
    }
    changeBenchmark("move") { benchmark, store in
      let tasks = try store.read { try $0.view(.inbox).tasks }
      benchmark.startMeasurement()
      _ = try store.writeAndWait { try $0.move(tasks[tasks.count - 1].id, before: tasks[0].id) }
      benchmark.stopMeasurement()
      try expectEqual(try store.read { try $0.view(.inbox).tasks[0].id }, tasks[tasks.count - 1].id, "the first task")
    }
    changeBenchmark("undo") { benchmark, store in
      let id = try store.writeAndWait { try $0.add("Water the plants", to: .inbox) }.id
      benchmark.startMeasurement()
      try store.writeAndWait { try $0.undo() }
      benchmark.stopMeasurement()
      try expectEqual(try store.read { try $0.task(id) }, nil, "the task whose creation was undone")
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The list of 500 tasks.
  var project: UUID {
    get throws { try lists()[0].id }
  }
}
