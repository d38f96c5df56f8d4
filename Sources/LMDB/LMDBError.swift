import CLMDB
import SystemPackage

/// A failure in the binding or in liblmdb, in words for a person and as a code for a program.
///
/// No key and no value ever appears in an error: they may be private.
public struct LMDBError: Error, Sendable {
  /// The kind of failure; compare it with the constants.
  public var code: Code { storage.code }
  /// The operation, such as `put` or `begin write`.
  public var operation: String { storage.operation }
  /// The fault, as one sentence without a full stop.
  public var message: String { storage.message }
  /// The remedy, as one sentence without a full stop.
  public var remedy: String { storage.remedy }
  /// The code liblmdb or the system returned; 0 if the binding found the fault itself.
  public var returnCode: Int32 { storage.returnCode }
  /// The error that caused this one, such as the error of a decoder, without the values that it quoted.
  public var cause: (any Error)? { storage.cause }

  /// One word instead of five fields: an error of this size travels in a register, so that functions which throw it
  /// cost their callers nothing while nothing is thrown.
  private let storage: Storage

  /// Creates an error; a text that is left out comes from the code.
  public init(
    _ code: Code,
    operation: String,
    message: String? = nil,
    remedy: String? = nil,
    returnCode: Int32 = 0,
    cause: (any Error)? = nil
  ) {
    storage = Storage(
      code: code,
      operation: operation,
      message: message ?? code.message,
      remedy: remedy ?? code.remedy,
      returnCode: returnCode,
      cause: cause
    )
  }

  private final class Storage: Sendable {
    let code: Code
    let operation: String
    let message: String
    let remedy: String
    let returnCode: Int32
    let cause: (any Error)?

    init(
      code: Code, operation: String, message: String, remedy: String, returnCode: Int32, cause: (any Error)?
    ) {
      self.code = code
      self.operation = operation
      self.message = message
      self.remedy = remedy
      self.returnCode = returnCode
      self.cause = cause
    }
  }
}

extension LMDBError: CustomStringConvertible {
  /// The operation, the message, then the remedy.
  public var description: String {
    let suffix = returnCode == 0 ? "" : " [\(returnCode)]"
    return "\(operation): \(message)\(suffix). \(remedy)."
  }
}

extension LMDBError {
  /// The error of a codec that was given bytes it did not write.
  public static func undecodable(_ type: String, byteCount: Int, cause: (any Error)? = nil) -> LMDBError {
    LMDBError(
      .undecodable, operation: "decode", message: "\(byteCount) bytes are not an encoded \(type)", cause: cause)
  }
}

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
    /// A value is too long, or its codec wrote a different number of bytes than it announced.
    public static let badValueSize = Code(
      "badValueSize", "The value is too long, or its codec wrote more or fewer bytes than it announced",
      remedy: "Check encodedByteCount")
    /// The transaction failed before, and can only be aborted.
    public static let badTransaction = Code(
      "badTransaction", "The transaction failed before", remedy: "Abort it and begin again")
    /// The database handle belongs to another environment, its opening transaction was aborted, or the database was
    /// dropped.
    public static let badDatabase = Code(
      "badDatabase",
      "The handle belongs to another environment, the transaction that opened it was aborted, or the database was dropped",
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
    /// This process has the environment open already, perhaps under another path.
    public static let alreadyOpen = Code(
      "alreadyOpen", "This process has the environment open already", remedy: "Share the open one")
    /// A write transaction was begun inside another one of the same thread, which would wait for itself.
    public static let reentrantWrite = Code(
      "reentrantWrite", "This thread is in a write transaction already and would wait for itself",
      remedy: "Use the transaction that is open")
    /// A write transaction was ended on a different thread than the one it began on.
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
    /// A file that should be created exists already.
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

extension LMDBError {
  /// Creates the error of a return code; the only place where codes of liblmdb and of the system get their meaning.
  ///
  /// The corresponding C function is `mdb_strerror`.
  init(returnCode: Int32, operation: String, message: String? = nil, path: FilePath? = nil) {
    let code = Code.ofLibrary(returnCode) ?? Code.ofSystem(returnCode)
    var text = message
    if text == nil, code == .other, let description = unsafe mdb_strerror(returnCode) {
      // liblmdb's texts are constants or strerror's buffer, so they are copied at once.
      text = unsafe String(cString: description)
    }
    let isOnReadOnlyMount = returnCode == Errno.readOnlyFileSystem.rawValue
    if isOnReadOnlyMount { text = "The filesystem is mounted for reading only" }
    if let path { text = "\(text ?? code.message): \(path)" }
    self.init(
      code, operation: operation, message: text,
      remedy: isOnReadOnlyMount ? "Mount it for writing, or use another path" : nil, returnCode: returnCode)
  }

  /// Runs a body and translates errors of the system, whose message then names the path if there is one; errors of this
  /// type pass unchanged.
  static func translating<R>(
    _ operation: String, _ path: FilePath? = nil, _ body: () throws -> R
  ) throws(LMDBError) -> R {
    do {
      return try body()
    } catch let error as Errno {
      throw LMDBError(returnCode: error.rawValue, operation: operation, path: path)
    } catch {
      throw error as? LMDBError ?? LMDBError(.other, operation: operation, cause: error)
    }
  }
}

extension LMDBError.Code {
  fileprivate static func ofLibrary(_ returnCode: Int32) -> LMDBError.Code? {
    switch returnCode {
    case MDB_KEYEXIST: .keyExists
    case MDB_NOTFOUND: .notFound
    case MDB_PAGE_NOTFOUND, MDB_CORRUPTED, MDB_CURSOR_FULL, MDB_PAGE_FULL: .corrupted
    case MDB_PANIC: .panic
    case MDB_VERSION_MISMATCH: .versionMismatch
    case MDB_INVALID: .invalidFile
    case MDB_MAP_FULL: .mapFull
    case MDB_DBS_FULL: .databasesFull
    case MDB_READERS_FULL: .readersFull
    case MDB_TXN_FULL: .transactionFull
    case MDB_MAP_RESIZED: .mapResized
    case MDB_INCOMPATIBLE: .incompatible
    case MDB_BAD_TXN: .badTransaction
    // The length of a key was checked before, so liblmdb can only have refused a value.
    case MDB_BAD_VALSIZE: .badValueSize
    case MDB_BAD_DBI: .badDatabase
    default: nil
    }
  }

  fileprivate static func ofSystem(_ returnCode: Int32) -> LMDBError.Code {
    switch Errno(rawValue: returnCode) {
    case .noSpace, .diskQuotaExceeded: .diskFull
    case .permissionDenied, .notPermitted: .permissionDenied
    case .noSuchFileOrDirectory, .notDirectory: .noSuchFile
    case .fileExists: .fileExists
    case .readOnlyFileSystem: .readOnly
    case .ioError, .fileTooLarge, .badFileDescriptor: .ioFailure
    case .invalidArgument: .invalidArgument
    case .noMemory: .outOfMemory
    case .resourceTemporarilyUnavailable, .resourceBusy, .interrupted: .busy
    default: .other
    }
  }
}
