import CLMDB
import SystemPackage
import TallySystem

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// liblmdb's lock file, open for as long as its environment is.
///
/// **Room.** liblmdb extends the file without writing to it, and then writes to it through its map, where a full disk is
/// not an error but a signal that ends the process. Readers write to it, too. So the room is reserved before liblmdb maps
/// the file. The file's length is left to liblmdb: its first user sets it, and later users derive the number of readers from
/// it. So the room is reserved even beyond the file's end, and no byte of the file changes.
///
/// **Presence.** Locks on two bytes of the file show that a process has the environment open. A process holds a shared
/// lock on byte 0 for as long as it has the environment open: a process that can lock it exclusively is alone, and
/// clears the table of readers. From its first reader on, a process also holds an exclusive lock on the byte at the
/// offset of its process id: without that lock its readers count as dead. liblmdb takes both as locks of the process,
/// which end when the process closes any descriptor of the file. So `LockFile` holds both as locks of its own
/// descriptor. Where the system has no such locks, it takes both again before each write transaction and each snapshot.
///
/// **Opening.** A process that finds itself alone clears the file, and writes the number of the last commit into it when it
/// has opened the data file. If it is killed in between, liblmdb lets the next process in that waits for byte 0, which then
/// takes the file for one in use, and the last commit for none: its first write would overwrite what has been committed. So
/// processes of this binding open one at a time, under a lock on ``openingByte``: the next one finds itself alone, and clears
/// the file again. A process that uses liblmdb itself may still leave such a file, so each opening compares the two numbers.
package struct LockFile: Sendable {
  private let descriptor: FileDescriptor
  /// The file, whatever its names.
  let identity: FileIdentity
  /// The owner of the two locks: a descriptor or the process.
  private let owner: ByteLock.Owner

  /// The size of one reader.
  ///
  /// The parts of the head take as much, or a little more where mutexes are larger.
  private static let readerSizeInBytes = 64
  /// The largest head that any system has, in readers.
  private static let headSizeInReaders = 3

  /// Opens the file and reserves its room on the disk; `nil` if it cannot be opened, which liblmdb then deals with.
  ///
  /// Throws `diskFull`, `ioFailure`.
  init?(in directory: FilePath, options: LMDBEnvironment.Options) throws(LMDBError) {
    guard !options.isFrozenFile, let file = Self.open(in: directory, options: options) else { return nil }
    (descriptor, owner) = (file, options.lockOwner)
    do throws(LMDBError) {
      identity = try LMDBError.translating("open") { try FileIdentity(of: file) }
      try LMDBError.translating("open") { try Self.reserve(file, forReaders: options.maxReaders) }
    } catch {
      try? file.close()
      throw error
    }
  }

  /// Opens the file as liblmdb does right afterwards.
  private static func open(in directory: FilePath, options: LMDBEnvironment.Options) -> FileDescriptor? {
    // If opened only for reading, liblmdb creates no file where there is nothing to read.
    let dataFile = directory.appending(LMDBEnvironment.dataFileName)
    if options.isReadOnly && (try? dataFile.stat()) == nil { return nil }
    return try? FileDescriptor.open(
      directory.appending(LMDBEnvironment.lockFileName), .readWrite,
      options: [.create, .closeOnExec, .noFollow, .nonBlocking], permissions: options.fileMode)
  }

  private static func reserve(_ file: FileDescriptor, forReaders readerCount: Int) throws {
    let neededBytes = Int64((readerCount + headSizeInReaders) * readerSizeInBytes)
    let status = try file.stat()
    let sizeInBytes = max(neededBytes, status.size)
    // A full disk may have no room to record that nothing has changed.
    if status.sizeAllocated >= sizeInBytes { return }
    try SystemCalls.reserve(sizeInBytes, of: file)
  }
}

extension LockFile {
  /// Beyond the bytes of all process ids.
  package static let openingByte = 0x1_0000_0000
  private static let pausesInMicroseconds: ClosedRange<UInt32> = 100...5_000

  private var opening: ByteLock { ByteLock(descriptor, byte: Self.openingByte, owner: owner) }
  private var presence: ByteLock { ByteLock(descriptor, byte: 0, owner: owner) }
  private var ownReaders: ByteLock { ByteLock(descriptor, byte: Int(getpid()), owner: owner) }

