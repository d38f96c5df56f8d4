extension TallyError {
  /// The kind of a failure.
  ///
  /// Open: a later version may add codes, so a `switch` over them needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Name: String {
      case blankTitle, blankListName, invalidColor, invalidDay, invalidInstant, invalidState, valueOutOfRange
      case inconsistentTask, taskNotFound, listNotFound, differentPlaces, duplicateID, unknownList
      case invalidLink, malformedDocument, unknownKey, inputUnreadable, outputNotCreated
      case storeMissing, notAStore, newerFormat, damagedStore, permissionDenied, remoteFilesystem
      case storeBusy, alreadyOpen, reentrantTransaction, storeClosed, storeSuspended, readersFull
      case nothingToUndo, nothingToRedo, undoConflict
      case diskFull, storageFailed, outcomeUnknown, cancelled, internalFault
    }

    private let name: Name

    private init(_ name: Name) {
      self.name = name
    }

    /// The code as a word that stays the same from version to version.
    public var description: String { name.rawValue }

    /// A task's title holds nothing but white space.
    public static let blankTitle = Code(.blankTitle)
    /// A list's name holds nothing but white space.
    public static let blankListName = Code(.blankListName)
    /// A colour is not six hexadecimal digits.
    public static let invalidColor = Code(.invalidColor)
    /// A text is no calendar day, or the day does not exist.
    public static let invalidDay = Code(.invalidDay)
    /// A text is no ISO 8601 instant, or the instant does not exist.
    public static let invalidInstant = Code(.invalidInstant)
    /// A text names no task state.
    public static let invalidState = Code(.invalidState)
    /// A number, day or instant lies outside what can be stored.
    public static let valueOutOfRange = Code(.valueOutOfRange)
    /// A task's fields contradict each other, as a completion time on an open task.
    public static let inconsistentTask = Code(.inconsistentTask)
    /// No task has the given id.
    public static let taskNotFound = Code(.taskNotFound)
    /// No list has the given id.
    public static let listNotFound = Code(.listNotFound)
    /// Two tasks share no place, so neither can be put before or after the other.
    public static let differentPlaces = Code(.differentPlaces)
    /// An id is already taken, or stands twice in one document.
    public static let duplicateID = Code(.duplicateID)
    /// A task names a list that neither the store nor the document has.
    public static let unknownList = Code(.unknownList)
    /// A link is none that can be followed.
    public static let invalidLink = Code(.invalidLink)
    /// A document breaks its format; the error carries the position.
    public static let malformedDocument = Code(.malformedDocument)
    /// A document has a key that the format does not know.
    public static let unknownKey = Code(.unknownKey)
    /// An input cannot be read.
    public static let inputUnreadable = Code(.inputUnreadable)
    /// An output cannot be created or written.
    public static let outputNotCreated = Code(.outputNotCreated)
    /// There is no store at the path, and none was to be made.
    public static let storeMissing = Code(.storeMissing)
    /// The path holds something that is no Tally store.
    public static let notAStore = Code(.notAStore)
    /// The store or document was written by a newer format than this library knows.
    public static let newerFormat = Code(.newerFormat)
    /// The store's contents contradict themselves.
    public static let damagedStore = Code(.damagedStore)
    /// The system refused access to the store's files.
    public static let permissionDenied = Code(.permissionDenied)
    /// The store lies on a remote filesystem, whose memory maps and locks cannot be relied on.
    public static let remoteFilesystem = Code(.remoteFilesystem)
    /// Another process holds the store in a way that excludes this call; try again.
    public static let storeBusy = Code(.storeBusy)
    /// This process has the store open already.
    public static let alreadyOpen = Code(.alreadyOpen)
    /// A write was begun inside another one of the same thread.
    public static let reentrantTransaction = Code(.reentrantTransaction)
    /// The store has been closed.
    public static let storeClosed = Code(.storeClosed)
    /// The store has been suspended and not resumed.
    public static let storeSuspended = Code(.storeSuspended)
    /// Every reader slot is taken by a live reader.
    public static let readersFull = Code(.readersFull)
    /// No change is left that could be taken back.
    public static let nothingToUndo = Code(.nothingToUndo)
    /// Nothing has been taken back since the last change.
    public static let nothingToRedo = Code(.nothingToRedo)
    /// A later change stands in the way of taking one back.
    public static let undoConflict = Code(.undoConflict)
    /// The disk, or the quota on it, is full.
    public static let diskFull = Code(.diskFull)
    /// The storage failed to read or write.
    public static let storageFailed = Code(.storageFailed)
    /// The disk failed at the last step of a commit, and does not let it be known whether that took place: look.
    public static let outcomeUnknown = Code(.outcomeUnknown)
    /// The Swift task that ran the operation was cancelled; what was begun has been taken back.
    public static let cancelled = Code(.cancelled)
    /// The library contradicts itself; please report it.
    public static let internalFault = Code(.internalFault)
  }
}
