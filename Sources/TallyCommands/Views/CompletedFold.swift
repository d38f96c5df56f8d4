import Foundation
import Tally

/// The completed tasks of a place that people see: the newest few, and how many more there are.
struct CompletedFold {
  private static let shownCount = 10

  /// Oldest first.
  private var newest: [(completed: Timestamp, id: UUID)] = []
  private var count = 0

  mutating func add(_ task: TaskItem) {
    guard let completed = task.completedAt?.instant else { return }
    count += 1
    let place = newest.firstIndex { $0.completed > completed } ?? newest.count
    newest.insert((completed, task.id), at: place)
    if newest.count > Self.shownCount { newest.removeFirst() }
  }

  func shows(_ task: TaskItem) -> Bool { !task.isCompleted || newest.contains { $0.id == task.id } }

  var hiddenCount: Int { count - newest.count }
}
