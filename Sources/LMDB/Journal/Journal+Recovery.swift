import CLMDB
import SystemPackage
import TallySystem

// Recovery: nobody else of ours has the environment open.

extension Journal {
  /// Brings the data file to the last commit of the records, and marks it clean; does nothing where it is.
  func recover(_ options: LMDBEnvironment.Options) throws {
    let newest = try file.newestHeader()
    state.withLock { $0.published = newest }
    let isKnown = try file.shared().map { $0.boot == boot && $0.generation == newest.header.generation } ?? false
    // What follows relies on the header, and a killed process may have written it without a flush (R9).
    if !(isKnown && newest.header.state == .clean) && !breaks(.recoveryFlush) { try file.flush() }
    if newest.header.state == .dirty {
      if try isHeldByOtherProgram(newest.header) {
        // After a failed flush its memory may hold what no disk ever will.
        guard try file.shared()?.isFailed != true else { throw Self.failed }
        // The system has not crashed since: whatever was committed is in its memory, and a reader must not lose it.
        try file.share(.init(generation: newest.header.generation, boot: boot))
        return
      }
      try restore(newest.header)
      let position = try replay(newest.header, options)
      try markClean(after: newest, at: position)
    } else {
      try file.share(.init(generation: newest.header.generation, boot: boot))
    }
    state.withLock { $0.isFailed = false }
  }

  /// Whether another program has the file open with liblmdb itself.
  private func isHeldByOtherProgram(_ header: JournalHeader) throws -> Bool {
    let lock = directory.appending(LMDBEnvironment.lockFileName)
    guard let file = try? FileDescriptor.open(lock, .readWrite, options: .closeOnExec) else { return false }
    // This process has no environment open here, so that closing ends no lock of liblmdb.
    defer { try? file.close() }
    guard try ByteLock(file, byte: 0, owner: .process).isHeldByOthers() else { return false }
    guard header.boot == boot else {
      throw LMDBError(
        .busy, operation: "open", message: "Another program reads the file, which has not been recovered yet",
        remedy: "End that program, then open the file")
    }
    return true
  }

  /// Puts the steady commit's meta page back, and the same one commit older into the other place (R10).
  private func restore(_ header: JournalHeader) throws {
    guard try rootSum(of: header.meta, pageSizeInBytes: header.pageSizeInBytes) == header.rootSum else {
      throw LMDBError.damagedJournal(
        "It belongs to another data file: remove it if the data file was put there on purpose")
    }
    if breaks(.restoredMeta) { return }
    for place in 0..<2 {
      var meta = header.meta
      let isOlder = header.steadyTransaction & 1 != UInt64(place)
      if isOlder && header.steadyTransaction > 0 {
        let older = header.steadyTransaction - 1
        meta.replaceSubrange(Self.transactionOffset..<Self.transactionOffset + 8, with: older.storedBytes)
      }
      let page = MetaPage.head(ofPage: place) + meta
      try dataFile.writeAll(toAbsoluteOffset: Int64(place * header.pageSizeInBytes), page)
    }
  }

  private static let transactionOffset = JournalHeader.metaByteCount - 8

  /// Marks the data file clean, which has been closed.
  func markClean(after published: (header: JournalHeader, slot: Int), at position: JournalPosition) throws {
    if !breaks(.cleanFlush) { try flushing(flushDataFile) }
    var header = published.header
    header.state = .clean
    header.boot = boot
    header.position = position
    try flushing { try publish(header, insteadOf: published.slot) }
  }

  /// The checksum of the root pages of the trees of a commit: whether a data file is the one that has it.
  ///
  /// Those of named databases count as far as the names fit into one page.
  func rootSum(of meta: [UInt8], pageSizeInBytes: Int) throws -> UInt64 {
    let roots = Self.rootOffsets.map { meta.number(at: $0, as: UInt64.self) ?? .max }
    var (sum, names) = (UInt64(1), [UInt8]())
    for root in roots { (sum, names) = try addPage(root, pageSizeInBytes, to: sum) }
    guard let page = try? Page(number: Int(clamping: roots[1]), bytes: names), !page.isBranch else { return sum }
    for node in page.nodes where node.isTree {
      guard let root = TreeRecord(names, at: node.key.upperBound)?.root else { continue }
      (sum, _) = try addPage(UInt64(root), pageSizeInBytes, to: sum)
    }
    return sum
  }

  /// Adds a page to a checksum, and returns its bytes; none for that of an empty tree.
  private func addPage(_ number: UInt64, _ pageSize: Int, to sum: UInt64) throws -> (UInt64, [UInt8]) {
    guard pageSize > 0, let page = Int(exactly: number), page < Int.max / pageSize else {
      return (JournalChecksum.of([number], after: sum), [])
    }
    let bytes = try DataFileReader(descriptor: dataFile).bytes(count: pageSize, at: page * pageSize)
    // Read within the call only.
    return (unsafe bytes.withUnsafeBytes { unsafe JournalChecksum.of($0, after: sum) }, bytes)
  }

  /// Where a meta page has the roots of the trees of free pages and of names.
  private static let rootOffsets = [64, 112]
}
