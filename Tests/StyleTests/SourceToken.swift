/// A piece of Swift source for the rules.
///
/// White space and the text of string literals are left out.
struct SourceToken: Equatable {
  enum Kind {
    /// An identifier, a keyword or a number.
    case word
    /// One byte of punctuation.
    case mark
    /// A whole comment with its slashes.
    case comment
  }

  let kind: Kind
  let text: String
  /// The line it begins on, counted from 1.
  let line: Int
  /// Whether white space comes before it: `try!` is not `try !flag`.
  let followsSpace: Bool

  func isWord(_ other: String) -> Bool { kind == .word && text == other }
  func isMark(_ other: String) -> Bool { kind == .mark && text == other }
}
