/// Reads the text of a filter by recursive descent; <doc:Filters> has the grammar.
struct FilterParser {
  var scanner: FilterScanner
  /// How many parentheses and negations are open.
  private var depth = 0

  /// Takes a text, which may come from anywhere.
  init(_ text: String) throws(TallyError) {
    // Counted first in UTF-8, which costs nothing: no scalar has more than four bytes.
    guard text.utf8.count <= 4 * TaskFilter.maximumLength, text.unicodeScalars.count <= TaskFilter.maximumLength else {
      throw FilterFault.tooLong.error(at: 1)
    }
    scanner = FilterScanner(text)
    // It separates the parts of a position in a view.
    if let offset = scanner.offset(of: "\0") { throw error(.nullCharacter, at: offset) }
  }

  /// Reads the whole text.
  mutating func filter() throws(TallyError) -> FilterNode {
    do throws(FilterFault.Place) {
      scanner.skipWhiteSpace()
      guard scanner.next != nil else { return .constant(true) }
      let node = try alternatives()
      // Everything else that may come next begins another condition.
      guard scanner.next == nil else { throw .init(.strayParenthesis, scanner.offset) }
      return node
    } catch {
      throw self.error(error.fault, at: error.offset)
    }
  }

  /// The error of a fault at an offset.
  func error(_ fault: FilterFault, at offset: Int) -> TallyError {
    fault.error(at: scanner.column(of: offset))
  }

  private mutating func alternatives() throws(FilterFault.Place) -> FilterNode {
    var operands = [try conjunction()]
    while try skipKeyword(.or) { operands.append(try conjunction()) }
    return .disjunction(operands)
  }

  private mutating func conjunction() throws(FilterFault.Place) -> FilterNode {
    var operands = [try term()]
    while true {
      let isJoined = try skipKeyword(.and)
      let isAtEnd = scanner.next == nil || scanner.next == ")" || nextKeyword == .or
      if isAtEnd, !isJoined { return .conjunction(operands) }
      operands.append(try term())
    }
  }

  private mutating func term() throws(FilterFault.Place) -> FilterNode {
    scanner.skipWhiteSpace()
    let start = scanner.offset
    if scanner.skip("(") {
      let inner = try nested(at: start) { parser throws(FilterFault.Place) in try parser.alternatives() }
      guard scanner.skip(")") else { throw .init(.openParenthesis, start) }
      return inner
    }
    if scanner.skip("-") {
      guard let next = scanner.next, !next.properties.isWhitespace else { throw .init(.missingCondition, start + 1) }
      return try negation(at: start)
    }
    if try skipKeyword(.not) { return try negation(at: start) }
    guard scanner.next != nil, scanner.next != ")", nextKeyword == nil else { throw .init(.missingCondition, start) }
    return try condition()
  }

  private mutating func negation(at start: Int) throws(FilterFault.Place) -> FilterNode {
    .negation(try nested(at: start) { parser throws(FilterFault.Place) in try parser.term() })
  }

  /// Reads one level further down, unless that is too deep for the stack.
  private mutating func nested(
    at start: Int, _ read: (inout FilterParser) throws(FilterFault.Place) -> FilterNode
  ) throws(FilterFault.Place) -> FilterNode {
    guard depth < TaskFilter.maximumNesting else { throw .init(.tooDeep, start) }
    depth += 1
    let node = try read(&self)
    depth -= 1
    return node
  }
}

extension FilterParser {
  /// The keyword that comes next, if one does.
  var nextKeyword: FilterKeyword? {
    var ahead = scanner
    let word = ahead.word(endingAtOperator: true)
    return ahead.isAtOperator ? nil : FilterKeyword(word)
  }

  /// Reads a keyword if it comes next, with the white space around it.
  private mutating func skipKeyword(_ keyword: FilterKeyword) throws(FilterFault.Place) -> Bool {
    scanner.skipWhiteSpace()
    guard nextKeyword == keyword else { return false }
    _ = scanner.word(endingAtOperator: true)
    return true
  }
}
