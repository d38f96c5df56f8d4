import CLMDB
public import SystemPackage
package import TallySystem

extension LMDBEnvironment {
  /// How many times opening is tried while other processes open and close the environment.
  private static let openingAttempts = 10

  /// More would need a lock file of gigabytes.
  private static let maximumReaderCount = 1 << 24
  /// Each transaction carries an array of as many.
  private static let maximumDatabaseCount = 1 << 15

  /// Halving the map must come to an end, and liblmdb does not check the other numbers.
  static func checkNumbers(of options: Options) throws(LMDBError) {
    guard options.mapSizeInBytes > 0, options.minimumMapSizeInBytes > 0,
      (1...maximumReaderCount).contains(options.maxReaders), (0...maximumDatabaseCount).contains(options.maxDatabases)
    else {
      throw LMDBError(
        .invalidArgument, operation: "open",
        remedy: "Give sizes above zero, at most \(maximumReaderCount) readers and \(maximumDatabaseCount) databases")
    }
  }

  /// Creates the directory, if the options ask for that.
  static func createDirectory(_ path: FilePath, options: Options) throws(LMDBError) {
    guard options.createsDirectory, !options.isReadOnly else { return }
    try LMDBError.translating("create the directory", path) {
      try SystemCalls.createDirectories(upTo: path, permissions: .ownerReadWriteExecute)
    }
  }

  /// Whether this process has the environment of a directory or a frozen file open, under any path or name of its files; waits
  /// up to a limit for it to end.
  package static func isOpenInThisProcess(_ path: FilePath, forLongerThan limit: Duration = .zero) -> Bool {
    guard let identity = try? FileIdentity(of: path) else { return false }
    let generation = ForkDetection.generation.current
    // The path itself, too: that of a frozen file is one.
    return !EnvironmentRegistry.waitForEnd(
      of: identity, files: [identity] + files(in: path), generation: generation, atMost: limit)
  }

  /// The data file and the lock file of a directory, if they exist.
  static func files(in directory: FilePath) -> [FileIdentity] {
    [dataFileName, lockFileName].compactMap { try? FileIdentity(of: directory.appending($0)) }
  }

  /// Opens the handle, with smaller maps if the system refuses, and again if another process interferes.
  static func openHandle(path: FilePath, options: Options) throws(LMDBError) -> OpaquePointer {
    // The handle's owner is the environment that asks for it.
    try unsafe tryingToOpen(options) { (mapSizeInBytes) throws(LMDBError) in
      try unsafe openOnce(path: path, options: options, mapSizeInBytes: mapSizeInBytes)
    }
  }

  /// Opens the handle as the only process that does so, and makes this process visible to others.
  static func openAlone(
    path: FilePath, options: Options, _ lockFile: LockFile?, enteredAs entry: UInt64
  ) throws(LMDBError) -> OpaquePointer {
    try lockFile?.lockOpening(waitingAtMost: options.waitLimit)
    defer { lockFile?.unlockOpening() }
    return try unsafe tryingToOpen(options) { (mapSizeInBytes) throws(LMDBError) in
      let handle = try unsafe openOnce(path: path, options: options, mapSizeInBytes: mapSizeInBytes)
      try unsafe announce(handle, lockFile, enteredAs: entry)
      return unsafe handle
    }
  }

  /// Records the files of a handle that has just been opened, and takes the locks that make this process visible to others.
  ///
  /// Closes the handle on failure.
  private static func announce(
    _ handle: OpaquePointer, _ lockFile: LockFile?, enteredAs entry: UInt64
  ) throws(LMDBError) {
    do throws(LMDBError) {
      // All calls end before the handle is closed.
      let descriptor = try unsafe descriptor(of: handle)
      let dataFile = try LMDBError.translating("open") { try FileIdentity(of: descriptor) }
      try EnvironmentRegistry.add(dataFile, lockFile, to: entry)
      try unsafe lockFile?.acquire(for: handle)
    } catch {
      // No other thread has the handle yet.
      unsafe mdb_env_close(handle)
      throw error
    }
  }

