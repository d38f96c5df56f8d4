import TallySystem

/// The environments this process has open.
///
/// liblmdb's locks belong to the process: closing a second environment on the same files would drop those of the first, and
/// clear its readers. A path can be spelled in many ways, and a file can have several names: so an environment is known by
/// device and inode of its directory, of its data file and of its file of locks.
enum EnvironmentRegistry {
  struct Entry {
    /// Of this entry alone: an inode may be that of another file once the first is deleted.
    let id: UInt64
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
    /// Whether it is being closed, which takes a moment.
    var isClosing = false

    /// Whether it is the environment of a directory with some files.
    ///
    /// Files decide where both have some. A directory of the same inode without them is a new one: the first was deleted.
    func isSame(as other: FileIdentity, _ otherFiles: [FileIdentity], _ generation: UInt32) -> Bool {
      guard self.generation == generation else { return false }
      return files.contains(where: otherFiles.contains) || place == other && files.isEmpty
    }
  }

  private static let lastID = Monitor<UInt64>(0)
  static let open = Monitor<[Entry]>([])
  /// How long closing an environment may take at most: it frees memory, and waits for nobody.
  private static let longestClosing = Duration.seconds(10)

  /// Enters a directory, or throws `alreadyOpen`; waits for the end of an environment that nobody can begin to use.
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

  /// Adds what an environment has opened, which may not have been there when it entered.
  static func add(_ dataFile: FileIdentity, _ lockFile: LockFile?, to id: UInt64) throws(LMDBError) {
    guard var entry = open.withLock({ $0.first { $0.id == id } }) else { return }
    entry.files = [dataFile] + (lockFile.map { [$0.identity] } ?? [])
    entry.lockFile = lockFile
    try wait(for: entry, atMost: .zero) { [entry] entries in
      if let index = entries.firstIndex(where: { $0.id == id }) { entries[index] = entry }
    }
  }

  /// Calls a body when no other entry is of the same files; throws `alreadyOpen` if one stays.
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

  /// Waits until a directory and its files are not entered; false if that takes longer than a limit.
  static func waitForEnd(
    of place: FileIdentity, files: [FileIdentity], generation: UInt32, atMost limit: Duration
  ) -> Bool {
    open.wait(atMost: limit) { $0.contains { $0.isSame(as: place, files, generation) } ? nil : () } != nil
  }

  /// Notes that an environment ends with its last use, or that it is being closed.
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
      assert(index != nil, "an environment leaves that has not entered")
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
