import Synchronization

extension TaskFilter: TextCodable, CustomStringConvertible {
  /// The filter's canonical text; reading it gives an equal filter.
  ///
  /// The text of a filter that ``validate()`` refuses cannot be read.
  public var text: String { root.text }

  /// The same as ``text``.
  public var description: String { text }

  /// Reads a filter; an empty text means every task.
  ///
  /// - Throws: `invalidFilter`, with the column of the fault and the text expected there.
  /// - Complexity: the length of the text, which is at most 10,000 Unicode scalars.
  public init(text: String) throws(TallyError) {
    var parser = try FilterParser(text)
    let root = try parser.filter()
    // The canonical text may be longer, or nest deeper: `state!=active` becomes `-state:active`.
    guard root.nesting <= Self.maximumNesting else { throw parser.error(.tooDeep, at: 0) }
    guard root.text.unicodeScalars.count <= Self.maximumLength else { throw parser.error(.tooLong, at: 0) }
    self.init(root)
    knowledge.isValid.store(true, ordering: .relaxed)
  }

  /// Checks a filter that was composed in Swift; one that was read is valid.
  ///
  /// A filter that was found to be valid is not checked again, and neither are its copies.
  ///
  /// - Throws: `invalidFilter` for an empty text, a tag or the name of an attribute that no task can have, more than 64
  ///   nested operations or a text of more than 10,000 Unicode scalars.
  public func validate() throws(TallyError) {
    if knowledge.isValid.load(ordering: .relaxed) { return }
    guard root != .tooDeep else { throw FilterFault.tooDeep.error(at: 1) }
    _ = try TaskFilter(text: text)
    knowledge.isValid.store(true, ordering: .relaxed)
  }

  /// Writes the text; throws `EncodingError` for a filter that ``validate()`` refuses.
  public func encode(to encoder: any Encoder) throws {
    do {
      try validate()
    } catch {
      throw EncodingError.invalidValue(
        self, .init(codingPath: encoder.codingPath, debugDescription: error.description, underlyingError: error))
    }
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension FilterNode {
  fileprivate var text: String {
    switch self {
    case .constant(let value): value ? "is:any" : "-is:any"
    case .condition(let condition): condition.text(isNegated: false)
    case .not(.condition(let condition)): condition.text(isNegated: true)
    case .not(let operand): "-" + operand.textAsOperand
    case .and(let operands):
      zip(operands, [nil] + operands).map { $0.text(after: $1) }.joined(separator: " ")
    case .or(let operands): operands.map(\.text).joined(separator: " or ")
    case .tooDeep: ""
    }
  }

  private var textAsOperand: String {
    switch self {
    case .and, .or: "(\(text))"
    default: text
    }
  }

  /// The text behind another operand of `and`.
  private func text(after previous: FilterNode?) -> String {
    switch self {
    case .or: textAsOperand
    // `due<=today 5pm` would be a date of two words.
    case .condition(.text(.text, let wanted)) where previous?.isDate ?? false: wanted.inFilterQuotes
    case .not(.condition(.text(.text, let wanted))) where previous?.isDate ?? false: "-" + wanted.inFilterQuotes
    default: text
    }
  }

  private var isDate: Bool {
    switch self {
    case .condition(.date), .not(.condition(.date)): true
    default: false
    }
  }
}

extension FilterCondition {
  fileprivate func text(isNegated: Bool) -> String {
    if isNegated, hasNegatedForm { return text(equal: "!=") }
    return (isNegated ? "-" : "") + text(equal: "=")
  }

  private func text(equal: String) -> String {
    func text(_ comparison: FilterOperator) -> String { comparison == .equal ? equal : comparison.rawValue }
    switch self {
    case .list(let list): return "list:\(list.text.filterValue)"
    case .tag(let name): return "#\(name.filterValue)"
    case .state(let state): return "state:\(state.name)"
    case .parent(let id): return "parent:\(IDText(id).text)"
    case .priority(let comparison, let priority): return "priority\(text(comparison))\(priority.name)"
    case .date(let field, let comparison, let date):
      return "\(field.rawValue)\(text(comparison))\(date.description.filterValue)"
    case .text(.text, let wanted): return wanted.filterWord
    case .text(let field, let wanted): return "\(field.rawValue)~\(wanted.filterValue)"
    case .has(let field): return "has:\(field.rawValue)"
    case .hasAttribute(let name): return "has:@\(name.filterValue)"
    case .property(let property): return "is:\(property.rawValue)"
    case .attribute(let name, let comparison, let value):
      return "@\(name.filterName)\(text(comparison))\(value.filterValue)"
    }
  }
}

extension String {
  /// A value behind an operator, in quotation marks unless it can stand without them.
  fileprivate var filterValue: String {
    // `<` and a value that begins with `=` would read as `<=`.
    let isPlain = unicodeScalars.first != "=" && !isEmpty && unicodeScalars.allSatisfy { !$0.endsFilterWord }
    return isPlain ? self : inFilterQuotes
  }

  /// The name of an attribute before an operator.
  fileprivate var filterName: String {
    let isPlain = !isEmpty && unicodeScalars.allSatisfy { !$0.endsFilterWord && !$0.beginsFilterOperator }
    return isPlain ? self : inFilterQuotes
  }

  /// A text to look for, which must not read as anything else.
  fileprivate var filterWord: String {
    let isPlain =
      filterName == self && !FilterKeyword.isOne(self) && !isTagOfFilter
      && unicodeScalars.first.map { !$0.beginsFilterTerm } ?? false
    return isPlain ? self : inFilterQuotes
  }

  /// Whether the text would be read as `+tag`.
  private var isTagOfFilter: Bool {
    unicodeScalars.first == "+" && unicodeScalars.dropFirst().first?.properties.isAlphabetic ?? false
  }

  fileprivate var inFilterQuotes: String {
    var quoted = String.UnicodeScalarView("\"".unicodeScalars)
    // By scalars, as a combining mark behind a backslash makes another character of it.
    for scalar in unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted.append("\\") }
      quoted.append(scalar)
    }
    quoted.append("\"")
    return String(quoted)
  }
}