  /// Calls a body with the size of the map until it opens the handle or is refused for good.
  static func tryingToOpen<Handle>(
    _ options: Options, _ open: (_ mapSizeInBytes: Int) throws(LMDBError) -> Handle
  ) throws(LMDBError) -> Handle {
    var mapSizeInBytes = options.mapSizeInBytes
    var attempt = 1
    while true {
      do throws(LMDBError) {
        return try open(mapSizeInBytes)
      } catch {
        switch error.returnCode {
        case let code where isMapRefusal(code) && mapSizeInBytes / 2 >= options.minimumMapSizeInBytes:
          mapSizeInBytes /= 2
        case Errno.resourceTemporarilyUnavailable.rawValue, Errno.permissionDenied.rawValue, Errno.interrupted.rawValue:
          // Opening can fail while another process opens or closes; a real refusal fails every time.
          guard attempt < openingAttempts else { throw error }
          pause(microseconds: UInt32.random(in: 500...3_000))
          attempt += 1
        default:
          throw error
        }
      }
    }
  }

  /// Whether a return code may mean that the system refuses a map of that size.
  ///
  /// Linux reports a lack of memory; valgrind, and kernels with a smaller address space, an invalid length. An argument
  /// that liblmdb itself refuses fails with every size, so that it costs some attempts and stays the same error.
  private static func isMapRefusal(_ returnCode: Int32) -> Bool {
    returnCode == Errno.noMemory.rawValue || returnCode == Errno.invalidArgument.rawValue
  }

  /// Opens the handle; on failure it is freed, as liblmdb demands.
  private static func openOnce(
    path: FilePath,
    options: Options,
    mapSizeInBytes: Int
  ) throws(LMDBError) -> OpaquePointer {
    var created: OpaquePointer?
    // liblmdb writes the pointer of an environment of its own, freed below or by `closeHandle`.
    let result = unsafe mdb_env_create(&created)
    guard result == MDB_SUCCESS, let handle = unsafe created else {
      throw LMDBError(returnCode: result, operation: "create the environment")
    }
    do throws(LMDBError) {
      // The handle is ours alone until it is returned; the path lives for the call.
      try unsafe configure(handle, options: options, mapSizeInBytes: mapSizeInBytes)
      var flags = UInt32(MDB_NOTLS)
      if options.isReadOnly { flags |= UInt32(MDB_RDONLY) }
      if options.isFrozenFile { flags |= UInt32(MDB_NOSUBDIR | MDB_NOLOCK) }
      if options.skipsFlushes {
        flags |= UInt32(MDB_NOSYNC)
      } else if options.durability == .noMetaSync {
        flags |= UInt32(MDB_NOMETASYNC)
      }
      let mode = mdb_mode_t(options.fileMode.rawValue)
      let opened = unsafe path.withPlatformString { unsafe mdb_env_open(handle, $0, flags, mode) }
      try check(opened, "open", path)
      // Open since the line above.
      try unsafe hideDescriptorFromChildren(handle)
    } catch {
      // This is required after a failure of mdb_env_open, too; no other thread has the handle yet.
      unsafe mdb_env_close(handle)
      throw error
    }
    return unsafe handle
  }

  private static func configure(
    _ handle: OpaquePointer,
    options: Options,
    mapSizeInBytes: Int
  ) throws(LMDBError) {
    // Only reads the handle, which is not open yet.
    guard unsafe Int(mdb_env_get_maxkeysize(handle)) >= LMDBLimits.keySizeInBytes else {
      throw LMDBError(.incompatible, operation: "open", message: "This liblmdb was built for shorter keys")
    }
    // All three only store a number in a handle that is not open yet.
    try check(unsafe mdb_env_set_mapsize(handle, mapSizeInBytes), "set the map size")
    try check(unsafe mdb_env_set_maxreaders(handle, UInt32(options.maxReaders)), "set the number of readers")
    try check(unsafe mdb_env_set_maxdbs(handle, UInt32(options.databaseCapacity)), "set the number of databases")
  }

  private static func hideDescriptorFromChildren(_ handle: OpaquePointer) throws(LMDBError) {
    // The caller has opened it.
    let descriptor = try unsafe descriptor(of: handle)
    try LMDBError.translating("open") { try SystemCalls.closeOnExecution(descriptor) }
  }

