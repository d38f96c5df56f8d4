/// Reads the words, values and operators of a filter's text, scalar by scalar.
///
/// By scalars and not by characters: a combining mark behind a quotation mark would make another character of it.
struct FilterScanner {
  private let scalars: [Unicode.Scalar]
  /// How many scalars have been read.
  private(set) var offset = 0

  /// A word or a value, and where it began.
  struct Word {
    let text: String
    let offset: Int
    let isQuoted: Bool
  }

  init(_ text: String) {
    scalars = Array(text.unicodeScalars)
  }

  var count: Int { scalars.count }

  /// The next scalar; `nil` at the end.
  var next: Unicode.Scalar? { scalar(at: offset) }

  private func scalar(at offset: Int) -> Unicode.Scalar? {
    offset < scalars.count ? scalars[offset] : nil
  }

  mutating func skipWhiteSpace() {
    while let next, next.properties.isWhitespace { offset += 1 }
  }

  /// Reads a scalar if it comes next.
  mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    offset += 1
    return true
  }

  /// Reads up to white space, a parenthesis or a quotation mark; up to an operator as well if asked; may be empty.
  mutating func word(endingAtOperator: Bool) -> Word {
    let start = offset
    while let next, !next.endsFilterWord, !(endingAtOperator && isAtOperator) { offset += 1 }
    return Word(text: text(of: start..<offset), offset: start, isQuoted: false)
  }

  /// Reads a text in quotation marks, at which the scanner stands.
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

  /// The number of scalars before the first one of a kind.
  func offset(of scalar: Unicode.Scalar) -> Int? { scalars.firstIndex(of: scalar) }

  /// Whether an operator comes next; an exclamation mark alone is none.
  var isAtOperator: Bool {
    next == "!" ? scalar(at: offset + 1) == "=" : next?.beginsFilterOperator ?? false
  }

  /// Reads an operator, of which `:` means the same as `=`.
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

  /// Whether a letter or a quotation mark follows the next scalar.
  var isBeforeLetter: Bool { scalar(at: offset + 1).map { $0 == "\"" || $0.properties.isAlphabetic } ?? false }

  /// The column of an offset: characters from 1.
  func column(of offset: Int) -> Int {
    // One that begins before the offset and ends behind it holds it.
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
  /// Whether a word or a value without quotation marks ends here.
  var endsFilterWord: Bool {
    self == "(" || self == ")" || self == "\"" || properties.isWhitespace
  }

  /// Whether an operator may begin here.
  var beginsFilterOperator: Bool {
    switch self {
    case ":", "=", "<", ">", "~", "!": true
    default: false
    }
  }

  /// Whether something other than a word to look for begins here.
  var beginsFilterTerm: Bool {
    switch self {
    case "-", "#", "@", "!": true
    default: beginsFilterOperator || endsFilterWord
    }
  }
}

/// A word that joins conditions; its case does not matter.
enum FilterKeyword: String {
  case and, or, not

  init?(_ word: FilterScanner.Word) {
    guard !word.isQuoted else { return nil }
    self.init(rawValue: word.text.lowercased())
  }

  static func isOne(_ text: String) -> Bool { FilterKeyword(rawValue: text.lowercased()) != nil }
}
