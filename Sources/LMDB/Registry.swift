import Synchronization
import TallySystem

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The environments this process has open.
///
/// liblmdb's locks belong to the process: closing a second environment on the same files would drop the locks of the first
/// and clear its readers. A path can be spelled in many ways, and a file can have several names. So an environment is
/// identified by the device and inode of its directory, its data file and its lock file.
enum EnvironmentRegistry {
  struct Entry {
    /// Unique to this entry; an inode is not, because the system may reuse it once its file is deleted.
    let id: UInt64
    /// The directory; for a frozen file, the file itself.
    let place: FileIdentity
    /// The fork generation that opened it.
    ///
    /// A child's own environments are counted separately: children do not inherit locks.
    let generation: UInt32
    /// The data file and the lock file, if they exist.
    var files: [FileIdentity]
    var lockFile: LockFile?
    /// Whether it closes with its last use, and nobody can begin to use it.
    var isEnding = false
    /// Whether it is being closed, which takes a moment.
    var isClosing = false

    /// Whether this is the environment of a directory with the given files.
    ///
    /// The files decide. The directory decides only while this entry has no files: a directory of the same inode with other
    /// files, or with none, is a new one, because the old one was deleted.
    func isSame(as other: FileIdentity, _ otherFiles: [FileIdentity], _ generation: UInt32) -> Bool {
      guard self.generation == generation else { return false }
      return files.contains(where: otherFiles.contains) || place == other && files.isEmpty
    }
  }

  private static let lastID = Monitor<UInt64>(0)
  static let open = Monitor<[Entry]>([])
  /// The longest wait for an environment that is being closed: closing frees memory and waits for nobody.
  private static let longestClosing = Duration.seconds(10)

  /// Enters a directory.
  ///
  /// Waits for the end of another environment on the same files if that is closing or ends with its last use. Throws
  /// `alreadyOpen` if it is not, or if the wait takes too long.
  ///
  /// - Returns: The id of the entry.
  static func enter(
    _ place: FileIdentity, files: [FileIdentity], generation: UInt32, waitingAtMost limit: Duration
  ) throws(LMDBError) -> UInt64 {
    let id = lastID.withLock { last in
      last += 1
      return last
    }
    let entry = Entry(id: id, place: place, generation: generation, files: files)
    try wait(for: entry, atMost: limit) { $0.append(entry) }
    return id
  }

  /// Records the files that an environment has opened; they may not have existed when it entered.
  static func add(_ dataFile: FileIdentity, _ lockFile: LockFile?, to id: UInt64) throws(LMDBError) {
    guard var entry = open.withLock({ $0.first { $0.id == id } }) else { return }
    entry.files = [dataFile] + (lockFile.map { [$0.identity] } ?? [])
    entry.lockFile = lockFile
    try wait(for: entry, atMost: .zero) { [entry] entries in
      if let index = entries.firstIndex(where: { $0.id == id }) { entries[index] = entry }
    }
  }

  /// Calls a body once no other entry has the same files; throws `alreadyOpen` if one remains.
  private static func wait(
    for entry: Entry, atMost limit: Duration, _ body: (inout [Entry]) -> Void
  ) throws(LMDBError) {
    func others(_ entries: [Entry]) -> [Entry] {
      entries.filter { $0.id != entry.id && $0.isSame(as: entry.place, entry.files, entry.generation) }
    }
    let isClosing = open.withLock { others($0).contains(where: \.isClosing) }
    let done: Void? = try open.wait(atMost: isClosing ? max(limit, longestClosing) : limit) {
      (entries) throws(LMDBError) in
      let others = others(entries)
      if others.isEmpty { return body(&entries) }
      guard others.allSatisfy({ $0.isEnding || $0.isClosing }) else { throw LMDBError(.alreadyOpen, operation: "open") }
      return nil
    }
    if done == nil { throw LMDBError(.alreadyOpen, operation: "open") }
  }

  /// Waits until no entry has a directory and its files; false if that takes longer than a limit.
  static func waitForEnd(
    of place: FileIdentity, files: [FileIdentity], generation: UInt32, atMost limit: Duration
  ) -> Bool {
    open.wait(atMost: limit) { $0.contains { $0.isSame(as: place, files, generation) } ? nil : () } != nil
  }

  /// Sets a flag of an entry: that its environment ends with its last use, or that it is being closed.
  static func mark(_ flag: WritableKeyPath<Entry, Bool>, of id: UInt64) {
    open.withLock { entries in
      if let index = entries.firstIndex(where: { $0.id == id }) { entries[index][keyPath: flag] = true }
    }
    open.wakeAll()
  }

  /// Removes an environment.
  static func leave(_ id: UInt64) {
    open.withLock { entries in
      let index = entries.firstIndex { $0.id == id }
      assert(index != nil, "an environment that has not entered leaves")
      if let index { entries.remove(at: index) }
    }
    open.wakeAll()
  }

  /// Closes the lock files that the child of a fork has inherited.
  static func closeLockFilesInChild() {
    open.withLock { entries in
      for index in entries.indices {
        entries[index].lockFile?.closeInChild()
        entries[index].lockFile = nil
      }
    }
  }
}

/// Notices that this process is the child of a fork.
///
/// An environment must not be used in a child: its reader slots and locks belong to the parent. Reading the process
/// id would be a system call each time, so a handler of `fork` counts generations instead; comparing one
/// costs a load. A child made by the bare system call escapes it, as it escapes everything else in its libraries.
enum ForkDetection {
  /// The counter, at an address that is never freed, so that an owner of it needs no lazy initialisation check.
  static let generation: ForkGeneration = {
    let generation = ForkGeneration()
    // The registry is held across the fork: its lock must be free, and its state whole, in the child.
    pthread_atfork(
      { EnvironmentRegistry.open.lock() },
      { EnvironmentRegistry.open.unlock() },
      {
        ForkDetection.generation.advance()
        EnvironmentRegistry.open.unlock()
        // This is the child's only thread.
        EnvironmentRegistry.closeLockFilesInChild()
      }
    )
    return generation
  }()
}

/// The number of forks between the first process and this one.
@safe
struct ForkGeneration: Sendable {
  // Allocated once for the life of the process, and atomic.
  nonisolated(unsafe) private let counter: UnsafeMutablePointer<Atomic<UInt32>>

  init() {
    // Never freed: the address stays valid for ever.
    unsafe counter = .allocate(capacity: 1)
    unsafe counter.initialize(to: Atomic(0))
  }

  // Initialised above and never freed.
  var current: UInt32 { unsafe counter.pointee.load(ordering: .relaxed) }

  func advance() {
    // Initialised above and never freed.
    unsafe counter.pointee.wrappingAdd(1, ordering: .relaxed)
  }
}
