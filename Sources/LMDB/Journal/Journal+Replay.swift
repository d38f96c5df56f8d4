import CLMDB
import SystemPackage
import TallySystem

extension Journal {
  /// Repeats the commits of the records after the steady one, as far as they are whole, and returns where they end.
  func replay(_ header: JournalHeader, _ options: LMDBEnvironment.Options) throws -> JournalPosition {
    var options = options
    options.isReadOnly = false
    let handle = try unsafe LMDBEnvironment.openHandle(path: directory, options: options)
    // Opened above, and used by this function only.
    defer { unsafe mdb_env_close(handle) }
    // Pages of the steady commit stay, so that a crash meanwhile changes nothing (R10).
    let pin = breaks(.recoveryPin) ? nil : try unsafe Self.beginPin(handle)
    defer { unsafe mdb_txn_abort(pin) }
    var place = header.position
    var hasMore = true
    while hasMore {
      let start = place
      do {
        (place, hasMore) = try unsafe replaySome(from: start, header, handle)
      } catch let error as LMDBError where error.code == .mapFull {
        place = start
        try unsafe Self.growMap(handle, limit: options.maximumMapSizeInBytes)
      }
    }
    return place
  }

  /// Repeats some commits in one.
  private func replaySome(
    from start: JournalPosition, _ header: JournalHeader, _ handle: OpaquePointer
  ) throws -> (JournalPosition, Bool) {
    guard let first = try file.record(at: start, header) else { return (start, false) }
    var transaction: OpaquePointer?
    try LMDBEnvironment.check(unsafe mdb_txn_begin(handle, nil, 0, &transaction), "replay")
    var next: (record: JournalRecord, payload: [UInt8], end: JournalPosition)? = first
    var (place, count) = (start, 0)
    do {
      while let found = next, count < options.recordsPerReplayedCommit {
        // Begun above.
        try unsafe apply(found.payload, in: transaction)
        place = found.end
        count += 1
        next = try file.record(at: place, header)
      }
    } catch {
      unsafe mdb_txn_abort(transaction)
      throw error
    }
    // Ends the transaction whatever it returns.
    try LMDBEnvironment.check(unsafe mdb_txn_commit(transaction), "replay")
    return (place, next != nil)
  }

  private func apply(_ payload: [UInt8], in transaction: OpaquePointer?) throws {
    var reader = RedoReader(payload[...])
    var tables: [String: UInt32] = [:]
    while let change = try reader.next() {
      let table: UInt32
      if let known = tables[change.table] {
        table = known
      } else {
        var opened: UInt32 = 0
        let flags = change.kind == .create ? UInt32(MDB_CREATE) : 0
        try LMDBEnvironment.check(
          unsafe change.table.withCString { unsafe mdb_dbi_open(transaction, $0, flags, &opened) }, "replay")
        table = opened
        tables[change.table] = opened
      }
      // The transaction is the caller's.
      try LMDBEnvironment.check(unsafe Self.apply(change, to: table, in: transaction), "replay")
      if change.kind == .drop { tables[change.table] = nil }
    }
  }

  private static func apply(_ change: RedoReader.Change, to table: UInt32, in transaction: OpaquePointer?) -> Int32 {
    // liblmdb reads both within the calls only.
    unsafe change.key.withUnsafeBytes { key in
      unsafe change.value.withUnsafeBytes { value in
        var (keyBytes, valueBytes) = unsafe (MDB_val(key), MDB_val(value))
        switch change.kind {
        case .table, .create: return MDB_SUCCESS
        case .put: return unsafe mdb_put(transaction, table, &keyBytes, &valueBytes, 0)
        case .remove: return unsafe mdb_del(transaction, table, &keyBytes, nil)
        case .removeAll: return unsafe mdb_drop(transaction, table, 0)
        case .drop: return unsafe mdb_drop(transaction, table, 1)
        }
      }
    }
  }

  private static func growMap(_ handle: OpaquePointer, limit: Int) throws {
    var information = unsafe MDB_envinfo()
    // Only writes into the local.
    unsafe mdb_env_info(handle, &information)
    let size = unsafe information.me_mapsize
    guard size < limit else { throw LMDBError(.mapFull, operation: "replay") }
    // No write is in progress, and the pin never looks into the map.
    try LMDBEnvironment.check(unsafe mdb_env_set_mapsize(handle, min(size * 2, limit)), "replay")
  }
}
