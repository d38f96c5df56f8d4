public import Foundation

/// A failure, in words for a person and as a code for a program.
///
/// The message describes the fault and the remedy says what to do. Neither ever contains what a person wrote.
///
/// ```swift
/// do {
///   try store.writeAndWait { try $0.save(workout) }
/// } catch let error as TallyError where error.code == .diskFull {
///   show(error.message, error.remedy)
/// }
/// ```
///
/// Calls on values and their texts declare `throws(TallyError)` because they throw nothing else. Around such calls
/// alone, write `catch where error.code == .invalidDay`; with `as TallyError` there, the compiler (6.3.1) crashes.
/// Calls whose errors are usually caught by code, such as opening a store, have plain `throws`.
public struct TallyError: Error, Sendable {
  /// The kind of failure; compare it with the constants.
  public let code: Code
  /// The fault, as one sentence without a full stop.
  public let message: String
  /// The remedy, as one sentence without a full stop.
  public let remedy: String
  /// The position of the fault in a text; `nil` for all other errors.
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
    message
      + (position.map { code.isOfOneLine ? " (column \($0.column))" : " (line \($0.line), column \($0.column))" } ?? "")
  }
}

extension TallyError: LocalizedError {
  /// The message with its position, in English: the title of an alert.
  public var errorDescription: String? { "\(messageWithPlace)." }

  /// The remedy, in English: the text of an alert.
  public var recoverySuggestion: String? { "\(remedy)." }
}

/// A position in a text.
public struct TextPosition: Hashable, Sendable {
  /// The line, from 1.
  public let line: Int
  /// The column, from 1, in Unicode scalars; in a text of one line, in characters.
  public let column: Int

  /// Creates a position.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }
}

extension TallyError {
  /// Throws if the current Swift task has been cancelled.
  package static func checkCancellation() throws {
    guard Task.isCancelled else { return }
    throw TallyError(.cancelled, "The operation was cancelled", remedy: "Start it again; nothing was left behind")
  }
}

extension TallyError {
  /// The kind of a failure.
  ///
  /// The set of codes is open: later versions may add some, so a `switch` over them needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String
    /// Whether the text in which the fault is usually is one line, so that a column says where it is.
    package let isOfOneLine: Bool

    /// Creates a code of this package.
    package init(named name: String, isOfOneLine: Bool = false) {
      (self.name, self.isOfOneLine) = (name, isOfOneLine)
    }

    /// The code as a word that never changes between versions.
    public var description: String { name }

    /// A text is not a calendar day, or the day does not exist.
    public static let invalidDay = Code(named: "invalidDay")
    /// A text is not an ISO 8601 instant, or the instant does not exist.
    public static let invalidInstant = Code(named: "invalidInstant")
    /// Another record has the same key in a unique index.
    public static let duplicateKey = Code(named: "duplicateKey")
    /// A record of a log of events would be changed.
    public static let unchangeableRecord = Code(named: "unchangeableRecord")
    /// A number, day or instant is outside the range that can be stored.
    public static let valueOutOfRange = Code(named: "valueOutOfRange")
    /// An id is already in use, or occurs twice in what is inserted.
    public static let duplicateID = Code(named: "duplicateID")
    /// A change that had to be undoable could not be undone.
    public static let irreversible = Code(named: "irreversible")
    /// The key of a value or of an application's index, or a namespace, is empty, too long or of the wrong type.
    public static let invalidKey = Code(named: "invalidKey")
    /// A value of an application cannot be stored, or cannot be decoded as the requested type.
    public static let invalidValue = Code(named: "invalidValue")
    /// An application's index has an invalid name, has the name of another index, or is not registered.
    public static let invalidIndex = Code(named: "invalidIndex")
    /// A text is not the token of a view, a position, a write or a state of a store.
    public static let invalidToken = Code(named: "invalidToken")
    /// A document breaks its format; the error carries the position.
    public static let malformedDocument = Code(named: "malformedDocument")
    /// A document has a key that the format does not define.
    public static let unknownKey = Code(named: "unknownKey")
    /// An input cannot be read.
    public static let inputUnreadable = Code(named: "inputUnreadable")
    /// An output cannot be created or written.
    public static let outputNotCreated = Code(named: "outputNotCreated")
    /// There is no store at the path, and the call was not to create one.
    public static let storeMissing = Code(named: "storeMissing")
    /// There is something at the path that is not a store.
    public static let notAStore = Code(named: "notAStore")
    /// The store or document was written in a newer format than this library supports.
    public static let newerFormat = Code(named: "newerFormat")
    /// The store's contents contradict themselves.
    public static let damagedStore = Code(named: "damagedStore")
    /// The system refused access to the store's files.
    public static let permissionDenied = Code(named: "permissionDenied")
    /// The store is on a remote filesystem, where memory maps and locks are not reliable.
    public static let remoteFilesystem = Code(named: "remoteFilesystem")
    /// Another process uses the store in a way that excludes this call; try again.
    public static let storeBusy = Code(named: "storeBusy")
    /// This process already has the store open.
    public static let alreadyOpen = Code(named: "alreadyOpen")
    /// A write was started inside another write on the same thread.
    public static let reentrantTransaction = Code(named: "reentrantTransaction")
    /// The store has been closed.
    public static let storeClosed = Code(named: "storeClosed")
    /// The store is suspended.
    public static let storeSuspended = Code(named: "storeSuspended")
    /// Every reader slot is in use by a live reader.
    public static let readersFull = Code(named: "readersFull")
    /// There is no change to undo.
    public static let nothingToUndo = Code(named: "nothingToUndo")
    /// There is nothing to redo: nothing has been undone since the last change.
    public static let nothingToRedo = Code(named: "nothingToRedo")
    /// A later change of the same record prevents an undo.
    public static let undoConflict = Code(named: "undoConflict")
    /// The disk, or the quota on it, is full.
    public static let diskFull = Code(named: "diskFull")
    /// The storage failed to read or write.
    public static let storageFailed = Code(named: "storageFailed")
    /// The disk failed at the last step of a commit, so the commit may or may not have happened; check the
    /// store's contents.
    public static let outcomeUnknown = Code(named: "outcomeUnknown")
    /// The Swift task that ran the operation was cancelled; the operation has been rolled back.
    public static let cancelled = Code(named: "cancelled")
    /// The library has a bug; please report it.
    public static let internalFault = Code(named: "internalFault")
  }
}

extension TallyError {
  package static func missingRecord(of table: String) -> TallyError {
    TallyError(
      .damagedStore, "An entry of \(table) has no record", remedy: "Export what can be read, and restore a backup")
  }

  package static let halfDone = TallyError(
    .storageFailed, "A change failed halfway and its error was ignored",
    remedy: "Let storage errors leave the closure; nothing was changed")

  package static let closedInsideTransaction = TallyError(
    .storeBusy, "The store cannot be closed inside one of its own reads or writes",
    remedy: "Close it when the closure has returned")

  package static let storeClosed = TallyError(
    .storeClosed, "The store has been closed", remedy: "Open it again")
}
