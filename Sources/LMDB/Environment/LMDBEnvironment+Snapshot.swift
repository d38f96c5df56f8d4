import CLMDB
import TallySystem

extension LMDBEnvironment {
  /// Whether a reader that has just begun reads the snapshot that its slot names, and no newer one.
  ///
  /// liblmdb 0.9 reads the number N of the last acknowledged transaction, puts it into the slot, and then copies the
  /// meta page of N, which shares its place with that of N + 2. A reader held up in between, while N + 1 is acknowledged
  /// and N + 2 is being written, gets a page of N + 2: changes that have not been acknowledged to anybody, perhaps half a page, and
  /// the next reader goes back in time to N + 1. On a busy machine that happens every few minutes.
  ///
  /// The writer of N + 2 begins after N + 1 is acknowledged. So the copy is right if, after it was made, N + 1 was
  /// either not written or not acknowledged. The first costs a few nanoseconds to check; the second, which is checked
  /// only while a commit is on its way to the disk, follows from another reader's slot.
  func hasCertainSnapshot(_ core: TransactionCore) -> Bool {
    // The reader is live, and its owner is the only one to use it.
    let named = unsafe mdb_txn_id(core.handle)
    let newest = newestTransactionID
    if newest == named { return true }
    return (lastAcknowledgedTransactionID() ?? newest) == named
  }

  /// Whether the table of readers still has the slot of a live reader, or there is no table.
  func isHeld(_ core: TransactionCore) -> Bool {
    guard lockFile != nil else { return true }
    // The reader is live, and its owner is the only one to use it.
    let named = unsafe UInt64(mdb_txn_id(core.handle))
    return (try? hasReader(ofThisProcessAt: named)) ?? true
  }

  /// How often the first two pages are read while commits change them.
  private static let pageAttempts = 1_000

  /// Runs a body with the file and the meta page of an acknowledged snapshot, which is kept meanwhile.
  ///
  /// The newest meta page may be that of a commit that has not been acknowledged yet, and may be half written. Commit N + 2,
  /// which overwrites the page of N, begins only after N + 1 has been acknowledged. So the page is right if N was certainly
  /// still the last acknowledged commit after the page had been read.
  ///
  /// Throws `corrupted` if the first two pages are never those of two consecutive commits, or if the body throws it; `busy`
  /// if the snapshot was lost while the body ran; what ``beginRead()`` throws.
  func withSnapshotPage<R>(_ body: (DataFileReader, MetaPage) throws -> R) throws(LMDBError) -> R {
    try DataFile(dataFile).reading { reader in
      var attempt = 1
      while true {
        let snapshot = try beginRead()
        defer { extendLifetime(snapshot) }
        let page = try MetaPage.page(ofSnapshot: UInt64(snapshot.snapshotNumber), in: reader)
        if let page, hasCertainSnapshot(snapshot.core) {
          do {
            return try body(reader, page)
          } catch let error as LMDBError where error.code == .corrupted && !snapshot.isHeld {
            throw LMDBError.lostSnapshot
          }
        }
        // Commits may have come between the two reads, or into one; damage stays.
        guard attempt < Self.pageAttempts else { throw LMDBError.foreignMetaPages }
        if attempt > 1 { pause(microseconds: 200) }
        attempt += 1
      }
    }
  }

  /// The transaction that a second reader gets, which is ended at once; `nil` without a slot for it.
  private func lastAcknowledgedTransactionID() -> Int? {
    guard let probe = try? enterReader(), let result = try? startReader(probe) else { return nil }
    guard result == MDB_SUCCESS else {
      endReader(probe)
      return nil
    }
    defer { endRead(probe) }
    // Live until the end of this function.
    return unsafe mdb_txn_id(probe.handle)
  }
}

extension LMDBError {
  /// The error of a read whose pages may have been overwritten meanwhile.
  static let lostSnapshot = LMDBError(
    .busy, operation: "read", message: "Another program has ended this snapshot",
    remedy: "Try again; if it keeps happening, end other programs that use the file with liblmdb itself")
}
