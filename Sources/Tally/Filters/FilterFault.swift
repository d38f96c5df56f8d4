/// Why a text is not a filter.
enum FilterFault {
  case tooLong, tooDeep, nullCharacter
  case openQuote, badEscape, quoteInsideWord, textAfterQuote
  case openParenthesis, strayParenthesis, missingCondition, exclamationMark
  case missingField
  case unknownField(String, isCompared: Bool, value: String)
  case wrongOperator(FilterField)
  case missingValue(FilterField)
  case unknownName(String, among: [String])
  case badDate(TallyError, in: String), dateOfSeveralWords
  case badTag(TallyError), badAttributeName, badID

  /// A fault and the number of scalars before it.
  struct Place: Error {
    let fault: FilterFault
    let offset: Int

    init(_ fault: FilterFault, _ offset: Int) {
      (self.fault, self.offset) = (fault, offset)
    }
  }

  /// The error at a column.
  func error(at column: Int) -> TallyError {
    let cause: (any Error)? =
      switch self {
      case .badDate(_, let text): UnreadFilterDate(text: text)
      case .badTag(let error): error
      case .unknownField(let name, let isCompared, let value):
        UnknownFilterField(
          name: name, mayBeAttribute: isCompared && FilterField.example(meantBy: name) == nil,
          meantCondition: isCompared ? nil : FilterField.condition(meantBy: name, value))
      default: nil
      }
    let (message, remedy) = words
    return TallyError(
      .invalidFilter, message, remedy: remedy, at: TextPosition(line: 1, column: column), cause: cause)
  }

  /// The fault and the remedy, without any of the text.
  private var words: (message: String, remedy: String) {
    switch self {
    case .tooLong: ("The filter has more than \(TaskFilter.maximumLength) characters", "Look for less at a time")
    case .tooDeep:
      ("The filter nests more than \(TaskFilter.maximumNesting) deep", "Remove parentheses or negations")
    case .nullCharacter: ("The filter has a NUL character", "Remove it")
    case .openQuote: ("The quotation mark is not closed", "Write another one at the end of the text")
    case .badEscape: ("The backslash stands before neither a quotation mark nor a backslash", Self.escapeRemedy)
    case .quoteInsideWord: ("A quotation mark stands inside a word", Self.quoteRemedy)
    case .textAfterQuote: ("The quotation mark is followed by more text", "Write a blank after it")
    case .openParenthesis: ("The parenthesis is not closed", "Write ) at the end of the group")
    case .strayParenthesis: ("The parenthesis closes nothing", "Remove it, or write ( before the group")
    case .missingCondition: ("A condition is missing", "Write one, as in +home, due.by:today or is:open")
    case .exclamationMark: ("A condition cannot begin with an exclamation mark", "Write - or not for the opposite")
    case .missingField: ("The operator has no field", "Write one before it, or put the text in quotation marks")
    case .unknownField(let name, _, _): ("The field does not exist", Self.remedy(forField: name))
    case .wrongOperator(let field): ("The field cannot be compared like this", Self.remedy(forOperatorOf: field))
    case .missingValue(let field): ("The value is missing", "Write one, as in \(field.example)")
    case .unknownName(let name, let names): ("The value does not exist", Self.remedy(for: name, among: names))
    case .badDate(let error, _), .badTag(let error): (error.message, error.remedy)
    case .dateOfSeveralWords:
      ("A date of several words is not in quotation marks", "Write as in due.by:\"next friday\"")
    case .badAttributeName: ("No attribute can have such a name", "A name has 1 to 64 characters, as in @client=Acme")
    case .badID: ("The text is not the id of a task", "Write all 32 digits with their hyphens")
    }
  }

  private static let escapeRemedy = "Write it twice to look for one"
  private static let quoteRemedy = "Put the whole value in quotation marks, as in text~\"tax form\""

  private static func remedy(forOperatorOf field: FilterField) -> String {
    "Use \(field.comparisons.map(\.rawValue).listed), as in \(field.example)"
  }

  private static func remedy(forField name: String) -> String {
    FilterField.example(meantBy: name).map { "Write as in \($0)" }
      ?? "Use \((FilterField.names + ["@NAME for a field of your own"]).listed); "
      + "put a text to look for in quotation marks"
  }

  private static func remedy(for name: String, among names: [String]) -> String {
    name.nearName(among: names).map { "Did you mean \($0)?" } ?? "Use \(names.listed)"
  }
}

/// The cause of an error about a field that does not exist: messages of the library never contain a name.
package struct UnknownFilterField: Error {
  package let name: String
  /// Whether somebody may have meant an attribute: a colon would rather be part of an address.
  package let mayBeAttribute: Bool
  /// What somebody meant who used the name of another program.
  package let meantCondition: String?
}

/// The cause of an error about a date that cannot be read: messages of the library never contain a text of the user.
package struct UnreadFilterDate: Error {
  package let text: String
}

extension [String] {
  /// The words with commas, and `or` before the last one.
  fileprivate var listed: String {
    count < 2 ? joined() : dropLast().joined(separator: ", ") + " or " + (last ?? "")
  }
}
