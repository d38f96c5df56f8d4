/// A read or a write transaction, for what both can do.
///
/// Only ``ReadTransaction`` and ``WriteTransaction`` conform.
public protocol LMDBTransaction: ~Copyable {
  /// The way into the transaction for this module's own calls; nobody else can do anything with it.
  var access: TransactionAccess {
    @_lifetime(borrow self)
    get
  }
}

/// The inside of a transaction, which ends with the borrow of it.
///
/// Public only because a protocol names it. It cannot be kept: what it leads to is freed with the transaction. Copies end
/// with the borrow as well; without them the compiler (6.3.1) ends itself where it optimises.
public struct TransactionAccess: ~Escapable {
  @usableFromInline
  let core: TransactionCore

  @inlinable
  @_lifetime(borrow transaction)
  init<T: LMDBTransaction & ~Copyable>(_ core: TransactionCore, of transaction: borrowing T) {
    self.core = core
  }
}

extension LMDBTransaction where Self: ~Copyable {
  @inlinable var core: TransactionCore { access.core }
}
