/// What went wrong, in words for a person and as a code for a program.
///
/// The message says what is wrong and the remedy what to do. Neither ever holds text of the user's:
/// no title, no notes, no name of a list.
///
/// ```swift
/// do {
///   try store.write { try $0.add("  ") }
/// } catch let error as TallyError where error.code == .blankTitle {
///   show(error.message, error.remedy)
/// }
/// ```
public struct TallyError: Error, Sendable {
  /// What kind of failure this is; compare it with the constants.
  public let code: Code
  /// What is wrong, as one sentence without a full stop.
  public let message: String
  /// What to do about it, as one sentence without a full stop.
  public let remedy: String
  /// Where in the document the fault lies, for errors about a document.
  public let position: TextPosition?
  /// The error that caused this one.
  public let cause: (any Error)?

  /// Makes an error.
  public init(
    _ code: Code,
    _ message: String,
    remedy: String,
    at position: TextPosition? = nil,
    cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.remedy = remedy
    self.position = position
    self.cause = cause
  }
}

extension TallyError: CustomStringConvertible {
  /// The message with its position, then the remedy.
  public var description: String {
    let place = position.map { " (line \($0.line), column \($0.column))" } ?? ""
    return "\(message)\(place). \(remedy)."
  }
}

/// A place in a text document; both numbers start at 1, columns count Unicode scalars.
public struct TextPosition: Hashable, Sendable {
  /// The line, from 1.
  public let line: Int
  /// The column, from 1, in Unicode scalars.
  public let column: Int

  /// Makes a position.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }
}
