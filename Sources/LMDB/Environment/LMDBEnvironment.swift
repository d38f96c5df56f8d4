import CLMDB
public import SystemPackage
import TallySystem

/// An open LMDB environment: one directory with a memory map, its databases and its readers.
///
/// ```swift
/// let environment = try LMDBEnvironment(path: "/var/lib/example")
/// let names = try environment.write { transaction in
///   let names = try Database<UInt64, String>(opening: "names", creating: true, in: &transaction)
///   try names.put("Ada", forKey: 1, in: &transaction)
///   return names
/// }
/// let name = try environment.read { try names.value(forKey: 1, in: $0) }
/// ```
///
/// Rules of LMDB that the compiler or the binding keeps: one environment per directory and process, none used after a
/// fork, a write transaction ends on its thread, the map is never moved under a live transaction. One rule is left to
/// the caller: no remote filesystem.
///
/// Transactions keep their environment alive; the last reference to go closes it.
@safe
public final class LMDBEnvironment: Sendable {
  /// Where the environment lies.
  public let path: FilePath

  // Constants.
  let options: Options
  let entry: UInt64
  let forkGeneration: ForkGeneration
  let openedInGeneration: UInt32
  // Synchronises itself, apart from what `state` guards: closing, remapping and opening databases.
  nonisolated(unsafe) let handle: OpaquePointer
  let stamps: DatabaseStamps
  /// Taken before liblmdb's own lock between processes, which has no limit; `nil` if there is to be none.
  let writeLock: FileLock?
  /// Makes this process visible to others; `nil` for a frozen file, and if the lock file cannot be opened.
  let lockFile: LockFile?
  // Guarded by itself.
  let state: Monitor<State>

  /// Opens the environment in a directory that must exist, unless ``Options/createsDirectory`` is set; creates its
  /// files unless it is opened for reading only.
  ///
  /// With ``Options/isFrozenFile`` the path is that of a file instead.
  ///
  /// Throws `alreadyOpen` if this process has the directory open under any path, or another directory with the same data
  /// file or lock file; `noSuchFile`, `permissionDenied`, `invalidFile`, `versionMismatch`; `diskFull` if there is no room
  /// for the lock file, which reading needs, too; `outOfMemory` if even the smallest map is refused; `busy` if other
  /// processes kept opening and closing it.
  ///
  /// The corresponding C functions are `mdb_env_create` and `mdb_env_open`.
  public init(path: FilePath, options: Options = Options()) throws(LMDBError) {
    var options = options
    if options.isFrozenFile { options.isReadOnly = true }
    let generation = ForkDetection.generation
    let opened = generation.current
    try Self.createDirectory(path, options: options)
    let identity = try LMDBError.translating("open", path) { try FileIdentity(of: path) }
    let entry = try EnvironmentRegistry.enter(
      identity, files: options.isFrozenFile ? [identity] : Self.files(in: path), generation: opened,
      waitingAtMost: options.waitLimit)
    var lockFile: LockFile?
    var presence: FileLock?
    // Once the handle has been announced, a process that would recover the file sees it.
    defer { presence?.release() }
    do throws(LMDBError) {
      writeLock = try Self.writeLock(of: path, options: options)
      try Self.checkNumbers(of: options)
      lockFile = try LockFile(in: path, options: options)
      if options.recoversJournal && !options.isFrozenFile {
        presence = try LMDBError.translating("open") { try JournalRecovery.run(in: path, options: options) }
      }
      // Kept for the life of this object, which closes it once.
      let handle = try unsafe Self.openHandle(path: path, options: options)
      try unsafe Self.announce(handle, lockFile, enteredAs: entry)
      unsafe self.handle = handle
    } catch {
      lockFile?.close()
      EnvironmentRegistry.leave(entry)
      throw error
    }
    self.lockFile = lockFile
    self.path = path
    self.options = options
    self.entry = entry
    forkGeneration = generation
    openedInGeneration = opened
    stamps = DatabaseStamps(capacity: options.maxDatabases + Self.coreDatabases)
    state = Monitor(State())
  }

  deinit {
    // In a child of a fork everything here belongs to the parent: even closing would clear the parent's slots.
    guard !isForked else { return }
    let isOpen = state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    if isOpen { closeHandle() }
  }

  /// The file with the data.
  package var dataFile: FilePath { options.isFrozenFile ? path : path.appending(Self.dataFileName) }

  /// The name that liblmdb gives its file.
  package static let dataFileName = "data.mdb"
  /// The name that liblmdb gives the file of its locks.
  package static let lockFileName = "lock.mdb"

  /// LMDB's own two databases, of free pages and of names, which take the first two handles.
  static let coreDatabases = 2

  /// Whether this process is a child of the one that opened the environment.
  package var isForked: Bool { forkGeneration.current != openedInGeneration }
}