  /// Keeps other processes of this binding from opening the environment.
  ///
  /// Throws `busy` after the limit, `ioFailure`.
  func lockOpening(waitingAtMost limit: Duration) throws(LMDBError) {
    if try tryToLockOpening() { return }
    var growing = GrowingPause(microseconds: Self.pausesInMicroseconds)
    let isLocked = try waitForResult(
      until: .after(limit), pausing: { _ in growing.pass() },
      { () throws(LMDBError) -> Bool? in try tryToLockOpening() ? true : nil })
    guard isLocked == nil else { return }
    throw LMDBError(
      .busy, operation: "open", message: "Another process has been opening the environment for too long",
      remedy: "Try again; if it keeps happening, a process may be stopped: resume or end it")
  }

  private func tryToLockOpening() throws(LMDBError) -> Bool {
    try LMDBError.translating("open") {
      do throws(Errno) {
        try opening.acquire(.exclusive)
        return true
      } catch .wouldBlock {
        return false
      } catch .permissionDenied {
        return false
      }
    }
  }

  /// Lets other processes open the environment.
  func unlockOpening() {
    // Can fail only if the descriptor is not open.
    try? opening.release()
  }

  /// Acquires both locks for an environment that has just been opened, and has no reader yet.
  ///
  /// Throws what beginning a reader throws; `busy` if a process of another process-id namespace has the same id, or if the
  /// lock file names a commit before the last one.
  func acquire(for handle: OpaquePointer) throws(LMDBError) {
    do throws(LMDBError) {
      try unsafe acquireBoth(for: handle)
    } catch {
      // Opening is tried again, and liblmdb would take this process for another one.
      release()
      throw error
    }
  }

  private func acquireBoth(for handle: OpaquePointer) throws(LMDBError) {
    // A process that is opening the environment holds it exclusively for a moment.
    try LMDBError.translating("open") { try presence.acquire(.shared, waiting: true) }
    var reader: OpaquePointer?
    // Read before the reader begins, which may see a later commit.
    let newest = try unsafe Self.newestCommit(of: handle)
    // liblmdb locks the byte of the process when its first reader begins, and never again.
    let result = unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &reader)
    // The other two results come after the lock was taken; the first real reader deals with them.
    guard [MDB_SUCCESS, MDB_READERS_FULL, MDB_MAP_RESIZED].contains(result) else {
      throw LMDBError(returnCode: result, operation: "open")
    }
    if result == MDB_SUCCESS {
      // Begun above, and ended once.
      let named = unsafe mdb_txn_id(reader)
      unsafe mdb_txn_abort(reader)
      // A commit writes its meta page first, and may be killed before it writes its number to the lock file.
      guard newest <= named + 1 else { throw Self.halfMade }
    }
    guard owner == .descriptor else { return }
    try LMDBError.translating("open") {
      // The two kinds exclude each other. There is no reader yet that another process could take for dead in between.
      try ByteLock(descriptor, byte: Int(getpid()), owner: .process).release()
      try ownReaders.acquire(.exclusive)
    }
  }

  /// The number of the newest meta page.
  private static func newestCommit(of handle: OpaquePointer) throws(LMDBError) -> Int {
    // The handle is open; the call writes into the local.
    var information = unsafe MDB_envinfo()
    try LMDBEnvironment.check(unsafe mdb_env_info(handle, &information), "open")
    return unsafe information.me_last_txnid
  }

  /// Opening is first tried again: the process that finds this closes the environment, and the process that is then
  /// alone makes a new file.
  private static var halfMade: LMDBError {
    LMDBError(
      .busy, operation: "open", message: "Another program was killed while it opened the store",
      remedy: "End all programs that have the store open, then open it again",
      returnCode: Errno.resourceTemporarilyUnavailable.rawValue)
  }

  /// Takes both locks again if they belong to the process, because anything in it may have ended them.
  ///
  /// Throws `ioFailure`.
  func renew() throws(LMDBError) {
    guard owner == .process else { return }
    try LMDBError.translating("lock") {
      try presence.acquire(.shared, waiting: true)
      try ownReaders.acquire(.exclusive)
    }
  }

  /// Releases both locks and closes the file, when the environment has been closed.
  func close() {
    // A child that is about to run another program may share the descriptor for a moment longer.
    release()
    unlockOpening()
    // Nothing was written that closing could fail to write.
    try? descriptor.close()
  }

  private func release() {
    // Closing the environment has ended those of the process.
    guard owner == .descriptor else { return }
    // Can fail only if the descriptor is not open.
    try? presence.release()
    try? ownReaders.release()
  }

  /// Closes the file in a child of a fork, which would otherwise keep the locks of its parent beyond the parent's end.
  func closeInChild() {
    try? descriptor.close()
  }
}
