import Testing

@testable import TallySync

/// Designs that are known to be wrong: the checks of this suite's neighbours must find each.
@Suite struct NegativeControlTests {
  private static let object = RandomSpace.task(0)

  /// Where equal times let the write that arrives last win, replicas differ for ever.
  @Test func aJoinInWhichEqualsOverwriteIsFound() {
    var divergences = 0
    let exploration = Exploration(of: Self.object, by: [.setTitle(1), .setTitle(2)], clocks: [10, 10, 10])
    exploration.visit(stepCount: 3) { space in
      let titles = space.replicas.indices.map { number in
        // Each replica receives its own writes first.
        let order = [number] + space.replicas.indices.filter { $0 != number }
        let writes = order.flatMap { space.logs[$0] }.compactMap { $0.change.registers[.title] }
        return writes.reduce(nil as Register?) { old, new in
          if let old, old.time > new.time { old } else { new }
        }?.value
      }
      if Set(titles).count > 1 { divergences += 1 }
    }
    #expect(divergences > 0)
  }

  /// Causal length counts the changes between open and completed, and takes the greater count: a completion is lost to
  /// a reopening that had not seen it.
  @Test func causalLengthIsFound() {
    var losses = 0
    let exploration = Exploration(of: Self.object, by: [.complete(1), .reopen], clocks: [10, 10, 10])
    exploration.visit(stepCount: 4) { space in
      let isCompleted = Self.causalLength(of: space) % 2 == 1
      if isCompleted != !NaiveHistory(of: Self.object, in: space).liveCompletions.isEmpty { losses += 1 }
    }
    #expect(losses > 0)
  }

  /// The greatest count of all replicas at the end.
  private static func causalLength(of space: SimulatedSpace) -> Int {
    var lengths: [[Int]] = space.replicas.map { _ in [] }
    var rest = space.operations
    // Each operation after those that it had seen.
    while let index = rest.firstIndex(where: { operation in
      lengths.indices.allSatisfy { $0 == operation.author || lengths[$0].count >= operation.seen[$0] }
        && lengths[operation.author].count == operation.index
    }) {
      let operation = rest.remove(at: index)
      let known = lengths.indices.flatMap { lengths[$0].prefix(operation.seen[$0]) }.max() ?? 0
      let isCompleting = operation.completion != nil
      lengths[operation.author].append(known % 2 == (isCompleting ? 0 : 1) ? known + 1 : known)
    }
    return lengths.flatMap(\.self).max() ?? 0
  }
}