  /// The open data file.
  static func descriptor(of handle: OpaquePointer) throws(LMDBError) -> FileDescriptor {
    var descriptor: Int32 = -1
    // The call only writes into the local it is given.
    try check(unsafe mdb_env_get_fd(handle, &descriptor), "get the descriptor")
    return FileDescriptor(rawValue: descriptor)
  }

  /// Throws unless the code means success.
  static func check(_ returnCode: Int32, _ operation: String, _ path: FilePath? = nil) throws(LMDBError) {
    if returnCode != MDB_SUCCESS { throw LMDBError(returnCode: returnCode, operation: operation, path: path) }
  }
}

extension LMDBEnvironment {
  /// How safe a commit is once the call has returned.
  public enum Durability: Sendable {
    /// It is on the disk.
    case full
    /// A power cut may undo the last commits, as a whole and without damage, until ``LMDBEnvironment/sync(force:)``.
    ///
    /// The corresponding C flag is `MDB_NOMETASYNC`.
    case noMetaSync
  }

  /// How an environment is opened.
  ///
  /// Not offered, each for a reason: `MDB_WRITEMAP` (a full disk kills the process), `MDB_NOSYNC` (a power cut
  /// destroys the file). `MDB_NOTLS` is always on: a reader slot belongs to its transaction, not to a thread.
  public struct Options: Sendable {
    /// How much address space to reserve; the file grows only as it is written.
    public var mapSizeInBytes = 64 << 30
    /// Where the system refuses the reservation, it is halved, down to this size.
    public var minimumMapSizeInBytes = 1 << 26
    /// The size beyond which the map does not grow by itself.
    public var maximumMapSizeInBytes = 1 << 43
    /// How many readers there can be at once, over all processes.
    ///
    /// The process that opens the environment first decides; every process should give the same number. Each takes 64
    /// bytes of the disk.
    public var maxReaders = 1024
    /// How many named databases can be open.
    public var maxDatabases = 32
    /// Whether a missing directory is created, with those above it; each is flushed to the disk.
    ///
    /// Only their owner can enter the created directories (0700). Without this option, a missing directory throws
    /// `noSuchFile`, so that a mistyped path is noticed. The option has no effect where nothing is written.
    public var createsDirectory = false
    /// Whether write transactions are refused and no file is created.
    ///
    /// Readers also write into the lock file, unless the filesystem is mounted for reading only.
    public var isReadOnly = false
    /// Whether the path is that of a file, such as a copy, that nobody changes while it is open; then it is opened for
    /// reading only, without a lock, so that it may lie where nothing can be written.
    ///
    /// Another file may take its name: this environment continues to read the one it opened. The corresponding C flags are
    /// `MDB_NOSUBDIR` and `MDB_NOLOCK`.
    public var isFrozenFile = false
    /// How safe a commit is once the call has returned.
    public var durability = Durability.full
    /// The permissions of files that are created, narrowed by the process's mask.
    public var fileMode: FilePermissions = [.ownerReadWrite]
    /// How long a call waits for this process's own transactions, where it must, before it throws `busy`.
    public var waitLimitInSeconds = 60
    /// How long a write waits for that of another process, or of another thread, before it throws `busy`.
    ///
    /// `nil` for as long as it takes: liblmdb's own lock has no limit. With a limit each write also takes a lock on the
    /// directory. Every process must then set a limit: one that does not would hold up the others without limit.
    /// Waiting means trying again and again.
    public var writeWaitLimit: Duration?
    /// Whether a data file that a journal of an earlier version has left behind is recovered before it is opened.
    package var recoversJournal = false
    /// Whether commits go to a log first, and how.
    package var log: LogStore.Options?
    /// Whether commits are left to a flush of the data file that its owner makes; recovery does.
    var skipsFlushes = false
    /// The owner of the locks that make this process visible to others; tests set a weaker one.
    package var lockOwner = ByteLock.strongestOwner
    /// Called once for each snapshot that keeps pages from being reused for too long.
    package var onLongRead: (@Sendable (LongRead) -> Void)?

    /// Creates the defaults.
    public init() {}

    /// The databases that can be open, that of the log included.
    var databaseCapacity: Int { maxDatabases + (log == nil ? 0 : 1) }

    var waitLimit: Duration { .seconds(max(waitLimitInSeconds, 0)) }
  }
}
