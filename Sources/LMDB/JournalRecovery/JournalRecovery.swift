import CLMDB
package import SystemPackage
import TallySystem

/// Brings a data file that was left with a journal up to its last commit, and marks it as a plain one.
///
/// Versions up to 0e4248f could commit without liblmdb's flushes: they flushed one record to a file next to the data
/// file instead. The data file was then *dirty* until a checkpoint flushed it. After a power cut, a dirty file counts
/// only up to its steady commit, whose meta page is in the journal's header; the records repeat the commits since then.
/// This version writes no journal. "What a journal has left" in `docs/binding.md` has the rules (R1 to R8), to which
/// the comments here refer.
package struct JournalRecovery {
  private let directory: FilePath
  private let options: LMDBEnvironment.Options
  private let file: JournalFile
  private let dataFile: FileDescriptor
  private let boot = BootIdentity.current

  private static let recordsPerCommit = 16
  private static let pausesInMicroseconds: ClosedRange<UInt32> = 500...2_500

  /// The names of the journal's file: when it is whole, and while it is being made.
  package static let fileNames = [JournalFile.fileName, "journal.tmp"]

  /// Whether a directory has a journal, whole or not.
  package static func isThere(in directory: FilePath) -> Bool {
    fileNames.contains { (try? directory.appending($0).stat(followTargetSymlink: false)) != nil }
  }

  /// Whether a directory's journal is missing or clean; nobody may have the environment open.
  package static func isClean(in directory: FilePath) throws(LMDBError) -> Bool {
    try LMDBError.translating("look at the journal") {
      guard let file = try JournalFile(in: directory, readOnly: true) else { return true }
      defer { file.close() }
      return try file.newestHeader().header.state == .clean
    }
  }

  /// Removes the journal of a clean data file, or of one that cannot be recovered; does nothing where there is none.
  package static func removeFiles(in directory: FilePath) throws {
    let paths = fileNames.map { directory.appending($0) }.filter { (try? $0.stat(followTargetSymlink: false)) != nil }
    guard !paths.isEmpty else { return }
    for path in paths { try SystemCalls.removeFile(path) }
    try SystemCalls.flushDirectory(directory)
  }

  /// Recovers the data file of an environment that is about to be opened, unless it is clean or other processes have it open.
  ///
  /// - Returns: A lock that keeps other processes from recovering the file; the caller holds it until they can see that
  ///   this process has the file open. `nil` if there is nothing to recover.
  /// - Throws: `busy` if another process takes too long to recover it, or if another program holds a file that must be
  ///   recovered; `readOnly` if it must be recovered and nothing can be written; `corrupted`, `diskFull`, `ioFailure`,
  ///   `panic`.
  static func run(in directory: FilePath, options: LMDBEnvironment.Options) throws -> FileLock? {
    guard let found = try JournalFile(in: directory, readOnly: true) else { return nil }
    defer { found.close() }
    // A reader does not change a clean file, so the file may lie where nothing can be written.
    if try options.isReadOnly && found.newestHeader().header.state == .clean { return nil }
    guard let file = try openForWriting(in: directory) else { return nil }
    defer { file.close() }
    let dataFile = try FileDescriptor.open(
      directory.appending(LMDBEnvironment.dataFileName), .readWrite, options: [.closeOnExec])
    return try dataFile.closeAfter {
      try JournalRecovery(directory: directory, options: options, file: file, dataFile: dataFile).enter()
    }
  }

  private static func openForWriting(in directory: FilePath) throws -> JournalFile? {
    do {
      return try JournalFile(in: directory)
    } catch let error as Errno where error == .readOnlyFileSystem || error == .permissionDenied {
      throw LMDBError(
        .readOnly, operation: "open", message: "The file was not closed, and cannot be recovered where it is",
        remedy: "Open it once for writing, or copy its directory to a place where you may write",
        returnCode: error.rawValue)
    }
  }

  /// Recovers alone (R1), or does nothing while processes of an earlier version have the file open: their commits are
  /// in the system's memory, and they share this lock until they close the file.
  private func enter() throws -> FileLock {
    let presence = try FileLock(openingExisting: directory.appending(JournalFile.fileName))
    let isEntered = try waitForResult(
      until: .after(options.writeWaitLimit ?? options.waitLimit),
      pausing: { _ in pause(microseconds: UInt32.random(in: Self.pausesInMicroseconds)) },
      { () throws -> Bool? in
        if try presence.tryAcquire(.exclusive) {
          defer { presence.release() }
          try recover()
        }
        guard try presence.tryAcquire(.shared) else { return nil }
        // Another process may have been here in between. If so, the file has been recovered since the system started.
        if try file.shared()?.boot == boot { return true }
        presence.release()
        return nil
      })
    if isEntered != nil { return presence }
    throw LMDBError(
      .busy, operation: "open", message: "Another process has been recovering the file for too long",
      remedy: "Try again; if it keeps happening, a process may be stopped: resume or end it")
  }

  private func recover() throws {
    let newest = try file.newestHeader()
    // The next steps rely on the header, which a killed process may have written without a flush (R2).
    try file.flush()
    guard newest.header.state == .dirty else {
      return try file.share(.init(generation: newest.header.generation, boot: boot))
    }
    guard try isInUseByOtherProgram(newest.header) else {
      try restore(newest.header)
      return try markClean(after: newest, at: replay(newest.header))
    }
    // After a failed flush, the system's memory may hold data that the disk will never hold (R3).
    guard try file.shared()?.isFailed != true else { throw Self.failedFlush }
    // Otherwise the memory holds all commits, and a reader must not lose them.
    var kept = newest
    kept.header.steadyTransaction = try MetaPage.latest(of: DataFileReader(descriptor: dataFile)).transactionID
    try markClean(after: kept, at: kept.header.position)
  }

  /// Whether another program has the file open with liblmdb itself.
  private func isInUseByOtherProgram(_ header: JournalHeader) throws -> Bool {
    let lock = directory.appending(LMDBEnvironment.lockFileName)
    guard let file = try? FileDescriptor.open(lock, .readWrite, options: .closeOnExec) else { return false }
    // This process has no environment open here, so closing the file releases no lock of liblmdb.
    defer { try? file.close() }
    guard try ByteLock(file, byte: 0, owner: .process).isHeldByOthers() else { return false }
    guard header.boot == boot else {
      throw LMDBError(
        .busy, operation: "open", message: "Another program reads the file, which has not been recovered yet",
        remedy: "End that program, then open the file")
    }
    return true
  }

  /// Puts the steady commit's meta page back, and the same page with the number of the commit before into the other
  /// place (R4).
  private func restore(_ header: JournalHeader) throws {
    guard try rootSum(of: header.meta, pageSizeInBytes: header.pageSizeInBytes) == header.rootSum else {
      throw LMDBError.damagedJournal(
        "It belongs to another data file: remove it if the data file was put there on purpose")
    }
    for place in 0..<2 {
      var meta = header.meta
      let isOlder = header.steadyTransaction & 1 != UInt64(place)
      if isOlder && header.steadyTransaction > 0 {
        let older = header.steadyTransaction - 1
        meta.replaceSubrange(Self.transactionOffset..<Self.transactionOffset + 8, with: older.storedBytes)
      }
      let page = MetaPage.head(ofPage: place) + meta
      try dataFile.writeAll(toAbsoluteOffset: Int64(place * header.pageSizeInBytes), page)
    }
  }

  private static let transactionOffset = JournalHeader.metaByteCount - 8

  /// Flushes the data file, then a header that says that it is clean (R6).
  private func markClean(after newest: (header: JournalHeader, slot: Int), at position: JournalPosition) throws {
    try flushing { try SystemCalls.flushData(dataFile) }
    var header = newest.header
    header.generation += 1
    header.state = .clean
    header.boot = boot
    header.position = position
    try flushing {
      try file.write(header, inSlot: 1 - newest.slot)
      try file.flush()
    }
    try file.share(.init(generation: header.generation, boot: boot))
  }

  /// Runs a body that flushes; after a failure, nobody may trust the bytes that can be read (R3).
  private func flushing(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      if let shared = try? file.shared() {
        // Another process would meet the failure at its next flush in any case.
        try? file.share(.init(generation: shared.generation, boot: shared.boot, isFailed: true))
      }
      throw error
    }
  }

  private static let failedFlush = LMDBError(
    .panic, operation: "write", message: "A flush to the disk has failed",
    remedy: "Close the file in every process, then open it again: opening recovers it")
}

