import Foundation
import TallyEngine

/// Parses the text of a filter by recursive descent; ``TaskFilter`` has the grammar.
struct FilterParser {
  var scanner: FilterScanner
  /// The number of open parentheses and negations.
  private var depth = 0

  /// Creates a parser for a text, which may be untrusted.
  init(_ text: String) throws(TallyError) {
    // Checks the length in UTF-8 first, which takes constant time: no scalar has more than four bytes.
    guard text.utf8.count <= 4 * TaskFilter.maximumLength, text.unicodeScalars.count <= TaskFilter.maximumLength else {
      throw FilterFault.tooLong.error(at: 1)
    }
    scanner = FilterScanner(text)
    // NUL separates the parts of a position in a view.
    if let offset = scanner.offset(of: "\0") { throw error(.nullCharacter, at: offset) }
  }

  /// Parses the whole text.
  mutating func filter() throws(TallyError) -> FilterNode {
    do throws(FilterFault.Place) {
      scanner.skipWhiteSpace()
      guard scanner.next != nil else { return .constant(true) }
      let node = try alternatives()
      // Anything else that can come next would have begun another condition.
      guard scanner.next == nil else { throw .init(.strayParenthesis, scanner.offset) }
      return node
    } catch {
      throw self.error(error.fault, at: error.offset)
    }
  }

  /// The error for a fault at an offset.
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

  /// Parses one level deeper, unless the nesting would be too deep for the stack.
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
  /// The next word if it is a keyword.
  var nextKeyword: FilterKeyword? {
    var ahead = scanner
    let word = ahead.word(endingAtOperator: true)
    return ahead.isAtOperator ? nil : FilterKeyword(word)
  }

  /// Skips a keyword, if it comes next, and the white space around it.
  private mutating func skipKeyword(_ keyword: FilterKeyword) throws(FilterFault.Place) -> Bool {
    scanner.skipWhiteSpace()
    guard nextKeyword == keyword else { return false }
    _ = scanner.word(endingAtOperator: true)
    return true
  }
}

extension FilterParser {
  /// Parses one condition; the next scalar is not white space.
  mutating func condition() throws(FilterFault.Place) -> FilterNode {
    let start = scanner.offset
    switch scanner.next {
    case "\"": return .condition(.text(.text, try value(of: .text(.text)).text))
    case "!": throw .init(.exclamationMark, start)
    case "#":
      _ = scanner.skip("#")
      return .condition(.tag(try tag()))
    // A sign before a digit belongs to the text to search for, as in a telephone number.
    case "+" where scanner.isBeforeLetter:
      _ = scanner.skip("+")
      return .condition(.tag(try tag()))
    case "@":
      _ = scanner.skip("@")
      return try attribute()
    default: return try wordOrField()
    }
  }

  /// Parses a word to search for, or a field with its operator and value.
  private mutating func wordOrField() throws(FilterFault.Place) -> FilterNode {
    let word = scanner.word(endingAtOperator: true)
    guard scanner.next != "\"" else { throw .init(.quoteInsideWord, scanner.offset) }
    var ahead = scanner
    ahead.skipWhiteSpace()
    // Other operators may have blanks around them, but a colon must directly follow its field.
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
    case .state: return comparison.node(.state(try name(try value(of: field), among: TaskState.allCases, \.name)))
    case .parent:
      let value = try value(of: field)
      guard let id = UUID(text: Array(value.text.utf8)) else { throw .init(.badID, value.offset) }
      return comparison.node(.parent(id))
    case .has: return comparison.node(try possession())
    case .is:
      // The constants have a name so that every filter can be written as a text.
      let value = try value(of: field)
      if value.text.lowercased() == "any" { return .constant(comparison == .equals) }
      return comparison.node(.property(try name(value, among: TaskFilter.Property.allCases, \.rawValue)))
    case .priority:
      let value = try value(of: field)
      if let priority = Priority(written: value.text) { return comparison.filter { .priority($0, priority) }.root }
      let priority = try name(value, among: Priority.allCases, \.name)
      return comparison.filter { .priority($0, priority) }.root
    case .attribute: throw .init(.missingField, scanner.offset)
    case .text(let place): return .condition(.text(place, try value(of: field).text))
    case .date(let place):
      let date = try date(of: field)
      return comparison.filter { .date(place, $0, date) }.root
    }
  }

  /// Parses `@name` with an operator and a value, or `@tag`; the `@` has already been read.
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

  /// Parses the text after `has:`.
  private mutating func possession() throws(FilterFault.Place) -> FilterCondition {
    guard scanner.skip("@") else {
      return .has(try name(try value(of: .has), among: TaskFilter.Field.allCases, \.rawValue))
    }
    let name = try value(of: .attribute)
    guard name.text.isAttributeName else { throw .init(.badAttributeName, name.offset) }
    return .hasAttribute(name.text)
  }
}

