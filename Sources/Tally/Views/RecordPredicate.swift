import Foundation
import LMDB

/// A filter resolved for a store and a moment: a tree of tests of a record in place.
indirect enum RecordPredicate: Hashable {
  case constant(Bool)
  case test(RecordTest)
  case not(RecordPredicate)
  case all([RecordPredicate])
  case any([RecordPredicate])

  /// The operands of a conjunction; the predicate itself if it is none.
  var conjuncts: [RecordPredicate] {
    if case .all(let operands) = self { operands } else { [self] }
  }

  var lastTag: UInt8 {
    switch self {
    case .constant: 0
    case .test(let test): test.lastTag
    case .not(let operand): operand.lastTag
    case .all(let operands), .any(let operands): operands.reduce(0) { max($0, $1.lastTag) }
    }
  }

  fileprivate var cost: Int {
    switch self {
    case .constant: 0
    case .test(let test): test.cost
    case .not(let operand): operand.cost
    case .all(let operands), .any(let operands): operands.reduce(0) { $0 + $1.cost }
    }
  }

  /// The opposite.
  var negated: RecordPredicate {
    switch self {
    case .constant(let value): .constant(!value)
    // An index knows states, not their absence.
    case .test(.states(let states)): .test(.states(~states & RecordTest.allStates))
    case .not(let operand): operand
    default: .not(self)
    }
  }

  /// The same predicate with the cheap operands first.
  var ordered: RecordPredicate {
    switch self {
    case .constant, .test: self
    case .not(let operand): .not(operand.ordered)
    case .all(let operands): .all(operands.map(\.ordered).sorted { $0.cost < $1.cost })
    case .any(let operands): .any(operands.map(\.ordered).sorted { $0.cost < $1.cost })
    }
  }
}
