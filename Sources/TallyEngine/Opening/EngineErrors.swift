package import LMDB
package import SystemPackage
package import TallySystem

extension TallyError {
  /// Translates an error of the storage into what it means for the user of a store.
  package init(_ error: LMDBError) {
    let (code, remedy) = Self.meaning(of: error)
    self.init(code, Self.message(of: error, code), remedy: remedy ?? error.remedy, cause: error)
  }

  /// The message for the user of a store, who need not know what an environment is.
  ///
  /// It says that the storage failed only if the storage is the cause.
  private static func message(of error: LMDBError, _ code: Code) -> String {
    switch error.code {
    case .alreadyOpen: "This process has the store open already, perhaps under another path"
    case .reentrantWrite: "This thread is in a write of the store already and would wait for itself"
    case .closed: "The store has been closed"
    case .forked: "The store was opened before this process was forked"
    case .badTransaction: "An earlier error of this transaction was ignored"
    case .readOnly where error.message == LMDBError(.readOnly, operation: "").message:
      "The store has been opened for reading only"
    case .badDatabase: "A table of the store was used after its opening was undone"
    case .panic: "The storage failed: An earlier failure of the disk left the store unusable"
    case .badKeySize, .badValueSize, .readersFull, .wrongThread, .invalidArgument,
      .keyExists, .notPositioned, .databasesFull, .permissionDenied, .readOnly, .noSuchFile, .fileExists, .invalidFile,
      .incompatible, .versionMismatch:
      error.message
    default: (code == .storeBusy ? "The store is busy: " : "The storage failed: ") + error.message
    }
  }

  /// Runs a closure and turns errors of the storage into errors of this type; other errors pass unchanged.
  package static func translating<R: ~Copyable>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as LMDBError {
      throw TallyError(error)
    }
  }

  private static func meaning(of error: LMDBError) -> (code: Code, remedy: String?) {
    switch error.code {
    case .alreadyOpen: (.alreadyOpen, "Open a directory once and share the store; any thread may use it")
    case .reentrantWrite: (.reentrantTransaction, "Do all the work in the outer closure, with its transaction")
    case .closed: (.storeClosed, "Open it again")
    case .forked: (.storeClosed, "Open it in the child")
    case .badTransaction: (.storageFailed, "Let storage errors leave the closure; nothing was changed")
    case .busy, .mapResized: (.storeBusy, nil)
    case .readersFull: (.readersFull, nil)
    case .diskFull: (.diskFull, "Free some space, then try again; deleting may work even so")
    case .mapFull:
      (
        .storageFailed,
        "End long reads; if there are none, delete something and compact the full store"
      )
    case .permissionDenied, .readOnly: (.permissionDenied, nil)
    case .invalidFile, .incompatible: (.notAStore, "Give the directory of a Tally store")
    case .databaseNotFound: (.damagedStore, "Repair the store, or restore a backup")
    case .versionMismatch: (.newerFormat, "Use a newer version of Tally")
    case .corrupted: (.damagedStore, "Restore a backup, or keep an export of what can be read")
    case .undecodable: (.damagedStore, nil)
    case .panic: (.storageFailed, "Try again; the next call opens the store again")
    case .commitOutcomeUnknown: (.outcomeUnknown, "Check whether the change is there; the next call reopens the store")
    case .badKeySize: (.invalidKey, nil)
    case .badValueSize: (.valueOutOfRange, "Shorten the text")
    case .invalidArgument: (.valueOutOfRange, nil)
    default: (.storageFailed, nil)
    }
  }
}

extension TallyError {
  package static let lostSnapshot = TallyError(
    .storeBusy, "Another program has ended the snapshot that was read",
    remedy: "Try again; if it keeps happening, end other programs that use the file with liblmdb itself")
}

extension AtomicFile {
  /// Creates the temporary file.
  ///
  /// - Throws: `outputNotCreated` if the path is a directory, a device, a pipe or a file of a store, or if its
  ///   directory does not exist or is not writable; `diskFull`.
  package static func create(replacing target: FilePath) throws -> AtomicFile {
    try StoreFiles.refuseAsOutput(target)
    return try TallyError.replacing(TallyError.unwritableOutput) { try AtomicFile(replacing: target) }
  }

  /// Publishes the file.
  ///
  /// - Throws: `diskFull` or `outputNotCreated`; `storageFailed` if the file is in place but its name was not flushed.
  package consuming func commit() throws {
    do {
      try publish()
    } catch {
      throw TallyError.unwritableOutput(error)
    }
  }
}

extension TallyError {
  package static func outputNotCreated(_ message: String, cause: (any Error)? = nil) -> TallyError {
    TallyError(
      .outputNotCreated, message, remedy: "Give the path of a file, new or old, in a directory that you may write to",
      cause: cause)
  }

  /// Flushes a directory as the last step of an operation.
  ///
  /// - Throws: `storageFailed`; its message names the operation that was finished.
  package static func flush(_ directory: FilePath, after done: String) throws {
    try replacing({ notFlushed(done, $0) }) { try SystemCalls.flushDirectory(directory) }
  }

  private static func notFlushed(_ done: String, _ cause: any Error) -> TallyError {
    TallyError(
      .storageFailed, "\(done), but the disk did not confirm it: after a power cut it may be undone",
      remedy: "Check the disk, then do it again", cause: cause)
  }

  /// The error for an output that could not be created, written, flushed or renamed.
  package static func unwritableOutput(_ cause: any Error) -> TallyError {
    if cause is AtomicFile.NotAFile { return outputNotCreated("The output path is not the path of a file") }
    if let cause = cause as? AtomicFile.NotFlushed {
      return notFlushed("The file is complete and in its place", cause.cause)
    }
    return switch cause as? Errno {
    case .noSpace?, .diskQuotaExceeded?:
      TallyError(
        .diskFull, "The disk of the output is full", remedy: "Free some space, or write to another disk", cause: cause)
    case let errno?: outputNotCreated("The output cannot be written: \(errno)", cause: cause)
    case nil: outputNotCreated("The output cannot be written", cause: cause)
    }
  }
}