// MARK: Whether a data file belongs to a journal

extension JournalRecovery {
  /// The checksum of the root pages of the trees of a commit.
  ///
  /// The roots of named databases count as far as the names fit into one page.
  private func rootSum(of meta: [UInt8], pageSizeInBytes: Int) throws -> UInt64 {
    let roots = Self.rootOffsets.map { meta.number(at: $0, as: UInt64.self) ?? .max }
    var (sum, names) = (UInt64(1), [UInt8]())
    for root in roots { (sum, names) = try addPage(root, pageSizeInBytes, to: sum) }
    guard let page = try? Page(number: Int(clamping: roots[1]), bytes: names), !page.isBranch else { return sum }
    for node in page.nodes where node.isTree {
      guard let root = TreeRecord(names, at: node.key.upperBound)?.root else { continue }
      (sum, _) = try addPage(UInt64(root), pageSizeInBytes, to: sum)
    }
    return sum
  }

  /// Adds a page to a checksum, and returns its bytes; an empty tree has no page, and so no bytes.
  private func addPage(_ number: UInt64, _ pageSize: Int, to sum: UInt64) throws -> (UInt64, [UInt8]) {
    guard pageSize > 0, let page = Int(exactly: number), page < Int.max / pageSize else {
      return (JournalChecksum.of([number], after: sum), [])
    }
    let bytes = try DataFileReader(descriptor: dataFile).bytes(count: pageSize, at: page * pageSize)
    // Read within the call only.
    return (unsafe bytes.withUnsafeBytes { unsafe JournalChecksum.of($0, after: sum) }, bytes)
  }

