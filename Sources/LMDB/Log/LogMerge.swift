import Foundation
import TallySystem

extension LogStore {
  /// Brings all published commits into the tree, in one transaction (L7); does nothing if they are there already.
  ///
  /// Throws `busy` if another merge takes too long, and what ``LMDBEnvironment/write(_:)`` throws.
  func merge() throws(LMDBError) {
    let end = try writeTree { (transaction) throws(LMDBError) in
      let core = transaction.core
      let (row, parts, end) = try readTail(in: core)
      guard end.commit > row.commit else {
        state.withLock { state in
          state.mergedCommit = row.commit
          state.removeParts(upTo: row)
        }
        return nil as LogPlace?
      }
      try putEntries(of: parts, after: row.commit, upTo: end.commit, in: core)
      try putRow(end, in: core)
      return end
    }
    guard let end else { return }
    // The commit has returned, so the meta page is flushed.
    share.raiseSafe(to: end.offset)
    state.withLock { state in
      state.mergedCommit = end.commit
      state.removeParts(upTo: end)
      state.mergeCommit = max(state.mergeCommit, end.commit + UInt64(options.commitsPerPart))
    }
  }

  /// Puts changes and all published commits into the tree, and begins a new chain (L9); the caller has the turn.
  ///
  /// Throws what ``merge()`` throws.
  func commitDirectly(_ changes: LogChanges) throws(LMDBError) {
    try commitDirectly { (end) throws(LMDBError) in
      let own = LogTail(from: end.commit, environment.tableNumbers)
      let place = end.afterDirectCommit()
      try own.add(changes, of: place.commit)
      return (own, place)
    }
  }

  /// Puts every whole record after the published ones into the tree, and begins a new chain (L10, L12); the caller has
  /// the turn, or has the store alone.
  ///
  /// Nobody reads the records before they are in the tree: a failed flush may have left them in memory only.
  ///
  /// Throws what ``merge()`` throws; `corrupted` for a record that cannot be read.
  func recover() throws(LMDBError) {
    try commitDirectly(marking: true) { (end) throws(LMDBError) in
      let left = LogTail(from: end.commit, environment.tableNumbers)
      var place = end
      while true {
        let next = try LMDBError.translating("read the log") { [place] in try log.record(after: place) }
        guard let found = next else { return (left, place.afterDirectCommit()) }
        try left.add(LogChanges(record: found.bytes), of: found.record.commit)
        place = found.record.end
      }
    }
  }

  /// Makes a recovery; adopts the log instead if this process may not write to the tree, or has no room for that (L12).
  func recoverOrAdopt() throws(LMDBError) {
    guard !environment.options.isReadOnly else { return try adopt() }
    do throws(LMDBError) {
      try recover()
    } catch {
      guard error.isLackOfRoom else { throw error }
      try adopt()
    }
  }

  /// Publishes the whole records, and leaves them in the log; the caller has the store alone (L12).
  ///
  /// The doubt stays, so the next writer that has the turn makes a recovery.
  private func adopt() throws(LMDBError) {
    share.isInDoubt = true
    let reader = try environment.beginTreeReader()
    defer { environment.endRead(reader) }
    var place = try row(in: reader)
    try flushTree()
    try LMDBError.translating("open the log") {
      var last: (record: LogRecord, bytes: [UInt8])?
      while let found = try log.record(after: place) { (last, place) = (found, found.record.end) }
      // If its flush failed, the system may show a record that it never writes. Writing it again makes the next flush
      // include it.
      if let last, share.wasInDoubt { try log.write(last.bytes, of: last.record) }
      try log.flush()
    }
    share.publish(place.commit)
    share.setAdopted()
  }

  /// Commits directly (L9), with the changes that a body makes for the end of the published commits; the body may run
  /// again.
  private func commitDirectly(
    marking: Bool = false, _ changes: (_ end: LogPlace) throws(LMDBError) -> (LogTail, LogPlace)
  ) throws(LMDBError) {
    let place = try writeTree { (transaction) throws in
      let core = transaction.core
      let (row, parts, end) = try readTail(in: core)
      let (own, place) = try changes(end)
      try putEntries(of: parts + [own], after: row.commit, upTo: place.commit, in: core)
      try putRow(place, in: core)
      if marking { try options.mark?(&transaction) }
      share.isInDoubt = true
      return place
    }
    publishDirectCommit(place)
  }

  /// Publishes a direct commit that has returned, so its meta page is flushed.
  func publishDirectCommit(_ place: LogPlace) {
    share.raiseSafe(to: place.offset)
    state.withLock { $0.restart(at: place) }
    share.publish(place.commit)
    share.isInDoubt = false
  }

  /// The row of the newest tree, and the tail from there on up to what is published.
  private func readTail(
    in core: TransactionCore
  ) throws(LMDBError) -> (row: LogPlace, parts: [LogTail], end: LogPlace) {
    let row = try row(in: core)
    return try state.withLock { (state) throws(LMDBError) in
      guard try catchUp(&state, with: row, upTo: share.published) else {
        throw LMDBError(.busy, operation: "merge", message: "The log lacks commits that are not in the tree")
      }
      return (row, state.parts, state.end)
    }
  }

