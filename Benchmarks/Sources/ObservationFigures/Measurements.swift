import Foundation
import Synchronization
import SystemPackage
import Tally

/// A number that several tasks count up.
final class Counter: Sendable {
  private let value = Atomic(0)

  var count: Int { value.load(ordering: .relaxed) }

  func increment() { value.add(1, ordering: .relaxed) }
}

/// A store that is deleted with its last reference, and tasks in it.
func makeStore(taskCount: Int) async throws -> TaskStore {
  let store = try TaskStore.temporary()
  for start in stride(from: 0, to: taskCount, by: 10_000) {
    try await store.write { transaction in
      for number in start..<min(start + 10_000, taskCount) { try transaction.add("task \(number)", to: .inbox) }
    }
  }
  return store
}

/// The share of one core that observers use while nothing happens.
func measureIdleObservers(count: Int, seconds: Int) async throws -> Figure {
  let store = try await makeStore(taskCount: 1_000)
  let begun = Counter()
  let views: [TaskView] = [.inbox, .today, .upcoming, .overdue, .all]
  return try await withThrowingTaskGroup { group in
    for number in 0..<count {
      group.addTask {
        for try await _ in store.observe(views[number % views.count]) { begun.increment() }
      }
    }
    while begun.count < count { try await Task.sleep(for: .milliseconds(100)) }
    let before = processorSeconds()
    try await Task.sleep(for: .seconds(seconds))
    let share = (processorSeconds() - before) / Double(seconds) * 100
    group.cancelAll()
    return Figure(name: "\(count) idle observers", value: share, unit: "% of a core", limit: 2)
  }
}

/// The time from the call of a write to the update that an observer gets; other observers get it, too.
func measureOwnWrites(count: Int, otherObservers: Int) async throws -> Figure {
  let store = try await makeStore(taskCount: 1_000)
  let begun = Counter()
  return try await withThrowingTaskGroup { group in
    for _ in 0..<otherObservers {
      group.addTask { for try await _ in store.observe(.inbox) { begun.increment() } }
    }
    while begun.count < otherObservers { try await Task.sleep(for: .milliseconds(10)) }
    var updates = store.observe(.inbox).makeAsyncIterator()
    _ = try await updates.next()
    var times: [Double] = []
    for number in 0..<count {
      let start = monotonicSeconds()
      let write = Task { try await store.write { _ = try $0.add("new \(number)", to: .inbox) } }
      _ = try await updates.next()
      times.append((monotonicSeconds() - start) * 1_000)
      try await write.value
      // The others finish, so that each write is measured alone.
      try await Task.sleep(for: .milliseconds(otherObservers == 0 ? 1 : 20))
    }
    group.cancelAll()
    let name = "write to update, \(otherObservers) other observers, p50"
    return Figure(name: name, value: times.percentile(0.5), unit: "ms", limit: otherObservers == 0 ? 2 : 50)
  }
}

/// The time from the call of a write in another process to the update here.
func measureForeignWrites(count: Int) async throws -> Figure {
  let store = try await makeStore(taskCount: 1_000)
  var updates = store.observe(.inbox).makeAsyncIterator()
  _ = try await updates.next()
  let process = Process()
  process.executableURL = URL(filePath: CommandLine.arguments[0])
  process.arguments = ["write", store.directory.string, "\(count)"]
  try process.run()
  var times: [Double] = []
  while times.count < count, case .difference(let difference)? = try await updates.next() {
    let now = monotonicSeconds()
    times += difference.insertions.compactMap { Double($0.task.title) }.map { (now - $0) * 1_000 }
  }
  process.waitUntilExit()
  return Figure(name: "write of another process to update, p50", value: times.percentile(0.5), unit: "ms", limit: 50)
}

/// The other process: tasks whose titles are the times at which the writes began.
func writeTimes(to directory: String, count: Int) async throws {
  var configuration = TaskStore.Configuration()
  configuration.durability = .relaxed
  let store = try TaskStore(at: FilePath(directory), configuration: configuration)
  for _ in 0..<count {
    try await Task.sleep(for: .milliseconds(30))
    try await store.write { _ = try $0.add("\(monotonicSeconds())", to: .inbox) }
  }
  try store.close()
}

/// The time to apply a difference that deletes every second row.
func measureDeletions(rowCount: Int) async throws -> Figure {
  let store = try await makeStore(taskCount: rowCount)
  var updates = store.observe(.inbox).makeAsyncIterator()
  guard case .snapshot(let view)? = try await updates.next() else { throw CancellationError() }
  var tasks = view.tasks
  let doomed = stride(from: 0, to: rowCount, by: 2).map { tasks[$0].id }
  try await store.write { transaction in
    for id in doomed { _ = try transaction.delete(id) }
  }
  guard case .difference(let difference)? = try await updates.next() else { throw CancellationError() }
  let start = monotonicSeconds()
  difference.apply(to: &tasks)
  let time = (monotonicSeconds() - start) * 1_000
  guard tasks.count == rowCount - doomed.count else { throw CancellationError() }
  return Figure(
    name: "\(rowCount) rows, \(doomed.count) deletions applied", value: time, unit: "ms", limit: 100)
}
