import CLMDB
public import SystemPackage
import TallySystem

extension LMDBEnvironment {
  /// Writes a consistent copy into another directory while readers and writers continue.
  ///
  /// The directory must exist and hold no environment. When this returns the copy is on the disk; if it throws, no file
  /// is left. The copy is a long reader: pages freed meanwhile cannot be used again until it is done.
  ///
  /// Compacting leaves free pages out and renumbers the others, which takes longer, and restarts transaction ids.
  ///
  /// Throws `fileExists` if the target has an environment; `reentrantWrite` within this thread's write transaction,
  /// whose lock copying needs; `diskFull`, `noSuchFile`, `permissionDenied`, `ioFailure`; `incompatible` if a compacting
  /// copy finds that pages were lost; `closed`, `forked`, `busy`.
  ///
  /// The corresponding C function is `mdb_env_copyfd2`.
  public func copy(to directory: FilePath, compacting: Bool = false) throws(LMDBError) {
    let file = directory.appending(Self.dataFileName)
    let tail = try tailForCopy()
    let descriptor = try create(file)
    do throws(LMDBError) {
      // After a successful flush closing has nothing left to report.
      defer { try? descriptor.close() }
      try copy(into: descriptor, of: file, compacting: compacting)
      if let tail { try add(tail, toCopyIn: directory) }
      try LMDBError.translating("copy", file) {
        try SystemCalls.flush(descriptor)
        // The name of the file is in the directory, which is flushed on its own.
        try SystemCalls.flushDirectory(directory)
      }
    } catch {
      // The file is ours: it was created here and by nobody else. The first error explains more than a failure here.
      try? SystemCalls.removeFile(file)
      throw error
    }
  }

  /// The commits that a copy of the tree may lack; `nil` if it lacks none.
  ///
  /// An environment that may write brings them into the tree first, if its disk has room.
  private func tailForCopy() throws(LMDBError) -> LogOverlay? {
    guard let log else { return nil }
    if !options.isReadOnly {
      do throws(LMDBError) {
        try log.merge()
        return nil
      } catch {
        guard error.isLackOfRoom else { throw error }
      }
    }
    let reader = try log.beginReader()
    defer { endRead(reader) }
    return reader.overlay
  }

  /// Adds commits to a copy, which becomes a plain environment.
  private func add(_ tail: LogOverlay, toCopyIn directory: FilePath) throws(LMDBError) {
    var options = Options()
    options.maxDatabases = self.options.databaseCapacity
    options.fileMode = self.options.fileMode
    try LMDBError.translating("copy") {
      let target = try LMDBEnvironment(path: directory, options: options)
      defer { try? target.close() }
      try target.write { try log?.add(tail, toCopyIn: $0.core) }
      try target.close()
      try SystemCalls.removeFile(directory.appending(Self.lockFileName))
    }
  }

  private func create(_ file: FilePath) throws(LMDBError) -> FileDescriptor {
    try checkProcess("copy")
    return try LMDBError.translating("copy", file) {
      try FileDescriptor.open(
        file,
        .writeOnly,
        options: [.create, .exclusiveCreate, .closeOnExec],
        permissions: options.fileMode
      )
    }
  }

  /// Lets liblmdb write the copy.
  private func copy(
    into descriptor: FileDescriptor, of file: FilePath, compacting: Bool
  ) throws(LMDBError) {
    let thread = currentThread()
    while true {
      let result = try whileOpen("copy") { () throws(LMDBError) -> Int32 in
        guard state.withLock({ $0.writer != thread }) else { throw LMDBError(.reentrantWrite, operation: "copy") }
        // The descriptor stays open during the call, and liblmdb does not keep it.
        return unsafe mdb_env_copyfd2(handle, descriptor.rawValue, compacting ? UInt32(MDB_CP_COMPACT) : 0)
      }
      // Nothing has been written yet when the map turns out to be too small.
      guard result == MDB_MAP_RESIZED else { return try Self.check(result, "copy", file) }
      try adoptMapSize()
    }
  }
}

extension LMDBEnvironment {
  /// Writes all databases into another directory, entry by entry in the order of their keys, which leaves full pages.
  ///
  /// ```swift
  /// try environment.rewrite(to: "/var/backups/full")
  /// ```
  ///
  /// If keys were inserted in no order, pages are a half to two thirds full, and a compacting copy
  /// (``copy(to:compacting:)``) leaves them so.
  ///
  /// The directory must exist and hold no environment. When this returns the new environment is on the disk and closed;
  /// if it throws, no file is left. The snapshot that is read is a long one, as with a copy.
  ///
  /// Throws `fileExists` if the target has an environment; `incompatible` if this one holds anything other than plain
  /// databases, which only another program can have written; `databasesFull` if it has more of them than can be open;
  /// `corrupted` if keys are out of order; `diskFull`, `noSuchFile`, `permissionDenied`, `ioFailure`; `reentrantWrite`
  /// within this thread's write transaction; `closed`, `forked`, `busy`.
  ///
  /// The corresponding C function is `mdb_cursor_put` with `MDB_APPEND`.
  ///
  /// - Complexity: every entry is written once, in transactions of a few megabytes.
  public func rewrite(to directory: FilePath) throws {
    try checkProcess("rewrite")
    guard state.withLock({ $0.writer != currentThread() }) else {
      throw LMDBError(.reentrantWrite, operation: "rewrite")
    }
    let file = directory.appending(Self.dataFileName)
    // liblmdb takes an empty file for a new environment.
    try LMDBError.translating("rewrite", file) { try SystemCalls.createFile(file, permissions: options.fileMode) }
    do {
      try rewriteDatabases(to: directory)
      // The names of the files are in the directory, which is flushed on its own.
      try LMDBError.translating("rewrite", directory) { try SystemCalls.flushDirectory(directory) }
    } catch {
      // The files are ours: the first one was created here and by nobody else.
      for name in [Self.dataFileName, Self.lockFileName] { try? SystemCalls.removeFile(directory.appending(name)) }
      throw error
    }
  }

