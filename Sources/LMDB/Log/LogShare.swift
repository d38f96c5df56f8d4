import Synchronization
import SystemPackage
import TallySystem

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The file `log.lock` next to a data file: the shared block, and the locks *opening*, *in use*, *writing* and *turn*
/// (L1).
///
/// The fifth lock, *merging*, is the environment's own order of writers. All locks end with their process. The file is
/// removed with the log.
final class LogShare: Sendable {
  static let fileName = "log.lock"

  /// The bytes of the file's locks; they lie beyond its end.
  private enum Byte: Int {
    case opening = 0x1_0000_0000
    case inUse, writing
  }

  /// The lock of the process that appends.
  ///
  /// All threads of a process share it; `State.isTurnTaken` keeps them apart.
  let turn: FileLock
  private let path: FilePath
  private let descriptor: FileDescriptor
  private let block: SharedBlock
  private let owner: Int32
  /// Whether nobody else had the store open when this one opened it.
  let isAlone: Bool
  /// Whether the block was in doubt before whoever is alone cleared it, because a killed process was writing.
  let wasInDoubt: Bool
  private let isReadOnly: Bool

  /// Opens the file, and holds the lock *opening* until ``endOpening()``; clears the block if nobody has the store open (L12).
  ///
  /// Throws `busy` if another process takes too long to open or close the store; `other` if the system has no locks of
  /// descriptors.
  init(
    in directory: FilePath, mode: FilePermissions, isReadOnly: Bool = false, waitLimit: Duration
  ) throws(LMDBError) {
    guard ByteLock.strongestOwner == .descriptor else {
      throw LMDBError(.other, operation: "open the log", message: "The system has no locks that belong to open files")
    }
    path = directory.appending(Self.fileName)
    let file = try Self.openInOpening(path, mode, waitLimit)
    do throws(LMDBError) {
      (turn, isAlone, wasInDoubt, block) = try Self.open(file, at: path)
    } catch {
      Self.release(file)
      try? file.close()
      throw error
    }
    (descriptor, owner, self.isReadOnly) = (file, getpid(), isReadOnly)
  }

  deinit {
    // In a child of a fork the locks are the parent's.
    if getpid() == owner { release() }
    block.unmap()
    try? descriptor.close()
  }

  /// Opens the file, and takes the lock *opening*.
  private static func openInOpening(
    _ path: FilePath, _ mode: FilePermissions, _ waitLimit: Duration
  ) throws(LMDBError) -> FileDescriptor {
    let deadline = ContinuousClock.Instant.after(waitLimit)
    while true {
      let file = try LMDBError.translating("open the log", path) {
        try FileDescriptor.open(
          path, .readWrite, options: [.create, .closeOnExec, .noFollow, .nonBlocking], permissions: mode)
      }
      do throws(LMDBError) {
        try lockOpening(of: file, deadline - .now)
      } catch {
        try? file.close()
        throw error
      }
      // The process that closes the store last removes the file while others wait for its lock.
      if let there = try? FileIdentity(of: path), (try? FileIdentity(of: file)) == there { return file }
      release(file)
      try? file.close()
    }
  }

  private static func open(
    _ file: FileDescriptor, at path: FilePath
  ) throws(LMDBError) -> (FileLock, isAlone: Bool, wasInDoubt: Bool, SharedBlock) {
    try LMDBError.translating("open the log", path) {
      let isAlone = try tryLock(file, .inUse, .exclusive)
      // Only a process that holds the lock `opening` has this one exclusively.
      if !isAlone { _ = try tryLock(file, .inUse, .shared) }
      let hasBlock = try file.stat().size >= Int64(SharedBlock.byteCount)
      let wasInDoubt = try isAlone && hasBlock && SharedBlock.isInDoubt(in: file)
      // The block must have room on the disk: a map of a file that is too short causes a signal instead of an error.
      if isAlone || !hasBlock {
        try file.writeAll(toAbsoluteOffset: 0, [UInt8](repeating: 0, count: SharedBlock.byteCount))
      }
      return (try FileLock(openingExisting: path), isAlone, wasInDoubt, try SharedBlock(of: file))
    }
  }

  private static func lockOpening(of file: FileDescriptor, _ waitLimit: Duration) throws(LMDBError) {
    var growing = GrowingPause(microseconds: 100...5_000)
    let isLocked = try waitForResult(
      until: .after(waitLimit), pausing: { _ in growing.pass() },
      { () throws(LMDBError) -> Bool? in
        try LMDBError.translating("open the log") { try tryLock(file, .opening, .exclusive) ? true : nil }
      })
    if isLocked == nil {
      throw LMDBError(
        .busy, operation: "open the log", message: "Another process is opening or closing the store",
        remedy: "Try again; if it keeps happening, a process may be stopped: resume or end it")
    }
  }

  private static func tryLock(_ file: FileDescriptor, _ byte: Byte, _ mode: FileLock.Mode) throws(Errno) -> Bool {
    do throws(Errno) {
      try ByteLock(file, byte: byte.rawValue, owner: .descriptor).acquire(mode)
      return true
    } catch .wouldBlock {
      return false
    } catch .permissionDenied {
      return false
    }
  }

  /// Lets others open and close the store.
  func endOpening() throws(LMDBError) {
    try LMDBError.translating("open the log") {
      try share()
      try ByteLock(descriptor, byte: Byte.opening.rawValue, owner: .descriptor).release()
    }
  }

