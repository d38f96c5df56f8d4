import Foundation

/// A predicate as steps that lead from one to another, for a filter that is asked of every task.
///
/// To follow the tree itself was tried: each node on the way is then retained and released, a quarter of the time.
struct RecordProgram {
  private struct Step {
    let test: RecordTest
    /// The bits of a `states` test, which most filters have: a copy of the enumeration would cost more than the test.
    ///
    /// Zero for any other test.
    let states: UInt8
    /// The next step, or an outcome.
    let whenTrue: Int
    let whenFalse: Int
  }

  private enum Outcome {
    static let found = -1
    static let rejected = -2
  }

  /// In the order from the last step to the first.
  private var steps: [Step] = []
  private var start = Outcome.found
  /// The states in which a record may pass, one bit each.
  private var states = RecordTest.allStates

  init(_ predicate: RecordPredicate) {
    start = add(predicate, whenTrue: Outcome.found, whenFalse: Outcome.rejected)
    if start >= 0, steps[start].states != 0, steps[start].whenFalse == Outcome.rejected { states = steps[start].states }
  }

  /// Whether a record in a state may pass.
  func mayHold(in state: TaskState) -> Bool { states & 1 << state.rawValue != 0 }

  /// Adds the steps of a predicate; returns the one at which it begins.
  private mutating func add(_ predicate: RecordPredicate, whenTrue: Int, whenFalse: Int) -> Int {
    switch predicate {
    case .constant(let value): return value ? whenTrue : whenFalse
    case .test(let test):
      let states: UInt8 = if case .states(let states) = test { states } else { 0 }
      steps.append(Step(test: test, states: states, whenTrue: whenTrue, whenFalse: whenFalse))
      return steps.count - 1
    case .not(let operand): return add(operand, whenTrue: whenFalse, whenFalse: whenTrue)
    case .all(let operands):
      return operands.reversed().reduce(whenTrue) { add($1, whenTrue: $0, whenFalse: whenFalse) }
    case .any(let operands):
      return operands.reversed().reduce(whenFalse) { add($1, whenTrue: whenTrue, whenFalse: $0) }
    }
  }

  /// Whether a record passes; `isParent` is asked of the store.
  func holds(
    _ facts: borrowing FilterFacts, _ folder: inout TextFolder, isParent: (UUID) throws -> Bool
  ) throws -> Bool {
    let steps = steps.span
    var next = start
    while next >= 0 {
      let states = steps[next].states
      let isTrue =
        try states != 0
        ? states & 1 << facts.state.rawValue != 0 : steps[next].test.holds(facts, &folder, isParent: isParent)
      next = isTrue ? steps[next].whenTrue : steps[next].whenFalse
    }
    return next == Outcome.found
  }
}