  /// The offsets of the roots of the trees of free pages and of names in a meta page.
  private static let rootOffsets = [64, 112]
}

// MARK: Repeating the records

extension JournalRecovery {
  /// Repeats the commits of the records after the steady one, as far as they are whole, and returns where they end (R5).
  private func replay(_ header: JournalHeader) throws -> JournalPosition {
    var options = options
    options.isReadOnly = false
    options.skipsFlushes = true
    let handle = try unsafe LMDBEnvironment.openHandle(path: directory, options: options)
    // The handle was opened above, and only this function uses it.
    defer { unsafe mdb_env_close(handle) }
    var pin: OpaquePointer?
    // The pin keeps the pages of the steady commit, so a crash in the meantime changes nothing (R4). The pin ends
    // before the handle.
    try LMDBEnvironment.check(unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &pin), "pin")
    defer { unsafe mdb_txn_abort(pin) }
    var place = header.position
    var hasMore = true
    while hasMore {
      let start = place
      do {
        (place, hasMore) = try unsafe replaySome(from: start, header, handle)
      } catch let error as LMDBError where error.code == .mapFull {
        place = start
        try unsafe Self.growMap(handle, limit: options.maximumMapSizeInBytes)
      }
    }
    return place
  }

  /// Repeats several commits in one transaction.
  private func replaySome(
    from start: JournalPosition, _ header: JournalHeader, _ handle: OpaquePointer
  ) throws -> (JournalPosition, Bool) {
    guard let first = try file.record(at: start, header) else { return (start, false) }
    var transaction: OpaquePointer?
    try LMDBEnvironment.check(unsafe mdb_txn_begin(handle, nil, 0, &transaction), "replay")
    var next: (payload: [UInt8], end: JournalPosition)? = first
    var (place, count) = (start, 0)
    do {
      while let found = next, count < Self.recordsPerCommit {
        // Begun above.
        try unsafe apply(found.payload, in: transaction)
        place = found.end
        count += 1
        next = try file.record(at: place, header)
      }
    } catch {
      unsafe mdb_txn_abort(transaction)
      throw error
    }
    // The call ends the transaction, whatever it returns.
    try LMDBEnvironment.check(unsafe mdb_txn_commit(transaction), "replay")
    return (place, next != nil)
  }

  private func apply(_ payload: [UInt8], in transaction: OpaquePointer?) throws {
    var reader = JournalChangeReader(payload[...])
    var tables: [String: UInt32] = [:]
    while let change = try reader.next() {
      let table: UInt32
      if let known = tables[change.table] {
        table = known
      } else {
        var opened: UInt32 = 0
        let flags = change.kind == .create ? UInt32(MDB_CREATE) : 0
        try LMDBEnvironment.check(
          unsafe change.table.withCString { unsafe mdb_dbi_open(transaction, $0, flags, &opened) }, "replay")
        table = opened
        tables[change.table] = opened
      }
      // The transaction is the caller's.
      try LMDBEnvironment.check(unsafe Self.apply(change, to: table, in: transaction), "replay")
      if change.kind == .drop { tables[change.table] = nil }
    }
  }

  private static func apply(_ change: JournalChange, to table: UInt32, in transaction: OpaquePointer?) -> Int32 {
    // liblmdb reads both within the calls only.
    unsafe change.key.withUnsafeBytes { key in
      unsafe change.value.withUnsafeBytes { value in
        var (keyBytes, valueBytes) = unsafe (MDB_val(key), MDB_val(value))
        switch change.kind {
        case .table, .create: return MDB_SUCCESS
        case .put: return unsafe mdb_put(transaction, table, &keyBytes, &valueBytes, 0)
        case .remove: return unsafe mdb_del(transaction, table, &keyBytes, nil)
        case .removeAll: return unsafe mdb_drop(transaction, table, 0)
        case .drop: return unsafe mdb_drop(transaction, table, 1)
        }
      }
    }
  }

  private static func growMap(_ handle: OpaquePointer, limit: Int) throws {
    var information = unsafe MDB_envinfo()
    // Only writes into the local.
    unsafe mdb_env_info(handle, &information)
    let size = unsafe information.me_mapsize
    guard size < limit else { throw LMDBError(.mapFull, operation: "replay") }
    // No write is in progress, and the pin never looks into the map.
    try LMDBEnvironment.check(unsafe mdb_env_set_mapsize(handle, min(size * 2, limit)), "replay")
  }
}