extension TaskFilter.Comparison {
  /// A condition that can only be compared for equality.
  fileprivate func node(_ condition: FilterCondition) -> FilterNode {
    self == .isNot ? .negation(.condition(condition)) : .condition(condition)
  }
}

extension FilterParser {
  /// Parses the operator of a field, with any white space around it.
  mutating func comparison(of field: FilterField) throws(FilterFault.Place) -> TaskFilter.Comparison {
    scanner.skipWhiteSpace()
    let start = scanner.offset
    let isColon = scanner.next == ":"
    guard let comparison = scanner.comparison(), field.comparisons.contains(comparison) else {
      throw .init(.wrongOperator(field), start)
    }
    if !isColon { scanner.skipWhiteSpace() }
    return comparison
  }

  /// Parses a non-empty value, with or without quotation marks.
  mutating func value(of field: FilterField) throws(FilterFault.Place) -> FilterScanner.Word {
    let value = try scanner.next == "\"" ? scanner.quoted() : scanner.word(endingAtOperator: false)
    guard !value.text.isEmpty else { throw .init(.missingValue(field), value.offset) }
    guard let next = scanner.next else { return value }
    if next == "\"" { throw .init(.quoteInsideWord, scanner.offset) }
    if value.isQuoted, !next.endsFilterWord { throw .init(.textAfterQuote, scanner.offset) }
    return value
  }

  /// Looks up a value among some names, in any case.
  func name<Value>(
    _ value: FilterScanner.Word, among values: [Value], _ name: (Value) -> String
  ) throws(FilterFault.Place) -> Value {
    guard let found = values.first(where: { name($0).lowercased() == value.text.lowercased() }) else {
      throw .init(.unknownName(value.text, among: values.map(name)), value.offset)
    }
    return found
  }

  /// Parses a tag that a task can have.
  mutating func tag() throws(FilterFault.Place) -> String {
    let value = try value(of: .tag)
    do throws(TallyError) {
      // Tasks would remove the blanks around the tag.
      guard TagSet.trimmed(value.text).utf8.elementsEqual(value.text.utf8) else { throw Self.blank }
      try TagSet.validate(value.text)
    } catch {
      throw .init(.badTag(error), value.offset)
    }
    return value.text
  }

  /// Parses a day or an instant, which needs quotation marks if it has several words.
  mutating func date(of field: FilterField) throws(FilterFault.Place) -> DateExpression {
    let value = try value(of: field)
    if !value.isQuoted, isStartOfDate(value.text) { throw .init(.dateOfSeveralWords, value.offset) }
    do throws(TallyError) {
      return try DateExpression(value.text)
    } catch {
      throw .init(.badDate(error, in: value.text), value.offset)
    }
  }

  /// Whether the following words belong to the date, as in `due<=next friday`.
  ///
  /// Otherwise `due<=today 5pm` would search for the text `5pm`.
  private func isStartOfDate(_ text: String) -> Bool {
    var (ahead, words) = (scanner, text)
    for _ in 0..<Self.mostWordsOfDate {
      ahead.skipWhiteSpace()
      let word = ahead.word(endingAtOperator: false)
      guard !word.text.isEmpty, ahead.next != "\"", FilterKeyword(word) == nil else { return false }
      words += " " + word.text
      if (try? DateExpression(words)) != nil { return true }
    }
    return false
  }

  private static let mostWordsOfDate = 4

  private static let blank = TallyError(
    .invalidTag, "A tag begins or ends with a blank", remedy: "Leave the blank out")
}

extension String {
  /// Whether this is a valid attribute name.
  var isAttributeName: Bool { (try? AttributeValue.validate([self: .flag(true)])) != nil }
}

