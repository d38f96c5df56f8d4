import BenchmarkData
import Foundation
import Tally

/// Every view of a store whose largest list holds 500 tasks.
enum ViewBenchmarks {
  private static let dayWithTasks = TaskGenerator.today

  static func register() {
    benchmark(.inbox, count: TaskGenerator.inboxNumbers.count)
    benchmark(.today, count: TaskGenerator.todayNumbers.count)
    benchmark(.upcoming, count: TaskGenerator.upcomingNumbers.count)
    benchmark(.past, count: TaskGenerator.pastNumbers.count)
    benchmark(.overdue, count: TaskGenerator.overdueNumbers.count)
    benchmark(.active)
    benchmark(.due(on: TaskGenerator.today))
    benchmark(.completed(nil))
    benchmark(.all, count: 1_000)
    floorBenchmark("view-list") { _, store in
      let count = try store.read { try $0.view(.list($0.project)).tasks.count }
      try expectEqual(count, TaskGenerator.projectNumbers.count, "tasks of a list")
    }
    floorBenchmark("open-and-today", on: { try DataSet(taskCount: 10).open() }) { _, _ in
      let store = try Floor.dataSet.open()
      let count = try store.read { try $0.view(.today).tasks.count }
      try expectEqual(count, TaskGenerator.todayNumbers.count, "tasks of Today")
      try store.close()
    }
  }

  private static func benchmark(_ view: TaskView, count: Int? = nil) {
    floorBenchmark("view-\(view.name)") { _, store in
      let tasks = try store.read { try $0.view(view).tasks }
      if let count { try expectEqual(tasks.count, count, "tasks of \(view.name)") }
    }
  }
}
