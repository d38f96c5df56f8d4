import Foundation

/// A predicate as steps that lead from one to another, for a filter that is asked of every task.
///
/// What a record's head can answer comes first: a state, and a text of the title. Most records fail there, before their
/// fields are read. To follow the tree itself was tried: each node on the way is then retained and released, a quarter of
/// the time.
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
  /// A text that the title of each record that passes contains.
  private var title: FoldedPattern?

  init(_ predicate: RecordPredicate) {
    var rest: [RecordPredicate] = []
    for operand in predicate.conjuncts {
      switch operand {
      case .test(.states(let states)): self.states &= states
      case .test(.text(.title, let pattern)) where title == nil: title = pattern
      default: rest.append(operand)
      }
    }
    start = add(.all(rest), whenTrue: Outcome.found, whenFalse: Outcome.rejected)
  }

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

  /// Whether a record may pass by its head.
  func mayHold(_ state: TaskState, _ title: RawSpan, _ folder: inout TextFolder) -> Bool {
    guard states & 1 << state.rawValue != 0 else { return false }
    return self.title?.isFound(in: title, with: &folder) ?? true
  }

  /// Whether a record passes; `isParent` is asked of the store.
  func holds(
    _ facts: borrowing FilterFacts, _ folder: inout TextFolder, isParent: (UUID) throws -> Bool
  ) throws -> Bool {
    guard mayHold(facts.state, facts.title, &folder) else { return false }
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
