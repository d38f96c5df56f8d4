import TallySystem

/// The environments this process has open.
///
/// POSIX locks belong to the process: closing a second environment on the same directory would drop the locks of the
/// first, and other processes would then clear its readers away. Directories are identified by device and inode,
/// because a path can be spelled in many ways.
enum EnvironmentRegistry {
  /// Each open directory with the fork generation that opened it.
  ///
  /// A child's own environments are counted separately: children do not inherit locks.
  static let open = Monitor<[FileIdentity: UInt32]>([:])

  /// Enters a directory, or throws `alreadyOpen`.
  static func enter(_ identity: FileIdentity, generation: UInt32) throws(LMDBError) {
    try open.withLock { (directories) throws(LMDBError) in
      if directories[identity] == generation { throw LMDBError(.alreadyOpen, operation: "open") }
      directories[identity] = generation
    }
  }

  /// Whether a directory has been entered.
  static func contains(_ identity: FileIdentity, generation: UInt32) -> Bool {
    open.withLock { $0[identity] == generation }
  }

  /// Removes a directory.
  static func leave(_ identity: FileIdentity) {
    let generation = open.withLock { $0.removeValue(forKey: identity) }
    assert(generation != nil, "a directory leaves that has not entered")
  }
}
