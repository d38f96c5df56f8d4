/// The changes of a write before its commit: versions of keys with the number of that commit, which no snapshot has yet.
///
/// They are already in the newest part of the tail, so a commit has nothing to copy. Only the thread that has the turn
/// uses this object.
final class LogWrite {
  /// A version of a key that the write has made.
  struct Version {
    let table: LogTable
    let node: LogNode
  }

  /// The part of the tail that has the versions.
  let part: LogTail
  /// The number of the commit.
  let commit: UInt64
  // The versions, in the order in which they were made.
  private var versions: [Version] = []
  private let firstByteCount: Int

  init(in part: LogTail, as commit: UInt64) {
    (self.part, self.commit) = (part, commit)
    firstByteCount = part.byteCount
  }

  /// How many bytes of memory the versions have taken, including those that were taken back.
  var byteCount: Int { part.byteCount - firstByteCount }

  /// How many versions there are: a mark for ``takeBack(from:)``.
  var count: Int { versions.count }

  /// Adds a value for a key; the caller writes the value before anything else happens.
  ///
  /// A nested write does not overwrite versions, because its abort must keep those of its parent.
  func reserve(
    _ valueCount: Int, for key: UnsafeRawBufferPointer, in table: LogTable, isNested: Bool
  ) -> LogNode {
    let (node, isNew) = unsafe part.reserve(valueCount, for: key, in: table, of: commit, mayUseAgain: !isNested)
    if isNew { note(Version(table: table, node: node)) }
    return node
  }

  /// Adds the removal of a key.
  func remove(_ key: UnsafeRawBufferPointer, in table: LogTable) {
    note(Version(table: table, node: unsafe part.remove(key, in: table, of: commit)))
  }

  private func note(_ version: Version) {
    if let older = version.node.olderVersion, older.commit == commit { older.isReplaced = true }
    versions.append(version)
  }

  /// Takes back the versions from a mark on, and returns the newest one of each key among them.
  ///
  /// Their memory is freed with the part.
  @discardableResult
  func takeBack(from mark: Int = 0) -> [Version] {
    let newest = versions[mark...].filter { !$0.node.isReplaced }
    for version in versions[mark...].reversed() {
      version.table.unlink(version.node)
      if let older = version.node.olderVersion, older.commit == commit { older.isReplaced = false }
    }
    versions.removeSubrange(mark...)
    return newest
  }

  /// The newest version of each key as a record.
  ///
  /// Throws `databasesFull` for more than 256 tables.
  func changes() throws(LMDBError) -> LogChanges {
    var changes = LogChanges(byteCount: byteCount)
    for version in versions where !version.node.isReplaced {
      try changes.add(version.node, in: version.table.name)
    }
    return changes
  }
}
