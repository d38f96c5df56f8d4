extension LMDBError.Code {
  /// The message if the place that fails has no better one.
  var message: String { texts.message }

  /// The remedy if the place that fails has no better one.
  var remedy: String { texts.remedy }

  private var texts: (message: String, remedy: String) {
    Self.argumentTexts[name] ?? Self.stateTexts[name] ?? Self.systemTexts[name]
      ?? ("The call failed", "See the return code")
  }

  /// Texts of faults of the caller's arguments.
  private static let argumentTexts: [Name: (message: String, remedy: String)] = [
    .keyExists: ("The key does not come after every key there is", "Append in ascending order, or use put"),
    .badKeySize: ("A key must have 1 to 511 bytes", "Shorten the key, or hash its tail"),
    .badValueSize: (
      "The value is too long, or its codec announced another length than it wrote", "Check encodedByteCount"
    ),
    .badDatabase: (
      "The handle is of another environment, or its opening transaction was aborted",
      "Open the database again and commit"
    ),
    .databaseNotFound: ("No database has this name", "Create it in a write transaction"),
    .databasesFull: ("Every handle for a named database is taken", "Open with a larger maxDatabases"),
    .incompatible: ("The name belongs to data that is not a plain database", "Use another name"),
    .notFound: ("Nothing has the key", "Add it first"),
    .notPositioned: ("The cursor is not at an entry", "Move it first, and check the result of the move"),
    .undecodable: ("The stored bytes are not what their codec writes", "Read them with the codec that wrote them"),
    .invalidArgument: ("Invalid argument", "See the documentation of the call"),
  ]

  /// Texts of calls at the wrong time or in the wrong place.
  private static let stateTexts: [Name: (message: String, remedy: String)] = [
    .mapFull: ("The memory map is full", "Grow it with growMap, and run the transaction again"),
    .mapResized: ("Another process made the map larger", "Try again"),
    .readersFull: ("Every reader slot is taken by a live reader", "End read transactions, or raise maxReaders"),
    .transactionFull: ("The transaction changed too many pages", "Split it"),
    .badTransaction: ("The transaction failed before", "Abort it and begin again"),
    .panic: ("An earlier failure left the environment unusable", "Close it and open it again"),
    .commitOutcomeUnknown: (
      "The disk failed at the last step of the commit, which may or may not have taken place",
      "Open the environment again and look"
    ),
    .alreadyOpen: ("This process has the environment open already", "Share the open one"),
    .reentrantWrite: (
      "This thread is in a write transaction already and would wait for itself", "Use the transaction that is open"
    ),
    .wrongThread: (
      "A write transaction must end on the thread it began on",
      "Begin and end it in one synchronous block; the thread it began on frees it at its next call"
    ),
    .forked: ("The environment was opened before this process was forked", "Open it in the child"),
    .closed: ("The environment is closed", "Open it again"),
    .busy: ("Live transactions stand in the way", "End them, then try again"),
    .readOnly: ("The environment can only be read", "Open it for writing"),
  ]

  /// Texts of what the system or the file is to blame for.
  private static let systemTexts: [Name: (message: String, remedy: String)] = [
    .invalidFile: ("The file is not an LMDB file", "Check the path, or restore a backup"),
    .versionMismatch: ("The file has another version of LMDB's format", "Use the version that wrote it"),
    .corrupted: ("The file contradicts itself", "Restore a backup"),
    .diskFull: ("The disk or the quota on it is full", "Free some space and try again"),
    .permissionDenied: ("The system refused access", "Check owner and permissions of the directory and its files"),
    .noSuchFile: ("The file or directory does not exist", "Check the path"),
    .fileExists: ("The file exists already", "Choose another target"),
    .ioFailure: ("The system failed to read or write", "Check the disk"),
    .outOfMemory: ("Memory or address space is used up", "Free some, or open with a smaller map"),
  ]
}
