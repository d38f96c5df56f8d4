import Foundation
import TestSupport
import Testing

@testable import Tally

/// Applying a difference to an array.
@Suite struct ViewDifferenceTests {
  /// The bug: each change moved the rest of the array, so that half of 50,000 rows took 27 seconds to delete.
  @Test(arguments: [0, 3, 40, 400]) func manyChangesDoWhatOneAfterTheOtherDoes(changeCount: Int) throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "differences of \(changeCount) changes"))
    for _ in 0..<50 {
      let old = (0..<changeCount * 2 + Int.random(in: 0..<20, using: &random)).map { Self.task($0) }
      let difference = Self.difference(of: old, changeCount: changeCount, &random)
      #expect(difference.applied(to: old) == Self.appliedStepByStep(difference, to: old))
    }
  }

  private static func task(_ number: Int) -> TaskItem {
    TaskItem(title: "\(number)", createdAt: Timestamp(clamping: Int64(number)))
  }

  private static func difference(
    of old: [TaskItem], changeCount: Int, _ random: inout SeededGenerator
  ) -> ViewDifference {
    var difference = ViewDifference(sequence: 1, asOf: Timestamp(clamping: 0))
    let leaving = Array(0..<old.count).shuffled(using: &random).prefix(Int.random(in: 0...changeCount, using: &random))
    let moveCount = leaving.isEmpty ? 0 : Int.random(in: 0..<leaving.count, using: &random)
    let insertionCount = Int.random(in: 0...changeCount, using: &random)
    let newCount = old.count - leaving.count + moveCount + insertionCount
    let places = Array(0..<newCount).shuffled(using: &random).prefix(moveCount + insertionCount)
    difference.removals = leaving.dropFirst(moveCount).sorted()
    difference.moves = zip(leaving, places).prefix(moveCount)
      .map { .init(origin: $0, position: $1, task: old[$0]) }.sorted { $0.position < $1.position }
    difference.insertions = places.dropFirst(moveCount).sorted().map { .init(position: $0, task: task(1_000_000 + $0)) }
    if newCount > 0 {
      let position = Int.random(in: 0..<newCount, using: &random)
      difference.updates = [.init(position: position, task: task(2_000_000 + position))]
    }
    return difference
  }

  /// As the documentation of the type says it.
  private static func appliedStepByStep(_ difference: ViewDifference, to old: [TaskItem]) -> [TaskItem] {
    var tasks = old
    for position in (difference.removals + difference.moves.map(\.origin)).sorted(by: >) { tasks.remove(at: position) }
    var arrivals = difference.insertions.map { (position: $0.position, task: $0.task) }
    arrivals += difference.moves.map { (position: $0.position, task: $0.task) }
    for arrival in arrivals.sorted(by: { $0.position < $1.position }) {
      tasks.insert(arrival.task, at: arrival.position)
    }
    for row in difference.updates { tasks[row.position] = row.task }
    return tasks
  }
}
