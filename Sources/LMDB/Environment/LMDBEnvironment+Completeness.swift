import SystemPackage

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
