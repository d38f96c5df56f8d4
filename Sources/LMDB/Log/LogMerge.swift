import Foundation
import TallySystem

extension LogStore {
  /// Brings what is published into the tree, in one transaction (L7); does nothing if all is there.
  ///
  /// Throws `busy` if another merge takes too long, and what ``LMDBEnvironment/write(_:)`` throws.
  func merge() throws(LMDBError) {
    try merging { () throws(LMDBError) in
      let (parts, end) = state.withLock { ($0.parts, $0.end) }
      let isDone = try writeTree { (transaction) throws(LMDBError) in
        let row = try self.row(in: transaction)
        guard end.commit > row.commit else { return false }
        try putEntries(of: parts, after: row.commit, upTo: end.commit, in: &transaction)
        try putRow(end, in: &transaction)
        return true
      }
      guard isDone else { return }
      // The commit has returned, so the meta page is flushed.
      state.withLock { state in
        state.safe = max(state.safe, end.offset)
        // The last part may get more.
        let last = state.parts.last
        state.parts.removeAll { $0.end <= end.commit && $0 !== last }
      }
    }
  }

  /// Puts changes into the tree, with everything that is published, and begins a new chain (L9); the caller has the turn.
  ///
  /// Throws as ``merge()``.
  func commitDirectly(_ changes: LogChanges) throws(LMDBError) {
    let place = state.withLock(\.end).afterDirectCommit
    let own = LogTail(from: place.commit - 1)
    try own.add(changes, of: place.commit)
    try commitDirectly(own, as: place)
  }

  /// Puts every whole record after what is published into the tree, and begins a new chain (L10, L12).
  ///
  /// Nobody reads the records before they are there: a flush that failed may have left them in memory only.
  ///
  /// Throws as ``merge()``; `corrupted` for a record that cannot be read.
  func recover() throws(LMDBError) {
    var place = state.withLock(\.end)
    let left = LogTail(from: place.commit)
    while true {
      let next = try LMDBError.translating("read the log") { [place] in try log.record(after: place) }
      guard let found = next else { break }
      try left.add(LogChanges(record: found.bytes), of: found.record.commit)
      place = found.record.end
    }
    try commitDirectly(left, as: place.afterDirectCommit)
  }

  private func commitDirectly(_ changes: LogTail, as place: LogPlace) throws(LMDBError) {
    try merging { () throws(LMDBError) in
      let parts = state.withLock { state in
        state.isInDoubt = true
        return state.parts + [changes]
      }
      _ = try writeTree { (transaction) throws(LMDBError) in
        let row = try self.row(in: transaction)
        try putEntries(of: parts, after: row.commit, upTo: place.commit, in: &transaction)
        try putRow(place, in: &transaction)
        return true
      }
      state.withLock { state in
        state.safe = max(state.safe, place.offset)
        state.parts = [LogTail(from: place.commit)]
        state.publish(place)
      }
    }
  }

  /// Starts the merging thread if a part of the tail is full and it does not run; the caller has the turn.
  func startMergerIfDue() {
    guard options.mergesByItself else { return }
    let isDue = state.withLock { state in
      guard !state.hasMerger, state.parts.count > state.failedPartCount else { return false }
      state.hasMerger = true
      return true
    }
    guard isDue else { return }
    Thread { [self] in
      nameCurrentThread("lmdb-merger")
      mergeWhileDue()
    }.start()
  }

  /// Merges until no part is full.
  ///
  /// An error is left to the writer that finds the log full: it merges itself, and throws what prevents that.
  private func mergeWhileDue() {
    while true {
      let hasMerged = (try? merge()) != nil
      let isDone = state.withLock { state in
        state.failedPartCount = hasMerged ? 1 : state.parts.count
        guard !hasMerged || state.parts.count <= 1 else { return false }
        state.hasMerger = false
        return true
      }
      if isDone { break }
    }
    state.wakeAll()
  }

  /// Lets one thread merge at a time.
  private func merging(_ body: () throws(LMDBError) -> Void) throws(LMDBError) {
    let isTaken = state.wait(atMost: options.waitLimit) { state -> Bool? in
      guard !state.isMerging else { return nil }
      state.isMerging = true
      return true
    }
    if isTaken == nil { throw LMDBError(.busy, operation: "merge", message: "Another merge has not ended in time") }
    defer {
      state.withLock { $0.isMerging = false }
      state.wakeAll()
    }
    try body()
  }

  private func writeTree(
    _ body: (inout WriteTransaction) throws(LMDBError) -> Bool
  ) throws(LMDBError) -> Bool {
    try LMDBError.translating("merge") { try environment.write { try body(&$0) } }
  }

  /// Puts the newest version of each key that the tree does not have.
  private func putEntries(
    of parts: [LogTail], after row: UInt64, upTo commit: UInt64, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let core = transaction.core
    for part in parts {
      // Sorted, so that the tables of two merges are written in one order.
      let tables = state.withLock { _ in part.tables }.sorted { $0.key < $1.key }
      for (name, table) in tables {
        let database = try Database<[UInt8], [UInt8]>(opening: name, creating: true, in: &transaction)
        var node = table.first?.visible(at: commit)
        while let version = node {
          if version.commit > row { try put(version, into: database.handle, core) }
          node = version.nextKey?.visible(at: commit)
        }
      }
    }
  }

  private func put(
    _ version: LogNode, into database: DatabaseHandle, _ core: TransactionCore
  ) throws(LMDBError) {
    // The part that has the node is kept by the caller.
    guard !version.isRemoval else {
      _ = try unsafe core.remove(version.key, in: database)
      return
    }
    let value = unsafe version.value
    let room = try unsafe core.reserve(value.count, for: version.key, .replace, in: database)
    unsafe room?.copyMemory(from: value)
  }
}
