/// A read or a write transaction, for what both can do.
///
/// Only ``ReadTransaction`` and ``WriteTransaction`` conform.
public protocol Transaction: ~Copyable {
  /// What reads go through; of no use outside this module.
  var core: TransactionCore { get }
}
