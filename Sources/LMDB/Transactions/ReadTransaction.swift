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

  deinit {
    environment.endRead(core)
  }
}
