/// The environment's only write transaction at a time, across all processes.
///
/// It sees its own changes; others see them once it is committed. Dropping it aborts it. It must end on the thread it
/// began on. After an error that may have left a change half done every later call throws `badTransaction`.
public struct WriteTransaction: ~Copyable, LMDBTransaction {
  // Keeps the environment open until the transaction has ended.
  let environment: LMDBEnvironment
  @usableFromInline
  let core: TransactionCore

  /// The way into the transaction for this module's own calls.
  @inlinable public var access: TransactionAccess {
    @_lifetime(borrow self)
    get { TransactionAccess(core, of: self) }
  }

  deinit {
    environment.abortWrite(core)
  }

  /// Makes the changes permanent and visible, or throws and changes nothing.
  ///
  /// After a nested transaction's commit they belong to its parent.
  ///
  /// Throws `badTransaction` after an earlier failure; `wrongThread` on another thread than it began on, in which case
  /// the write lock stays taken until the thread it began on calls the environment again, which aborts it; `diskFull`,
  /// `ioFailure`; `commitOutcomeUnknown` if the disk failed at the very last step and the outcome is unknown.
  /// With ``LMDBEnvironment/Options/writeWaitLimit``, by which nobody else can have written meanwhile, that is looked up,
  /// and the commit throws only if it has not taken place. Every later call throws `panic` in either case.
  ///
  /// The corresponding C function is `mdb_txn_commit`.
  public consuming func commit() throws(LMDBError) {
    try environment.commitWrite(core)
  }

  /// Undoes the changes.
  ///
  /// The corresponding C function is `mdb_txn_abort`.
  public consuming func abort() {
    // Dropping it is all there is to do; the method makes that visible to a reader of the call.
  }

  /// Runs a body with a transaction inside this one, whose changes become part of this one when the body returns; if it
  /// throws, they are undone.
  ///
  /// ```swift
  /// try transaction.nested { nested in
  ///   try names.remove(forKey: 1, in: &nested)
  ///   try names.put("Ada", forKey: 2, in: &nested)
  /// }
  /// ```
  ///
  /// An error leaves this transaction unchanged, except `mapFull`: then the whole must run again on a larger map. Costs
  /// some microseconds.
  ///
  /// Throws `badTransaction` after an earlier failure, also one that the body caught; `outOfMemory`, and what the body
  /// throws.
  ///
  /// The corresponding C functions are `mdb_txn_begin` with a parent and `mdb_txn_commit`.
  public mutating func nested<R: ~Copyable>(_ body: (inout WriteTransaction) throws -> R) throws -> R {
    var nested = try environment.beginNested(in: core)
    let result = try body(&nested)
    try nested.commit()
    return result
  }
}
