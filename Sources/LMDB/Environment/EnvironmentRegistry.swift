import TallySystem

/// The environments this process has open.
///
/// liblmdb's locks belong to the process: closing a second environment on the same files would drop those of the first, and
/// clear its readers. A path can be spelled in many ways, and a file can have several names: so an environment is known by
/// device and inode of its directory, of its data file and of its file of locks.
enum EnvironmentRegistry {
  struct Entry {
    /// The directory, or the file that is frozen.
    let place: FileIdentity
    /// The fork generation that opened it.
    ///
    /// A child's own environments are counted separately: children do not inherit locks.
    let generation: UInt32
    /// The data file and the file of locks, as far as they are there.
    var files: [FileIdentity]
    var lockFile: LockFile?
    /// Whether its last user will close it, and nobody can begin to use it.
    var isEnding = false

    func hasAny(of files: [FileIdentity], _ generation: UInt32) -> Bool {
      self.generation == generation && files.contains { $0 == place || self.files.contains($0) }
    }
  }

  static let open = Monitor<[Entry]>([])

  /// Enters a directory, or throws `alreadyOpen`; waits for the end of an environment that nobody can begin to use.
  static func enter(
    _ place: FileIdentity, files: [FileIdentity], generation: UInt32, waitingAtMost limit: Duration
  ) throws(LMDBError) {
    let entered: Void? = try open.wait(atMost: limit) { (entries) throws(LMDBError) in
      if let entry = entries.first(where: { $0.hasAny(of: [place] + files, generation) }) {
        if entry.isEnding { return nil }
        throw LMDBError(.alreadyOpen, operation: "open")
      }
      entries.append(Entry(place: place, generation: generation, files: files))
      return ()
    }
    if entered == nil { throw LMDBError(.alreadyOpen, operation: "open") }
  }

  /// Adds what an environment has opened, which may not have been there when it entered.
  static func add(_ dataFile: FileIdentity, _ lockFile: LockFile?, to place: FileIdentity) throws(LMDBError) {
    let files = [dataFile] + (lockFile.map { [$0.identity] } ?? [])
    try open.withLock { (entries) throws(LMDBError) in
      guard let index = entries.lastIndex(where: { $0.place == place }) else { return }
      let generation = entries[index].generation
      guard !entries.contains(where: { $0.place != place && $0.hasAny(of: files, generation) }) else {
        throw LMDBError(.alreadyOpen, operation: "open")
      }
      entries[index].files = files
      entries[index].lockFile = lockFile
    }
  }

  /// Whether one of some files or directories has been entered.
  static func contains(_ files: [FileIdentity], generation: UInt32) -> Bool {
    open.withLock { $0.contains { $0.hasAny(of: files, generation) } }
  }

  /// Waits until none of some files or directories is entered; false if that takes longer than a limit.
  static func waitForEnd(
    of files: [FileIdentity], generation: UInt32, atMost limit: Duration
  ) -> Bool {
    open.wait(atMost: limit) { $0.contains { $0.hasAny(of: files, generation) } ? nil : () } != nil
  }

  /// Notes that an environment ends with its last use.
  static func markEnding(_ place: FileIdentity) {
    open.withLock { entries in
      if let index = entries.lastIndex(where: { $0.place == place }) { entries[index].isEnding = true }
    }
    open.wakeAll()
  }

  /// Removes a directory.
  static func leave(_ place: FileIdentity) {
    open.withLock { entries in
      let index = entries.lastIndex { $0.place == place }
      assert(index != nil, "a directory leaves that has not entered")
      if let index { entries.remove(at: index) }
    }
    open.wakeAll()
  }

  /// Closes the files of locks that a child of a fork has from its parent.
  static func closeLockFilesInChild() {
    open.withLock { entries in
      for index in entries.indices {
        entries[index].lockFile?.closeInChild()
        entries[index].lockFile = nil
      }
    }
  }
}