  private func rewriteDatabases(to directory: FilePath) throws {
    var options = Options()
    options.maxDatabases = self.options.databaseCapacity
    options.fileMode = self.options.fileMode
    let tail = try tailForCopy()
    let target = try LMDBEnvironment(path: directory, options: options)
    // After the other call there is nothing left to report.
    defer { try? target.close() }
    var databases: [(name: String, database: DatabaseHandle)] = []
    let reader = try beginRead(opening: &databases)
    var place = RewritingPlace()
    while place.index < databases.count {
      place = try target.write { try $0.core.append(databases, from: place, in: reader.core) }
    }
    if let tail { try target.write { try log?.add(tail, toCopyIn: $0.core) } }
    try target.close()
  }

  /// Begins a read transaction after all databases that it can see have been opened.
  private func beginRead(
    opening databases: inout [(name: String, database: DatabaseHandle)]
  ) throws(LMDBError) -> ReadTransaction {
    while true {
      let reader = ReadTransaction(environment: self, core: try beginTreeReader())
      let names = try reader.namesOfDatabasesOnly()
      if names == databases.map(\.name) { return reader }
      databases = try names.map { (name) throws(LMDBError) in (name, try openDatabase(named: name)) }
    }
  }
}

/// How far the databases of another environment have been written.
private struct RewritingPlace {
  /// How much is written in one transaction; its pages are held in memory.
  static let sizeInBytes = 8 << 20

  /// The database, by its index.
  var index = 0
  /// The key of its next entry; `nil` at its beginning.
  var key: [UInt8]?
}

extension TransactionCore {
  /// Appends databases of another environment from a place on until they have a size, and returns the next place.
  fileprivate func append(
    _ databases: [(name: String, database: DatabaseHandle)], from place: RewritingPlace, in reader: TransactionCore
  ) throws(LMDBError) -> RewritingPlace {
    var place = place
    var byteCount = 0
    while place.index < databases.count {
      let (name, source) = databases[place.index]
      let cursor = try CursorHandle(of: source, in: reader)
      // Its transaction outlives it.
      defer { cursor.close() }
      let target = try openDatabase(named: name, creating: true)
      place.key = try append(&byteCount, from: place.key, of: cursor, to: target)
      if place.key != nil { return place }
      place.index += 1
    }
    return place
  }

  /// Appends entries from a key on until all have a size, and returns the key of the next one.
  private func append(
    _ byteCount: inout Int, from start: [UInt8]?, of source: CursorHandle, to target: DatabaseHandle
  ) throws(LMDBError) -> [UInt8]? {
    let cursor = try CursorHandle(of: target, in: self)
    // The cursor is not used afterwards, and the transaction is still live when it is closed.
    defer { cursor.close() }
    // What a move finds stays where it is: the snapshot that it belongs to is not written.
    var entry = unsafe try source.moveToFirst(atOrAfter: start)
    while let (key, value) = unsafe entry {
      guard byteCount < RewritingPlace.sizeInBytes else { return unsafe [UInt8](key) }
      guard let room = unsafe try reserve(value.count, for: key, .append, in: target, by: cursor) else {
        throw LMDBError(.corrupted, operation: "rewrite", message: "The keys of a database are out of order")
      }
      unsafe room.copyMemory(from: value)
      byteCount += key.count + value.count
      unsafe entry = try source.move(.next, key: UnsafeRawBufferPointer(start: nil, count: 0))
    }
    return nil
  }
}

extension LMDBEnvironment {
  /// Whether every page that the last commit needs lies inside the file.
  ///
  /// The last page a commit counts may lie beyond the file's end: liblmdb does not write pages that were allocated and
  /// freed within one transaction, it only lists them as free. A file is cut off if a page beyond its end is not on that
  /// list. The list is read from the file and not through the map, where a missing page kills the process.
  ///
  /// Throws `closed`, `forked`, `corrupted`, `ioFailure`.
  ///
  /// - Complexity: a few system calls; where pages lie beyond the end, the length of the list of free pages.
  package func isFileComplete() throws(LMDBError) -> Bool {
    try withSnapshotPage { reader, meta in
      var walk = try PageWalk(reader: reader, meta: meta)
      if walk.pageCount > meta.lastPage { return true }
      let missing = walk.pageCount...meta.lastPage
      var freePages: Set<Int> = []
      do {
        try walk.forEachFreePage { _, number in if missing.contains(number) { freePages.insert(number) } }
      } catch let error as LMDBError where error.code == .corrupted {
        // The list itself is not whole.
        return false
      }
      return freePages.count == missing.count
    }
  }

  /// Whether the file has no name any more, so that it and all commits to it are gone when it is closed.
  ///
  /// The corresponding C functions are `mdb_env_get_fd` and `fstat`.
  package func isFileRemoved() throws(LMDBError) -> Bool {
    try whileOpen("look at the file") { () throws(LMDBError) in
      // The environment is open.
      let descriptor = try unsafe Self.descriptor(of: handle)
      return try LMDBError.translating("look at the file") { try descriptor.stat().linkCount == 0 }
    }
  }
}
