extension DataFile {
  /// Checks every page that the last commit needs: where it lies, of what kind it is, that its keys ascend, that its
  /// entries fill their room and that nothing is used twice; values are not examined.
  ///
  /// For a file that nobody writes, before liblmdb is trusted with it; for an open environment use
  /// ``LMDBEnvironment/checkStructure()``.
  ///
  /// Throws `corrupted` with a message that says what is wrong and where; `invalidFile` for a file of another kind;
  /// `noSuchFile`, `permissionDenied`, `ioFailure`.
  ///
  /// - Complexity: the pages in use are read once; a bit or so of memory per page.
  package func checkStructure() throws(LMDBError) {
    guard try kind() == .environment else { throw LMDBError(.invalidFile, operation: "check the file") }
    try reading { reader in try Self.checkStructure(of: reader, from: MetaPage.latest(of: reader)) }
  }

  /// Checks every page that a meta page leads to.
  fileprivate static func checkStructure(of reader: DataFileReader, from meta: MetaPage) throws {
    guard meta.version == MetaPage.knownVersion else {
      throw LMDBError(.versionMismatch, operation: "check the file")
    }
    guard meta.hasSoundFlags else {
      throw LMDBError.damagedTree("The first pages of the file name trees of another kind")
    }
    var walk = try PageWalk(reader: reader, meta: meta)
    try walk.walk(meta.names) { walk, page, node in
      // The binding stores nothing else beside the names.
      guard node.isTree, node.valueByteCount == TreeRecord.byteCount,
        let tree = TreeRecord(page.bytes, at: node.key.upperBound)
      else { throw LMDBError.damagedPage(page.number, "has something else than the record of a tree under a name") }
      guard tree.flags == 0 else { throw LMDBError.damagedPage(page.number, "names a tree of another kind") }
      try walk.walk(tree) { walk, page, node in try walk.checkValue(of: node, in: page) }
    }
    var beyondEnd: Set<Int> = []
    try walk.forEachFreePage { walk, number in
      if number < walk.pageCount {
        try walk.claim(number)
      } else if !beyondEnd.insert(number).inserted {
        throw LMDBError.damagedPage(number, "is free twice")
      }
    }
    guard beyondEnd.count == max(0, meta.lastPage + 1 - walk.pageCount) else {
      throw LMDBError.damagedTree("The end of the file is missing")
    }
  }
}

extension LMDBEnvironment {
  /// Checks every page that an acknowledged snapshot needs, while readers and writers continue.
  ///
  /// The check is a long reader: pages freed meanwhile cannot be used again until it is done.
  ///
  /// Throws as ``DataFile/checkStructure()``, and what ``beginRead()`` throws.
  package func checkStructure() throws(LMDBError) {
    guard try DataFile(dataFile).kind() == .environment else {
      throw LMDBError(.invalidFile, operation: "check the file")
    }
    try withSnapshotPage { reader, page in try DataFile.checkStructure(of: reader, from: page) }
  }
}
