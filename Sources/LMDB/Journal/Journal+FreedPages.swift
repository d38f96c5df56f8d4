import CLMDB
import TallySystem

/// The pages that commits have freed since the pin: none of them can be used again before this process's next one.
struct FreedPages {
  /// The commit of the pin.
  var pinnedTransaction: UInt64 = 0
  /// The last commit whose pages are counted.
  var lastTransaction: UInt64 = 0
  var pageCount = 0
}

extension Journal {
  /// Counts the pages that have been freed since the pin, whichever process did it; within the write lock.
  ///
  /// The file grows by as many, since the pin keeps them (R2). After another process's checkpoint this one still has its
  /// old pin.
  func countFreedPages(to newest: UInt64, _ header: JournalHeader, _ environment: LMDBEnvironment) throws {
    let pinned = min(state.withLock { $0.pinnedTransaction } ?? .max, header.steadyTransaction)
    if freed.pinnedTransaction != pinned { freed = FreedPages(pinnedTransaction: pinned, lastTransaction: pinned) }
    guard freed.lastTransaction < newest else { return }
    var reader: OpaquePointer?
    // liblmdb shows the tree of free pages to readers only. The environment is open, and its write lock held.
    guard unsafe mdb_txn_begin(environment.handle, nil, UInt32(MDB_RDONLY), &reader) == MDB_SUCCESS else {
      // Without a free slot the number of commits decides.
      return
    }
    defer { unsafe mdb_txn_abort(reader) }
    var cursor: OpaquePointer?
    // Both end here.
    try LMDBEnvironment.check(unsafe mdb_cursor_open(reader, 0, &cursor), "count free pages")
    defer { unsafe mdb_cursor_close(cursor) }
    var (key, value) = unsafe (MDB_val(), MDB_val())
    // The numbers of commits are the keys; of each value the first word is the number of pages.
    var result = unsafe mdb_cursor_get(cursor, &key, &value, MDB_LAST)
    while result == MDB_SUCCESS, unsafe key.mv_size == 8, unsafe value.mv_size >= 8 {
      // The pages are those of the snapshot, which lives until the end of this function.
      let (transaction, count) = unsafe (
        key.mv_data.loadUnaligned(as: UInt64.self), value.mv_data.loadUnaligned(as: UInt64.self)
      )
      guard transaction > freed.lastTransaction else { break }
      freed.pageCount += Int(clamping: count)
      result = unsafe mdb_cursor_get(cursor, &key, &value, MDB_PREV)
    }
    freed.lastTransaction = newest
  }
}