/// Reads the words, values and operators of a filter's text.
///
/// Works on scalars and not on characters, because a combining mark after a quotation mark would form another
/// character with it.
struct FilterScanner {
  private let scalars: [Unicode.Scalar]
  /// The number of scalars read so far.
  private(set) var offset = 0

  /// A word or a value, with its offset.
  struct Word {
    let text: String
    let offset: Int
    let isQuoted: Bool
  }

  init(_ text: String) {
    scalars = Array(text.unicodeScalars)
  }

  /// The next scalar; `nil` at the end.
  var next: Unicode.Scalar? { scalar(at: offset) }

  private func scalar(at offset: Int) -> Unicode.Scalar? {
    offset < scalars.count ? scalars[offset] : nil
  }

  mutating func skipWhiteSpace() {
    while let next, next.properties.isWhitespace { offset += 1 }
  }

  /// Skips a scalar if it comes next.
  mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    offset += 1
    return true
  }

  /// Reads up to white space, a parenthesis, a quotation mark or, if `endingAtOperator` is true, an operator;
  /// may be empty.
  mutating func word(endingAtOperator: Bool) -> Word {
    let start = offset
    while let next, !next.endsFilterWord, !(endingAtOperator && isAtOperator) { offset += 1 }
    return Word(text: text(of: start..<offset), offset: start, isQuoted: false)
  }

  /// Reads a text in quotation marks; the next scalar must be the opening one.
  mutating func quoted() throws(FilterFault.Place) -> Word {
    let start = offset
    var text = String.UnicodeScalarView()
    offset += 1
    while let scalar = next {
      offset += 1
      switch scalar {
      case "\"": return Word(text: String(text), offset: start, isQuoted: true)
      case "\\":
        guard let escaped = next, escaped == "\"" || escaped == "\\" else { throw .init(.badEscape, offset - 1) }
        offset += 1
        text.append(escaped)
      default: text.append(scalar)
      }
    }
    throw .init(.openQuote, start)
  }

  /// The offset of the first occurrence of a scalar.
  func offset(of scalar: Unicode.Scalar) -> Int? { scalars.firstIndex(of: scalar) }

  /// Whether an operator comes next; an exclamation mark alone is not one.
  var isAtOperator: Bool {
    next == "!" ? scalar(at: offset + 1) == "=" : next?.beginsFilterOperator ?? false
  }

  /// Reads an operator, where `:` means the same as `=`.
  mutating func comparison() -> TaskFilter.Comparison? {
    guard isAtOperator, let first = next else { return nil }
    offset += 1
    switch first {
    case "<": return skip("=") ? .atMost : .less
    case ">": return skip("=") ? .atLeast : .greater
    case "~": return .contains
    case "!": return skip("=") ? .isNot : nil
    default: return .equals
    }
  }

  /// Whether a letter or a quotation mark comes after the next scalar.
  var isBeforeLetter: Bool { scalar(at: offset + 1).map { $0 == "\"" || $0.properties.isAlphabetic } ?? false }

  /// The column of an offset: characters, counted from 1.
  func column(of offset: Int) -> Int {
    // The character that begins before the offset and ends after it contains it.
    var (column, end) = (1, 0)
    for character in text(of: 0..<scalars.count) {
      end += character.unicodeScalars.count
      if end > offset { break }
      column += 1
    }
    return column
  }

  private func text(of range: Range<Int>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars[range])
    return String(view)
  }
}

extension Unicode.Scalar {
  /// Whether a word or an unquoted value ends at this scalar.
  var endsFilterWord: Bool {
    self == "(" || self == ")" || self == "\"" || properties.isWhitespace
  }

  /// Whether an operator may begin with this scalar.
  var beginsFilterOperator: Bool {
    switch self {
    case ":", "=", "<", ">", "~", "!": true
    default: false
    }
  }

  /// Whether this scalar begins something other than a word to search for.
  var beginsFilterTerm: Bool {
    switch self {
    case "-", "#", "@", "!": true
    default: beginsFilterOperator || endsFilterWord
    }
  }
}

/// A word that combines conditions, in any case.
enum FilterKeyword: String {
  case and, or, not

  init?(_ word: FilterScanner.Word) {
    guard !word.isQuoted else { return nil }
    self.init(rawValue: word.text.lowercased())
  }

  static func isOne(_ text: String) -> Bool { FilterKeyword(rawValue: text.lowercased()) != nil }
}
