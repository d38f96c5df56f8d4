import CLMDB

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

  /// The transaction that a second reader gets, which is ended at once; `nil` without a slot for it.
  private func lastAcknowledgedTransactionID() -> Int? {
    guard let probe = try? enterReader() else { return nil }
    guard startReader(probe) == MDB_SUCCESS else {
      endReader(probe)
      return nil
    }
    defer { endRead(probe) }
    // Live until the end of this function.
    return unsafe mdb_txn_id(probe.handle)
  }
}
