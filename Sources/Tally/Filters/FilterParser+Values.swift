import Foundation

extension FilterParser {
  /// Reads the operator of a field, at which the scanner may stand behind white space, and the white space after it.
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

  /// Reads a value, with or without quotation marks, which is not empty.
  mutating func value(of field: FilterField) throws(FilterFault.Place) -> FilterScanner.Word {
    let value = try scanner.next == "\"" ? scanner.quoted() : scanner.word(endingAtOperator: false)
    guard !value.text.isEmpty else { throw .init(.missingValue(field), value.offset) }
    guard let next = scanner.next else { return value }
    if next == "\"" { throw .init(.quoteInsideWord, scanner.offset) }
    if value.isQuoted, !next.endsFilterWord { throw .init(.textAfterQuote, scanner.offset) }
    return value
  }

  /// Reads one of some names, in any case.
  func name<Value>(
    _ value: FilterScanner.Word, of field: FilterField, among values: [Value], _ name: (Value) -> String
  ) throws(FilterFault.Place) -> Value {
    guard let found = values.first(where: { name($0).lowercased() == value.text.lowercased() }) else {
      throw .init(.unknownName(value.text, among: values.map(name)), value.offset)
    }
    return found
  }

  mutating func name<Value>(
    of field: FilterField, among values: [Value], _ name: (Value) -> String
  ) throws(FilterFault.Place) -> Value {
    try self.name(try value(of: field), of: field, among: values, name)
  }

  /// Reads a tag that a task can have.
  mutating func tag() throws(FilterFault.Place) -> String {
    let value = try value(of: .tag)
    do throws(TallyError) {
      // Blanks around a tag would be removed by the tasks that have it.
      guard TagSet.trimmed(value.text).utf8.elementsEqual(value.text.utf8) else { throw Self.blank }
      try TagSet.validate(value.text)
    } catch {
      throw .init(.badTag(error), value.offset)
    }
    return value.text
  }

  mutating func id() throws(FilterFault.Place) -> UUID {
    let value = try value(of: .parent)
    guard let id = UUID(text: Array(value.text.utf8)) else { throw .init(.badID, value.offset) }
    return id
  }

  /// Reads a day or an instant; one of several words needs quotation marks.
  mutating func date(of field: FilterField) throws(FilterFault.Place) -> DateExpression {
    let value = try value(of: field)
    if !value.isQuoted, isStartOfDate(value.text) { throw .init(.dateOfSeveralWords, value.offset) }
    do throws(TallyError) {
      return try DateExpression(value.text)
    } catch {
      throw .init(.badDate(error, in: value.text), value.offset)
    }
  }

  /// Whether some of the following words belong to a date, as in `due<=next friday`.
  ///
  /// `due<=today 5pm` would otherwise look for the text `5pm`.
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
  /// Whether an attribute can have this name.
  var isAttributeName: Bool { (try? AttributeValue.validate([self: .flag(true)])) != nil }
}