  /// Lets other processes have the store open as well; the caller has the lock *opening*.
  private func share() throws(Errno) {
    _ = try Self.tryLock(descriptor, .inUse, .shared)
    if !isReadOnly { _ = try Self.tryLock(descriptor, .writing, .shared) }
  }

  /// Keeps others from opening and closing the store.
  func lockOpening(_ waitLimit: Duration) throws(LMDBError) { try Self.lockOpening(of: descriptor, waitLimit) }

  /// Lets others open and close the store, and have it open.
  func unlockOpening() {
    try? share()
    try? ByteLock(descriptor, byte: Byte.opening.rawValue, owner: .descriptor).release()
  }

  /// Whether no other process has the store open, and none can open it; the caller has the lock *opening*.
  func isLast() -> Bool { (try? Self.tryLock(descriptor, .inUse, .exclusive)) ?? false }

  /// Whether no other process has the store open for writing; the caller has the lock *opening*, and will not write again.
  func isLastWriter() -> Bool { !isReadOnly && (try? Self.tryLock(descriptor, .writing, .exclusive)) ?? false }

  /// Removes the file; the caller is the last process, has the lock *opening*, and releases it next.
  func removeFile() { try? SystemCalls.removeFile(path) }

  /// Removes the file if nobody else had the store open, and there is no log after all.
  func removeFileIfAlone() {
    if isAlone, !isReadOnly { removeFile() }
  }

  /// Releases all locks.
  func release() {
    turn.release()
    Self.release(descriptor)
  }

  private static func release(_ file: FileDescriptor) {
    for byte in [Byte.writing, .inUse, .opening] {
      try? ByteLock(file, byte: byte.rawValue, owner: .descriptor).release()
    }
  }

  // MARK: The turn

  /// How many turns have ended; the number begins again at zero after the largest one.
  var endedTurns: UInt32 { block.endedTurns }

  /// Waits until another turn ends, but no longer than a limit; does not wait if one has ended already.
  func waitForEndOfTurn(after ended: UInt32, atMost limit: Duration) {
    block.sleep(whileEndedTurnsAre: ended, atMost: limit)
  }

  /// Releases the turn; returns how many turns have ended if a process was waiting for it.
  func endTurn() -> UInt32? {
    turn.release()
    return block.endTurn()
  }

  // MARK: The shared block

  /// The last commit that readers may see.
  var published: UInt64 { block[.published] }

  func publish(_ commit: UInt64) { block.raise(.published, to: commit) }

  /// The offset before which no record is needed any more, even after a power cut (L8).
  var safe: UInt64 { block[.safe] }

  func raiseSafe(to offset: UInt64) { block.raise(.safe, to: offset) }

  /// Whether the process that has the turn is writing, or was killed while it wrote (L10), or the log was adopted (L12).
  var isInDoubt: Bool {
    get { block[.doubt] != 0 }
    set { block.set(.doubt, to: newValue ? 1 : 0) }
  }

  /// Marks the log as adopted: it is in doubt, and flushed (L12).
  func setAdopted() { block.set(.doubt, to: 2) }
}

/// Numbers in a file that several processes have mapped.
@safe
private struct SharedBlock: @unchecked Sendable {
  static let byteCount = 4_096

  /// Each number has a cache line of its own.
  enum Number: Int {
    case published, safe, doubt, endedTurns
  }

  // Constant, and aligned to a page; the owner unmaps it when nobody has it.
  private let address: UnsafeMutableRawPointer

  /// Whether a file, which nobody else has open, has a block in doubt because of a write.
  static func isInDoubt(in file: FileDescriptor) throws -> Bool {
    try LogFile.bytes(of: file, count: 8, at: Number.doubt.rawValue * 64) == UInt64(1).storedBytes
  }

  init(of file: FileDescriptor) throws(Errno) {
    // Kept until `unmap`.
    unsafe address = try SystemCalls.map(file, byteCount: Self.byteCount)
  }

  func unmap() {
    // The owner calls this, and is the last to use the map.
    unsafe SystemCalls.unmap(address, byteCount: Self.byteCount)
  }

  private func cell(_ number: Number) -> UnsafeMutablePointer<Atomic<UInt64>> {
    // The cell lies in the block; zero bytes are an atomic number that is zero.
    unsafe (address + number.rawValue * 64).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  // The cells below are in the map, which the owner keeps.

  /// The number on which processes sleep while they wait for the turn.
  private var turns: UnsafeMutablePointer<Atomic<UInt32>> {
    unsafe (address + Number.endedTurns.rawValue * 64).assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  private var word: UnsafeMutablePointer<UInt32> {
    // An atomic number is stored as the number.
    unsafe UnsafeMutableRawPointer(turns).assumingMemoryBound(to: UInt32.self)
  }

  var endedTurns: UInt32 { unsafe turns.pointee.load(ordering: .sequentiallyConsistent) }

  func sleep(whileEndedTurnsAre ended: UInt32, atMost limit: Duration) {
    unsafe SystemCalls.sleep(on: word, while: ended, atMost: limit)
  }

  func endTurn() -> UInt32? {
    let ended = unsafe turns.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
    return unsafe SystemCalls.wakeOne(sleepingOn: word) ? ended : nil
  }

  subscript(number: Number) -> UInt64 { unsafe cell(number).pointee.load(ordering: .sequentiallyConsistent) }

  func set(_ number: Number, to value: UInt64) {
    unsafe cell(number).pointee.store(value, ordering: .sequentiallyConsistent)
  }

  func raise(_ number: Number, to value: UInt64) {
    _ = unsafe cell(number).pointee.max(value, ordering: .sequentiallyConsistent)
  }
}
