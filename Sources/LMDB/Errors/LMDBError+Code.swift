extension LMDBError {
  /// The kind of a failure.
  ///
  /// Open: a later version may add codes, so a `switch` over them needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String
    /// The message if the place that fails has no better one.
    let message: String
    /// The remedy if the place that fails has no better one.
    let remedy: String

    private init(_ name: String, _ message: String, remedy: String) {
      self.name = name
      self.message = message
      self.remedy = remedy
    }

    /// The code as a word that stays the same from version to version.
    public var description: String { name }

    /// The memory map is too small for what the transaction writes.
    public static let mapFull = Code(
      "mapFull", "The memory map is full", remedy: "Grow it with growMap, and run the transaction again")
    /// Another process has made the map larger than it is in this one, and it could not be adopted.
    public static let mapResized = Code("mapResized", "Another process made the map larger", remedy: "Try again")
    /// Every reader slot is taken by a live reader.
    public static let readersFull = Code(
      "readersFull", "Every reader slot is taken by a live reader",
      remedy: "End read transactions, or raise maxReaders")
    /// Every handle for a named database is taken.
    public static let databasesFull = Code(
      "databasesFull", "Every handle for a named database is taken", remedy: "Open with a larger maxDatabases")
    /// The transaction changed more pages than one transaction may.
    public static let transactionFull = Code(
      "transactionFull", "The transaction changed too many pages", remedy: "Split it")
    /// An appended key does not come after every key there is.
    public static let keyExists = Code(
      "keyExists", "The key does not come after every key there is", remedy: "Append in ascending order, or use put")
    /// A key is empty or longer than 511 bytes.
    public static let badKeySize = Code(
      "badKeySize", "A key must have 1 to 511 bytes", remedy: "Shorten the key, or hash its tail")
    /// A value is too long, or its codec wrote another number of bytes than it announced.
    public static let badValueSize = Code(
      "badValueSize", "The value is too long, or its codec announced another length than it wrote",
      remedy: "Check encodedByteCount")
    /// The transaction failed before, and can only be aborted.
    public static let badTransaction = Code(
      "badTransaction", "The transaction failed before", remedy: "Abort it and begin again")
    /// The database handle belongs to another environment, its opening transaction was aborted, or the database was
    /// dropped.
    public static let badDatabase = Code(
      "badDatabase", "The handle is of another environment, its opening was aborted, or the database was dropped",
      remedy: "Open the database again and commit")
    /// No database has the given name.
    public static let databaseNotFound = Code(
      "databaseNotFound", "No database has this name", remedy: "Create it in a write transaction")
    /// The file is not an LMDB file.
    public static let invalidFile = Code(
      "invalidFile", "The file is not an LMDB file", remedy: "Check the path, or restore a backup")
    /// The file was written by another version of LMDB's format.
    public static let versionMismatch = Code(
      "versionMismatch", "The file has another version of LMDB's format", remedy: "Use the version that wrote it")
    /// The file contradicts itself.
    public static let corrupted = Code(
      "corrupted", "The file contradicts itself",
      remedy: "Look again in a new transaction; if that finds the same, restore a backup")
    /// An earlier failure left the environment unusable until it is opened again.
    public static let panic = Code(
      "panic", "An earlier failure left the environment unusable", remedy: "Close it and open it again")
    /// The disk failed at the last step of a commit: it may or may not have taken place.
    public static let commitOutcomeUnknown = Code(
      "commitOutcomeUnknown", "The disk failed at the last step of the commit, which may or may not have taken place",
      remedy: "Open the environment again and look")
    /// The name is taken by something that is not a plain database, or the flags differ.
    public static let incompatible = Code(
      "incompatible", "The name belongs to data that is not a plain database", remedy: "Use another name")
    /// Nothing has the given key; the binding turns this into `nil` or `false`.
    static let notFound = Code("notFound", "Nothing has the key", remedy: "Add it first")
    /// The cursor is at no entry.
    public static let notPositioned = Code(
      "notPositioned", "The cursor is not at an entry", remedy: "Move it first, and check the result of the move")
    /// Stored bytes are not what their codec writes.
    public static let undecodable = Code(
      "undecodable", "The stored bytes are not what their codec writes",
      remedy: "Read them with the codec that wrote them")
    /// A value has no encoded form.
    public static let unencodable = Code(
      "unencodable", "The value has no encoded form", remedy: "Store a value that its encoder accepts")
    /// This process has the environment open already, perhaps under another path.
    public static let alreadyOpen = Code(
      "alreadyOpen", "This process has the environment open already", remedy: "Share the open one")
    /// A write transaction was begun inside another one of the same thread, which would wait for itself.
    public static let reentrantWrite = Code(
      "reentrantWrite", "This thread is in a write transaction already and would wait for itself",
      remedy: "Use the transaction that is open")
    /// A write transaction was ended on another thread than it began on.
    public static let wrongThread = Code(
      "wrongThread", "A write transaction must end on the thread it began on",
      remedy: "Begin and end it in one synchronous block; the thread it began on frees it at its next call")
    /// The environment was opened before this process was forked.
    public static let forked = Code(
      "forked", "The environment was opened before this process was forked", remedy: "Open it in the child")
    /// The environment has been closed.
    public static let closed = Code("closed", "The environment is closed", remedy: "Open it again")
    /// Live transactions stand in the way.
    public static let busy = Code("busy", "Live transactions stand in the way", remedy: "End them, then try again")
    /// The disk, or the quota on it, is full.
    public static let diskFull = Code(
      "diskFull", "The disk or the quota on it is full", remedy: "Free some space and try again")
    /// The system refused access.
    public static let permissionDenied = Code(
      "permissionDenied", "The system refused access",
      remedy: "Check owner and permissions of the directory and its files")
    /// A file or directory does not exist.
    public static let noSuchFile = Code("noSuchFile", "The file or directory does not exist", remedy: "Check the path")
    /// A file that is to be created exists.
    public static let fileExists = Code("fileExists", "The file exists already", remedy: "Choose another target")
    /// The environment was opened for reading only, or lies on a read-only filesystem.
    public static let readOnly = Code("readOnly", "The environment can only be read", remedy: "Open it for writing")
    /// The system failed to read or write.
    public static let ioFailure = Code("ioFailure", "The system failed to read or write", remedy: "Check the disk")
    /// An argument is invalid.
    public static let invalidArgument = Code(
      "invalidArgument", "Invalid argument", remedy: "See the documentation of the call")
    /// Memory, or address space, is used up.
    public static let outOfMemory = Code(
      "outOfMemory", "Memory or address space is used up", remedy: "Free some, or open with a smaller map")
    /// Anything else; see `returnCode`.
    public static let other = Code("other", "The call failed", remedy: "See the return code")
  }
}
