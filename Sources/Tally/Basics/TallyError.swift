public import Foundation

/// A failure, in words for a person and as a code for a program.
///
/// The message describes the fault and the remedy says what to do. Neither ever contains a text of the user:
/// no title, no notes, no name of a list.
///
/// ```swift
/// do {
///   try store.writeAndWait { try $0.add("  ") }
/// } catch let error as TallyError where error.code == .blankTitle {
///   show(error.message, error.remedy)
/// }
/// ```
///
/// Values and their texts throw nothing else and say so: `throws(TallyError)`. Around such calls alone write
/// `catch where error.code == .invalidDay`, without `as TallyError`: on that the compiler (6.3.1) ends itself. Calls that
/// are usually caught by their code, such as opening a store, therefore have plain `throws`.
public struct TallyError: Error, Sendable {
  /// The kind of failure; compare it with the constants.
  public let code: Code
  /// The fault, as one sentence without a full stop.
  public let message: String
  /// What to do about it, as one sentence without a full stop.
  public let remedy: String
  /// The place of the fault in the document or in the text of a filter, for errors about one.
  public let position: TextPosition?
  /// The error that caused this one.
  public let cause: (any Error)?

  /// Creates an error.
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
    "\(messageWithPlace). \(remedy)."
  }

  /// The message with its position, without a full stop.
  package var messageWithPlace: String {
    // A filter is usually one line.
    message
      + (position.map { isOfFilter ? " (column \($0.column))" : " (line \($0.line), column \($0.column))" } ?? "")
  }

  /// Whether the position is one in the text of a filter, not in a document.
  package var isOfFilter: Bool { code == .invalidFilter || code == .listNotFound }
}

extension TallyError: LocalizedError {
  /// The message with its position, in English: the title of an alert.
  public var errorDescription: String? { "\(messageWithPlace)." }

  /// The remedy, in English: the text of an alert.
  public var recoverySuggestion: String? { "\(remedy)." }
}

/// A place in a text.
public struct TextPosition: Hashable, Sendable {
  /// The line, from 1.
  public let line: Int
  /// The column, from 1, in Unicode scalars; in characters in a filter.
  public let column: Int

  /// Creates a position.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }
}

extension TallyError {
  /// Throws if the Swift task that runs this has been cancelled.
  static func checkCancellation() throws {
    guard Task.isCancelled else { return }
    throw TallyError(.cancelled, "The operation was cancelled", remedy: "Start it again; nothing was left behind")
  }
}
