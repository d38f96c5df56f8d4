/// The tree of a filter, in a normal form that has one text.
///
/// Made by `conjunction`, `disjunction` and `negation` only: `and` and `or` have at least two operands, none of the same
/// kind as themselves and no constants; a negation holds neither a constant nor a negation.
indirect enum FilterNode: Hashable, Sendable {
  case constant(Bool)
  case condition(FilterCondition)
  case not(FilterNode)
  case and([FilterNode])
  case or([FilterNode])
  /// Stands for a filter composed beyond ``TaskFilter/maximumNesting``; cannot be evaluated.
  case tooDeep
}

extension FilterNode {
  /// All of some operands.
  static func conjunction(_ operands: [FilterNode]) -> FilterNode {
    let flat = operands.flatMap { if case .and(let inner) = $0 { inner } else { [$0] } }
    return joined(flat, neutral: true) { .and($0) }
  }

  /// Any of some operands.
  static func disjunction(_ operands: [FilterNode]) -> FilterNode {
    let flat = operands.flatMap { if case .or(let inner) = $0 { inner } else { [$0] } }
    return joined(flat, neutral: false) { .or($0) }
  }

  /// The opposite of an operand.
  static func negation(_ operand: FilterNode) -> FilterNode {
    switch operand {
    case .constant(let value): .constant(!value)
    case .not(let inner): inner
    case .tooDeep: .tooDeep
    default: .not(operand)
    }
  }

  private static func joined(
    _ operands: [FilterNode], neutral: Bool, _ join: ([FilterNode]) -> FilterNode
  ) -> FilterNode {
    if operands.contains(.tooDeep) { return .tooDeep }
    if operands.contains(.constant(!neutral)) { return .constant(!neutral) }
    let effective = operands.filter { $0 != .constant(neutral) }
    return effective.count > 1 ? join(effective) : effective.first ?? .constant(neutral)
  }
}

extension FilterNode {
  /// How many parentheses and negations lie around the innermost condition of the text.
  var nesting: Int {
    switch self {
    case .constant(let value): value ? 0 : 1
    case .condition, .tooDeep: 0
    case .not(let operand):
      if case .condition(let condition) = operand, condition.hasNegatedForm { 0 } else { 1 + operand.nestingAsOperand }
    case .and(let operands):
      operands.reduce(0) { if case .or = $1 { max($0, $1.nestingAsOperand) } else { max($0, $1.nesting) } }
    case .or(let operands): operands.reduce(0) { max($0, $1.nesting) }
    }
  }

  private var nestingAsOperand: Int {
    switch self {
    case .and, .or: 1 + nesting
    default: nesting
    }
  }

  /// The same tree with other conditions.
  func mapConditions(_ transform: (FilterCondition) -> FilterCondition) -> FilterNode {
    switch self {
    case .constant, .tooDeep: self
    case .condition(let condition): .condition(transform(condition))
    case .not(let operand): .not(operand.mapConditions(transform))
    case .and(let operands): .and(operands.map { $0.mapConditions(transform) })
    case .or(let operands): .or(operands.map { $0.mapConditions(transform) })
    }
  }

  /// Whether any condition passes a test.
  func contains(where test: (FilterCondition) -> Bool) -> Bool {
    switch self {
    case .constant, .tooDeep: false
    case .condition(let condition): test(condition)
    case .not(let operand): operand.contains(where: test)
    case .and(let operands), .or(let operands): operands.contains { $0.contains(where: test) }
    }
  }
}
