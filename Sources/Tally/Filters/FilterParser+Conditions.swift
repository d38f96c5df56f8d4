extension FilterParser {
  /// Reads one condition; something other than white space comes next.
  mutating func condition() throws(FilterFault.Place) -> FilterNode {
    let start = scanner.offset
    switch scanner.next {
    case "\"": return .condition(.text(.text, try value(of: .text(.text)).text))
    case "!": throw .init(.exclamationMark, start)
    case "#":
      _ = scanner.skip("#")
      return .condition(.tag(try tag()))
    // A number behind the sign is one to look for, as in a telephone number.
    case "+" where scanner.isBeforeLetter:
      _ = scanner.skip("+")
      return .condition(.tag(try tag()))
    case "@":
      _ = scanner.skip("@")
      return try attribute()
    default: return try wordOrField()
    }
  }

  /// Reads a word to look for, or a field with what it is compared with.
  private mutating func wordOrField() throws(FilterFault.Place) -> FilterNode {
    let word = scanner.word(endingAtOperator: true)
    guard scanner.next != "\"" else { throw .init(.quoteInsideWord, scanner.offset) }
    var ahead = scanner
    ahead.skipWhiteSpace()
    // Blanks may stand around an operator, but a colon belongs to its field.
    let isField = ahead.isAtOperator && (ahead.offset == scanner.offset || ahead.next != ":")
    guard isField else { return .condition(.text(.text, word.text)) }
    guard !word.text.isEmpty else { throw .init(.missingField, word.offset) }
    if let field = FilterField(name: word.text) { return try condition(on: field, try comparison(of: field)) }
    guard let (field, comparison) = FilterField.compared(by: word.text) else {
      let isCompared = ahead.next != ":"
      _ = ahead.skip(":")
      let value = ahead.word(endingAtOperator: false).text
      throw .init(.unknownField(word.text, isCompared: isCompared, value: value), word.offset)
    }
    scanner.skipWhiteSpace()
    let isColon = scanner.next == ":"
    guard scanner.comparison() == .equals, field.comparisons.contains(comparison) else {
      throw .init(.wrongOperator(field), word.offset)
    }
    if !isColon { scanner.skipWhiteSpace() }
    return try condition(on: field, comparison)
  }

  private mutating func condition(
    on field: FilterField, _ comparison: TaskFilter.Comparison
  ) throws(FilterFault.Place) -> FilterNode {
    switch field {
    case .list:
      let value = try value(of: field)
      return comparison.node(.list(FilterList(text: value.text, column: scanner.column(of: value.offset))))
    case .tag: return comparison.node(.tag(try tag()))
    case .state: return comparison.node(.state(try name(of: field, among: TaskState.allCases, \.name)))
    case .parent: return comparison.node(.parent(try id()))
    case .has: return comparison.node(try possession())
    case .is:
      // The constants have a name so that every filter has a text.
      let value = try value(of: field)
      if value.text.lowercased() == "any" { return .constant(comparison == .equals) }
      return comparison.node(.property(try name(value, of: field, among: TaskFilter.Property.allCases, \.rawValue)))
    case .priority:
      let value = try value(of: field)
      if let priority = Priority(written: value.text) { return comparison.filter { .priority($0, priority) }.root }
      let priority = try name(value, of: field, among: Priority.allCases, \.name)
      return comparison.filter { .priority($0, priority) }.root
    case .attribute: throw .init(.missingField, scanner.offset)
    case .text(let place): return .condition(.text(place, try value(of: field).text))
    case .date(let place):
      let date = try date(of: field)
      return comparison.filter { .date(place, $0, date) }.root
    }
  }

  /// Reads `@name`, an operator and a value, or `@tag`; `@` has been read.
  private mutating func attribute() throws(FilterFault.Place) -> FilterNode {
    let start = scanner
    let name = try scanner.next == "\"" ? scanner.quoted() : scanner.word(endingAtOperator: true)
    scanner.skipWhiteSpace()
    guard scanner.isAtOperator else {
      scanner = start
      return .condition(.tag(try tag()))
    }
    guard name.text.isAttributeName else { throw .init(.badAttributeName, name.offset) }
    let comparison = try comparison(of: .attribute)
    let value = try value(of: .attribute).text
    return comparison.filter { .attribute(name.text, $0, value) }.root
  }

  /// Reads what follows `has:`.
  private mutating func possession() throws(FilterFault.Place) -> FilterCondition {
    guard scanner.skip("@") else {
      return .has(try name(of: .has, among: TaskFilter.Field.allCases, \.rawValue))
    }
    let name = try value(of: .attribute)
    guard name.text.isAttributeName else { throw .init(.badAttributeName, name.offset) }
    return .hasAttribute(name.text)
  }
}

extension TaskFilter.Comparison {
  /// A condition of which only equality can be asked.
  fileprivate func node(_ condition: FilterCondition) -> FilterNode {
    self == .isNot ? .negation(.condition(condition)) : .condition(condition)
  }
}
