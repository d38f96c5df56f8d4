import CLMDB

/// A consistent snapshot of the environment at the time when the transaction began.
///
/// Spans and cursors taken from it end before it, which the compiler checks. While it lives, pages it can see are not
/// reused: a long one lets the file grow.
public struct ReadTransaction: ~Copyable, LMDBTransaction {
  // Keeps the environment open until the transaction has ended.
  let environment: LMDBEnvironment
  @usableFromInline
  let core: TransactionCore

  /// The way into the transaction for this module's own calls.
  @inlinable public var access: TransactionAccess {
    @_lifetime(borrow self)
    get { TransactionAccess(core, of: self) }
  }

  /// The number of the acknowledged transaction that this snapshot shows; two snapshots with one number are the same.
  ///
  /// Do not store the number: in a compacted copy it starts again from the beginning.
  package var snapshotNumber: Int {
    // Live until this is dropped.
    unsafe Int(mdb_txn_id(core.handle))
  }

  /// Whether the snapshot is still protected from being overwritten: its slot is in the table of readers.
  ///
  /// If not, another program has cleared the table, and reads may return anything.
  package var isHeld: Bool {
    environment.isHeld(self.core)
  }

  deinit {
    environment.endRead(core)
  }
}
