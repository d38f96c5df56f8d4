public import Foundation

/// A failure, in words for a person and as a code for a program.
///
/// The message describes the fault and the remedy says what to do. Neither ever contains the user's texts: no
/// title, no notes, no name of a list.
///
/// ```swift
/// do {
///   try store.writeAndWait { try $0.add("  ") }
/// } catch let error as TallyError where error.code == .blankTitle {
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
  /// What to do about it, as one sentence without a full stop.
  public let remedy: String
  /// The position of the fault in a document or in the text of a filter; `nil` for all other errors.
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
    // A filter is usually one line, so its position is only a column.
    message
      + (position.map { isOfFilter ? " (column \($0.column))" : " (line \($0.line), column \($0.column))" } ?? "")
  }

  /// Whether the position is in the text of a filter, not in a document.
  package var isOfFilter: Bool { code == .invalidFilter || code == .listNotFound }
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
  /// The column, from 1, in Unicode scalars; for a filter, in characters.
  public let column: Int

  /// Creates a position.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }
}

extension TallyError {
  /// Throws if the current Swift task has been cancelled.
  static func checkCancellation() throws {
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

    /// Creates a code of this package.
    package init(named name: String) {
      self.name = name
    }

    /// The code as a word that never changes between versions.
    public var description: String { name }

    /// A task's title is only white space.
    public static let blankTitle = Code(named: "blankTitle")
    /// A list's name is only white space.
    public static let blankListName = Code(named: "blankListName")
    /// A colour is not six hexadecimal digits.
    public static let invalidColor = Code(named: "invalidColor")
    /// A text is not a calendar day, or the day does not exist.
    public static let invalidDay = Code(named: "invalidDay")
    /// A text is not an ISO 8601 instant, or the instant does not exist.
    public static let invalidInstant = Code(named: "invalidInstant")
    /// A text is not the name of a task state.
    public static let invalidState = Code(named: "invalidState")
    /// A text is not a recurrence, or is one that is not supported.
    public static let invalidRecurrence = Code(named: "invalidRecurrence")
    /// A number, day or instant is outside the range that can be stored.
    public static let valueOutOfRange = Code(named: "valueOutOfRange")
    /// A task's fields contradict each other, such as a completion time on an open task.
    public static let inconsistentTask = Code(named: "inconsistentTask")
    /// No task has the given id.
    public static let taskNotFound = Code(named: "taskNotFound")
    /// No list has the given id.
    public static let listNotFound = Code(named: "listNotFound")
    /// No saved filter has the given name.
    public static let filterNotFound = Code(named: "filterNotFound")
    /// Two tasks are not in the same place, so neither can be put before or after the other.
    public static let differentPlaces = Code(named: "differentPlaces")
    /// An id is already in use, or occurs twice in one document.
    public static let duplicateID = Code(named: "duplicateID")
    /// A task names a list that neither the store nor the document has.
    public static let unknownList = Code(named: "unknownList")
    /// A tag is empty, too long or contains a character that tags cannot have.
    public static let invalidTag = Code(named: "invalidTag")
    /// A text is not the name of a priority.
    public static let invalidPriority = Code(named: "invalidPriority")
    /// An attribute has an invalid name or value, or the attributes of a task take too many bytes.
    public static let invalidAttribute = Code(named: "invalidAttribute")
    /// A sub-task would be nested too deeply, be its own ancestor, or lie in another list than its parent.
    public static let invalidParent = Code(named: "invalidParent")
    /// A change could not be undone, and was to be made only if it could be.
    public static let irreversible = Code(named: "irreversible")
    /// The key of a value or of an application's index, or a namespace, is empty, too long or of the wrong type.
    public static let invalidKey = Code(named: "invalidKey")
    /// A value of an application cannot be stored, or cannot be decoded as the requested type.
    public static let invalidValue = Code(named: "invalidValue")
    /// An application's index has an invalid name, has the name of another index, or is not registered.
    public static let invalidIndex = Code(named: "invalidIndex")
    /// A link cannot be followed.
    public static let invalidLink = Code(named: "invalidLink")
    /// A text is not the token of a view, a position, a write or a state of a store.
    public static let invalidToken = Code(named: "invalidToken")
    /// A text is not a filter; the error carries the column.
    public static let invalidFilter = Code(named: "invalidFilter")
    /// A search contains no word to search for.
    public static let emptySearch = Code(named: "emptySearch")
    /// A text is not a goal, or the goal is less than one task.
    public static let invalidGoal = Code(named: "invalidGoal")
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
    /// There is something at the path that is not a Tally store.
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
    /// A later change of the same task or list prevents an undo.
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
  package static func taskNotFound(_ id: UUID) -> TallyError {
    TallyError(
      .taskNotFound, "No task has the id \(id.uuidString.lowercased())",
      remedy: "It may have been deleted; look for the task in a view and use the id shown there")
  }

  package static func listNotFound(_ id: UUID) -> TallyError {
    TallyError(
      .listNotFound, "No list has the id \(id.uuidString.lowercased())",
      remedy: "It may have been deleted; choose one of the lists there are, or create it first")
  }

  static func duplicateID(_ id: UUID) -> TallyError {
    TallyError(
      .duplicateID, "A task or list with the id \(id.uuidString.lowercased()) exists already",
      remedy: "Leave out the id to get a new one, or change the existing record instead")
  }

  static func missingRecord(of table: String) -> TallyError {
    TallyError(
      .damagedStore, "An entry of \(table) has no record", remedy: "Export what can be read, and restore a backup")
  }

  static let foreignTask = TallyError(
    .inconsistentTask, "A closure replaced the task it was given with another one",
    remedy: "Change the fields of the given task and keep its id")

  static let differentPlaces = TallyError(
    .differentPlaces, "The two tasks share neither a list nor a day, so they have no order between them",
    remedy: "Move the task to the other one's list or day first")

  static let halfDone = TallyError(
    .storageFailed, "A change failed halfway and its error was ignored",
    remedy: "Let storage errors leave the closure; nothing was changed")

  static let closedInsideTransaction = TallyError(
    .storeBusy, "The store cannot be closed inside one of its own reads or writes",
    remedy: "Close it when the closure has returned")

  static let storeClosed = TallyError(
    .storeClosed, "The store has been closed", remedy: "Open it again")
}
