import CLMDB
import SystemPackage

extension LMDBError {
  /// Creates the error of a return code; the only place where codes of liblmdb and of the system get their meaning.
  ///
  /// The corresponding C function is `mdb_strerror`.
  init(returnCode: Int32, operation: String, message: String? = nil, path: FilePath? = nil) {
    let code = Code.ofLibrary(returnCode) ?? Code.ofSystem(returnCode)
    var text = message
    if text == nil, code == .other, let description = unsafe mdb_strerror(returnCode) {
      // liblmdb's texts are constants, or strerror's buffer: copied at once.
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
    // With 1 to 511 bytes checked before, only a value can be what liblmdb refuses.
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
