import Foundation
import Tally

/// A model as a screen has it: on the main actor, following one view.
@MainActor
final class ScreenModel {
  private(set) var tasks: [TaskItem] = []
  /// The longest time for which an update has kept the main actor busy, in milliseconds.
  private(set) var longestUpdate = 0.0
  private(set) var updateCount = 0

  func follow(_ store: TaskStore, until isDone: ([TaskItem]) -> Bool) async throws {
    for try await update in store.observe(.inbox) {
      let start = monotonicSeconds()
      switch update {
      case .snapshot(let view): tasks = view.tasks
      case .difference(let difference): difference.apply(to: &tasks)
      }
      longestUpdate = max(longestUpdate, (monotonicSeconds() - start) * 1_000)
      updateCount += 1
      if isDone(tasks) { return }
    }
  }
}

/// The longest time for which an update keeps the main actor busy, while a model of many rows follows many changes.
@MainActor
func measureScreenModel(rowCount: Int, changeCount: Int) async throws -> Figure {
  let store = try await makeStore(taskCount: rowCount)
  let ids = try store.read { try $0.view(.inbox).tasks.map(\.id) }
  let model = ScreenModel()
  let writer = Task.detached {
    // Renames, moves, deletions with additions: ten changes a write, as imports and other devices bring them.
    for start in stride(from: 0, to: changeCount, by: 10) {
      try await store.write { transaction in
        for number in start..<min(start + 10, changeCount) {
          let id = ids[number &* 7_919 % ids.count]
          switch number % 10 {
          case 0: try transaction.move(id, before: ids[(number &* 7_919 + 1) % ids.count])
          case 1: try transaction.setState(.active, of: id)
          case 2: try transaction.setState(.notStarted, of: id)
          default: try transaction.update(id) { $0.title = "changed \(number)" }
          }
        }
      }
    }
    _ = try await store.write { try $0.add("the end", to: .inbox) }
  }
  try await model.follow(store) { $0.contains { $0.title == "the end" } }
  try await writer.value
  let fresh = try store.read { try $0.view(.inbox).tasks }
  guard model.tasks == fresh else { throw CancellationError() }
  return Figure(
    name: "main actor busy at most, \(rowCount) rows, \(changeCount) changes in \(model.updateCount) updates",
    value: model.longestUpdate, unit: "ms", limit: 16)
}
