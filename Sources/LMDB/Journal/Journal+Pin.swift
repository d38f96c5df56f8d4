import CLMDB
import TallySystem

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// The pin: a read transaction that keeps the pages of the steady commit from being used again.

extension Journal {
  /// Begins a read transaction at the newest commit; the caller holds the write lock, or nobody writes.
  static func beginPin(_ handle: OpaquePointer) throws -> OpaquePointer? {
    var pin: OpaquePointer?
    var result = unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &pin)
    if result == MDB_READERS_FULL {
      // Slots of processes that have ended are all that can be done about it.
      var dead: Int32 = 0
      unsafe mdb_reader_check(handle, &dead)
      result = unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &pin)
    }
    try LMDBEnvironment.check(result, "pin")
    return unsafe pin
  }

  /// Exchanges the pin; `nil` only ends the old one.
  func setPin(_ pin: OpaquePointer?) {
    let old = unsafe state.withLock { state in
      let old = unsafe state.pin
      unsafe state.pin = pin
      // Live: begun by the caller.
      state.pinnedTransaction = unsafe pin.map { unsafe UInt64(mdb_txn_id($0)) }
      return unsafe old
    }
    // Nobody else knows it any more. It only frees its slot.
    unsafe mdb_txn_abort(old)
  }

  /// Forgets a pin whose slot is lost: ending it would clear the slot, which may be another process's by now.
  func forgetPin() {
    state.withLock { state in
      unsafe state.pin = nil
      state.pinnedTransaction = nil
    }
  }

  /// Whether a slot of the pin's transaction is still this process's: others may have taken it for dead.
  func isPinLive(_ environment: LMDBEnvironment) throws -> Bool {
    while true {
      guard let pinned = state.withLock({ $0.pinnedTransaction }) else { return false }
      if try environment.hasReader(ofThisProcessAt: pinned) { return true }
      // A checkpoint may have exchanged it meanwhile.
      if state.withLock({ $0.pinnedTransaction }) == pinned { return false }
    }
  }

  /// Whether some other process has a pin at a commit or before it: what the control trusts.
  func isPinnedByOthers(_ environment: LMDBEnvironment, atMost transaction: UInt64) throws -> Bool {
    try environment.readerTable().contains { reader in
      reader.processID != getpid() && reader.transactionID.map { $0 <= Int(transaction) } ?? false
    }
  }
}
