import Benchmark
import BenchmarkData
import Foundation
import Synchronization
import SystemPackage
import Tally

/// The benchmarks of one size.
struct GrowthBenchmarks: Sendable {
  let dataSet: DataSet

  func register() {
    let dataSet = dataSet
    Call.benchmark("reads-\(dataSet.taskCount)", of: readTask + views + [queryByTag] + counts) { try dataSet.open() }
    Call.benchmark("changes-\(dataSet.taskCount)", of: changes) {
      try dataSet.openCopy("growth-changes-\(dataSet.taskCount)")
    }
    Call.benchmark("opening-\(dataSet.taskCount)", of: [opening], iterations: 200) {
      try DataSet(taskCount: 10).openCopy("growth-opening")
    }
    whole()
  }

  /// One task, and its record by liblmdb alone: the effect of the depth of the tree and of the processor's caches.
  private var readTask: [Call] {
    let sample = SampleOfTasks(of: dataSet)
    return [
      Call(name: "readTask", repetitionCount: 20) { store, number in
        let id = try sample.task(number, in: store).id
        guard try store.read({ try $0.task(id) }) != nil else { throw WrongAnswer(description: "a task is missing") }
      },
      Call(name: "readTaskRaw", repetitionCount: 20) { store, number in
        // This is not the task that Tally has just read, which is still in the processor's caches.
        let (id, raw) = try sample.task(number + SampleOfTasks.count / 2, in: store)
        try raw.read(id)
      },
    ]
  }

  private var views: [Call] {
    [
      view("viewToday", .today, TaskGenerator.todayNumbers.count),
      view("viewInbox", .inbox, TaskGenerator.inboxNumbers.count),
      Call(name: "viewList500") { store, _ in
        let count = try store.read { try $0.view(.list($0.lists()[0].id)).tasks.count }
        try expectEqual(count, TaskGenerator.projectNumbers.count, "tasks of a list")
      },
      Call(name: "pageCompleted50") { store, _ in
        let count = try store.read { try $0.page(of: .completed(nil), limit: 50).tasks.count }
        try expectEqual(count, 50, "tasks of a page")
      },
    ]
  }

  private func view(_ name: String, _ view: TaskView, _ taskCount: Int) -> Call {
    Call(name: name) { store, _ in
      try expectEqual(try store.read { try $0.view(view).tasks.count }, taskCount, "tasks of \(view.name)")
    }
  }

  /// At the smallest size there are fewer than the limit.
  private var queryByTag: Call {
    let query = TaskQuery(.tag(TaskGenerator.tag) && .is(.open), by: .place, limit: 50)
    return Call(name: "queryTag50") { store, _ in
      let found = try store.read { try $0.tasks(query).tasks.count }
      guard found <= 50, found > 0 else { throw WrongAnswer(description: "open tasks with a tag") }
    }
  }

  private var counts: [Call] {
    let periods = StatisticsPeriods.names.map { name, component in
      let interval = Result { try StatisticsPeriods.interval(of: component) }
      return Call(name: "count-\(name)", repetitionCount: 20) { store, _ in
        _ = try store.read { try $0.completionCount(in: interval.get()) }
      }
    }
    let all = Call(name: "count-all", repetitionCount: 20) { store, _ in
      _ = try store.read { try $0.completionCount() }
    }
    let statistics = Call(name: "statistics") { store, _ in
      let count = try store.read { try $0.statistics().open.scheduledToday }
      try expectEqual(count, TaskGenerator.todayNumbers.count, "tasks of Today in the statistics")
    }
    return periods + [all, statistics]
  }

  private var changes: [Call] {
    [
      Call(name: "create") { store, _ in
        _ = try store.writeAndWait { try $0.add("Water the plants", to: .list($0.lists()[0].id)) }
      },
      Call(name: "changeState") { store, _ in
        _ = try store.writeAndWait { try $0.advanceState(of: $0.page(of: .inbox, limit: 1).tasks[0].id) }
      },
      Call(name: "move") { store, number in
        try store.writeAndWait { transaction in
          let tasks = try transaction.view(.today).tasks.filter { $0.state == .notStarted }
          _ = try transaction.move(tasks[tasks.count - 1].id, before: tasks[0].id)
        }
      },
    ]
  }

  private var opening: Call {
    Call(name: "openAndToday") { [dataSet] _, _ in
      let store = try dataSet.open()
      let count = try store.read { try $0.view(.today).tasks.count }
      try expectEqual(count, TaskGenerator.todayNumbers.count, "tasks of Today")
      try store.close()
    }
  }

  /// The size of the whole store, and an export of it, in a process that does nothing else.
  private func whole() {
    let room = BenchmarkMetric.custom("diskBytesPerTask")
    let memory = BenchmarkMetric.custom("exportPrivateKilobytes")
    let time = BenchmarkMetric.custom("exportMilliseconds")
    let name = "whole-\(dataSet.taskCount)"
    Benchmark(
      name,
      configuration: .init(
        metrics: [room, memory, time], units: .unscaled([room, memory, time]), warmupIterations: 0,
        maxDuration: .seconds(60), maxIterations: 1),
      closure: { [dataSet] benchmark in
        let file = try BenchmarkFolder.makeScratch(name).appending("tasks.json")
        let store = try dataSet.open()
        let clock = ContinuousClock()
        let (before, start) = (MemoryUse.privateInKilobytes, clock.now)
        let peak = try MemoryUse.peakPrivateInKilobytes {
          try expectEqual(try store.export(to: file).taskCount, dataSet.taskCount, "tasks exported")
        }
        benchmark.measurement(time, Int((clock.now - start) / .milliseconds(1)))
        benchmark.measurement(memory, max(0, peak - before))
        let data = dataSet.directory.appending("data.mdb")
        benchmark.measurement(room, try BenchmarkFolder.sizeInBytes(of: data) / dataSet.taskCount)
        try store.close()
      })
  }
}

/// Tasks from all over a store, in random order, and liblmdb on the same file; created on first use, before any timing.
///
/// Each task is read once then, because a page that a process touches for the first time causes a fault, and larger
/// stores would have more of them.
private final class SampleOfTasks: Sendable {
  static let count = 10_000
  private let dataSet: DataSet
  private let sample = Mutex<(ids: [UUID], raw: RawStore)?>(nil)

  init(of dataSet: DataSet) {
    self.dataSet = dataSet
  }

  func task(_ number: Int, in store: TaskStore) throws -> (id: UUID, raw: RawStore) {
    try sample.withLock { sample in
      if let (ids, raw) = sample { return (ids[number % ids.count], raw) }
      let made = try make(in: store)
      sample = made
      return (made.ids[number % made.ids.count], made.raw)
    }
  }

  private func make(in store: TaskStore) throws -> (ids: [UUID], raw: RawStore) {
    var (generator, random) = (TaskGenerator(), SeededRandom(seed: TaskGenerator.seed))
    let ids = try generator.tasks(0..<dataSet.taskCount).map(\.id).shuffled(using: &random).prefix(Self.count)
    // It stays open until the end of the process.
    let raw = try RawStore(reading: dataSet)
    try raw.read(ids)
    try store.read { transaction in
      for id in ids { _ = try transaction.task(id) }
    }
    return (Array(ids), raw)
  }
}