  /// Starts the merging thread, unless it runs, if there are enough commits or they fill half of the log or much
  /// memory; the caller has the turn.
  func startMergerIfDue() {
    guard options.mergesByItself else { return }
    let halfFull = share.safe + UInt64(log.ringByteCount / 2)
    let isDue = state.withLock { state in
      let isFull = !state.hasFailedMerge && (state.end.offset >= halfFull || state.hasLargePart(options))
      guard state.merger == nil, !state.isEnding, isFull || state.end.commit >= state.mergeCommit else { return false }
      // No thread has this number.
      state.merger = .max
      return true
    }
    guard isDue else { return }
    // Until it ends, the thread keeps the environment alive, and with it this object.
    Thread { [self, environment] in
      nameCurrentThread("lmdb-merger")
      state.withLock { $0.merger = currentThread() }
      mergeWhileDue()
      extendLifetime(environment)
    }.start()
  }

  /// Merges until no merge is due; before each merge, does the other work that the owner leaves to this thread.
  ///
  /// Errors are ignored here. The writer that finds the log full merges itself, and throws the error that prevents it.
  private func mergeWhileDue() {
    while true {
      // If this work fails, it is tried again with the next merge.
      try? state.withLock { $0.isEnding ? nil : $0.upkeep }?(environment)
      let hasMerged = (try? merge()) != nil
      let isDone = state.withLock { state in
        state.hasFailedMerge = !hasMerged
        if !hasMerged { state.mergeCommit = state.end.commit + UInt64(options.commitsPerPart) }
        // Writes have gone on during the merge.
        let isDue = state.end.commit >= state.mergeCommit || hasMerged && state.hasLargePart(options)
        guard state.isEnding || !isDue else { return false }
        state.merger = nil
        return true
      }
      if isDone { break }
    }
    state.wakeAll()
  }

  private func writeTree<R>(_ body: (inout WriteTransaction) throws -> R) throws(LMDBError) -> R {
    try LMDBError.translating("merge") { try environment.writeTree { try body(&$0) } }
  }

  /// Brings everything into the tree of a closed environment, which becomes a plain one (L13).
  func finishTree() throws {
    try environment.writeLast { transaction in
      try putRow(bringUpTree(in: transaction.core), in: transaction.core)
      try options.unmark?(&transaction)
    }
  }

  /// Puts all published commits into the tree that a write changes, and returns the place after them.
  func bringUpTree(in core: TransactionCore) throws(LMDBError) -> LogPlace {
    let (row, parts, end) = try readTail(in: core)
    try putEntries(of: parts, after: row.commit, upTo: end.commit, in: core)
    return end
  }

  /// Adds the commits of a snapshot to a copy of the tree that may lack some of them.
  func add(_ overlay: LogOverlay, toCopyIn core: TransactionCore) throws(LMDBError) {
    let row = try row(in: core, rows: core.openDatabase(named: Self.rowTable, creating: true))
    guard row.commit < overlay.snapshot else { return }
    try putEntries(of: overlay.parts, after: row.commit, upTo: overlay.snapshot, in: core)
  }

  /// Puts the changes of a write into the tree.
  func put(_ versions: [LogWrite.Version], into core: TransactionCore) throws(LMDBError) {
    for version in versions {
      try put(version.node, into: core.openDatabase(named: version.table.name, creating: true), core)
    }
  }

  /// Puts the newest version of each key that the tree does not have.
  private func putEntries(
    of parts: [LogTail], after row: UInt64, upTo commit: UInt64, in core: TransactionCore
  ) throws(LMDBError) {
    for part in parts {
      // The tables are sorted, so that every merge writes them in the same order.
      for table in part.tables.compactMap(\.self).sorted(by: { $0.name < $1.name }) {
        let database = try core.openDatabase(named: table.name, creating: true)
        let end = try lastKey(in: database, core)
        var node = table.first?.visible(at: commit)
        while let version = node {
          // Appending does not split a full page. The bytes are read within the call.
          let isAfterAll = end.map { end in unsafe end.withUnsafeBytes { unsafe orderOfKeys(version.key, $0) > 0 } }
          if version.commit > row { try put(version, into: database, core, isAfterAll ?? true ? .append : .replace) }
          node = version.nextKey?.visible(at: commit)
        }
      }
    }
  }

  /// A copy of the last key of a tree that nothing else changes during the call.
  private func lastKey(in database: DatabaseHandle, _ core: TransactionCore) throws(LMDBError) -> [UInt8]? {
    let cursor = try CursorHandle(of: database, in: core)
    defer { cursor.close() }
    // No key is read in this move.
    let last = unsafe try cursor.move(.last, key: UnsafeRawBufferPointer(start: nil, count: 0))
    return unsafe last.map { unsafe [UInt8]($0.key) }
  }

  private func put(
    _ version: LogNode, into database: DatabaseHandle, _ core: TransactionCore, _ mode: StoreMode = .replace
  ) throws(LMDBError) {
    // The caller keeps the part that has the node.
    guard !version.isRemoval else {
      _ = try unsafe core.remove(version.key, in: database)
      return
    }
    let value = unsafe version.value
    var room = try unsafe core.reserve(value.count, for: version.key, mode, in: database)
    // Whatever the order of keys in the tree is, no entry may be left out.
    if unsafe room == nil { unsafe room = try core.reserve(value.count, for: version.key, .replace, in: database) }
    unsafe room?.copyMemory(from: value)
  }
}
