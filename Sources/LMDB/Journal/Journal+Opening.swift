import CLMDB
import SystemPackage
import TallySystem

extension Journal {
  /// Opens the journal of an environment that is about to be opened, creates it where it is missing, and recovers the
  /// data file after a crash.
  ///
  /// - Returns: The journal; `nil` if the environment has none and this process may not create one.
  /// - Throws: `busy` where another process recovers it for too long; `readOnly` where recovery is needed and nothing
  ///   can be written; `corrupted`, `diskFull`, `ioFailure`.
  static func open(
    in directory: FilePath, options: LMDBEnvironment.Options, journal: JournalOptions, turn: FileLock?
  ) throws -> Journal? {
    if options.isReadOnly {
      guard let file = try openForReading(in: directory) else { return nil }
      defer { file.close() }
      guard try file.newestHeader().header.state == .dirty else { return nil }
    } else if (try? directory.appending(JournalFile.fileName).stat()) == nil {
      try create(in: directory, options: options, journal: journal, turn: turn)
    }
    guard let file = try openForWriting(in: directory) else { return nil }
    do {
      let presence = try FileLock(opening: directory.appending(JournalFile.fileName))
      let opened = try Journal(directory, options: options, journal: journal, file: file, presence: presence)
      try opened.enter(options)
      return opened
    } catch {
      file.close()
      throw error
    }
  }

  private static func openForReading(in directory: FilePath) throws -> JournalFile? {
    try JournalFile(in: directory, readOnly: true)
  }

  private static func openForWriting(in directory: FilePath) throws -> JournalFile? {
    do {
      return try JournalFile(in: directory)
    } catch let error as Errno where error == .readOnlyFileSystem || error == .permissionDenied {
      throw LMDBError(
        .readOnly, operation: "open", message: "The file was not closed, and cannot be recovered where it is",
        remedy: "Open it once for writing, or copy its directory to where that is possible", returnCode: error.rawValue)
    }
  }

  /// Creates the file, one process at a time.
  private static func create(
    in directory: FilePath, options: LMDBEnvironment.Options, journal: JournalOptions, turn: FileLock?
  ) throws {
    // A process may be stopped in the middle of a write.
    let limit = options.writeWaitLimit ?? options.waitLimit
    let isTurn = try waitForResult(until: .after(limit), pausing: { _ in pause(microseconds: 1_000) }) {
      (try turn?.tryAcquire(.exclusive) ?? true) ? true : nil
    }
    if isTurn == nil {
      throw LMDBError(
        .busy, operation: "open", message: "Another process has been writing for too long",
        remedy: "Try again; if it keeps happening, a process may be stopped: resume or end it")
    }
    defer { turn?.release() }
    guard (try? directory.appending(JournalFile.fileName).stat()) == nil else { return }
    // An empty file is a new one for liblmdb; created here, its name is flushed with that of the journal.
    let data = try FileDescriptor.open(
      directory.appending(LMDBEnvironment.dataFileName), .readWrite, options: [.create, .closeOnExec],
      permissions: options.fileMode)
    // Its commits so far may have been made without a flush.
    try data.closeAfter { try SystemCalls.flush(data) }
    try JournalFile.create(in: directory, options: journal, permissions: options.fileMode)
  }

  /// Enters the processes that have the environment open: beside others, or after recovery, alone (R11).
  private func enter(_ options: LMDBEnvironment.Options) throws {
    let entered = try waitForResult(
      until: .after(waitLimit), pausing: { _ in pause(microseconds: UInt32.random(in: 500...2_500)) },
      { () throws -> Bool? in
        if try presence.tryAcquire(.exclusive) {
          defer { presence.release() }
          try recover(options)
        }
        guard try presence.tryAcquire(.shared) else { return nil }
        // Others may have been here in between: then somebody has recovered it since the system started.
        if try file.shared()?.boot == boot { return true }
        presence.release()
        return nil
      })
    if entered == nil {
      throw LMDBError(
        .busy, operation: "open", message: "Another process has been recovering the file for too long",
        remedy: "Try again; if it keeps happening, a process may be stopped: resume or end it")
    }
  }
}
