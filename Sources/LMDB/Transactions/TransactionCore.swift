import CLMDB

/// The part of a transaction that is not generic: its handle and the checks before each use of it.
@safe
@usableFromInline
final class TransactionCore {
  // The transaction that owns this core keeps the environment alive, so neither outlives it. A strong reference would
  // create a cycle through the idle readers.
  unowned(unsafe) let environment: LMDBEnvironment
  let stamps: DatabaseStamps
  let forkGeneration: ForkGeneration
  let isWrite: Bool
  let parent: TransactionCore?
  // Used by the owner of the transaction only, one access at a time; a check of that at run time would cost a tenth of a
  // read.
  @exclusivity(unchecked) var handle: OpaquePointer?
  /// The size of the map a write transaction has, for growing it no more than once.
  let mapSizeInBytes: Int
  /// Why nothing but an abort is left, if so.
  var failure: LMDBError.Code?
  /// Databases first opened here: an abort invalidates their handles.
  var openedDatabases: [UInt32] = []
  /// Databases into which a batch of entries has been written here.
  var batched: Set<UInt32> = []
  /// Keeps the environment of a stranded transaction alive until its thread has freed it.
  var strandedEnvironment: LMDBEnvironment?
  // Guarded by the state of the environment.
  var isLive = true
  var thread: UInt
  var position = 0

  init(environment: LMDBEnvironment, isWrite: Bool, thread: UInt, parent: TransactionCore? = nil) {
    // The transaction keeps it alive, see above.
    unsafe self.environment = environment
    stamps = environment.stamps
    forkGeneration = environment.forkGeneration
    self.isWrite = isWrite
    mapSizeInBytes = isWrite ? environment.mapSizeInBytes : 0
    self.thread = thread
    self.parent = parent
  }

  /// Returns the handle for use with a database, or throws what prevents it.
  @inline(__always)
  func usableHandle(for database: DatabaseHandle, _ operation: StaticString) throws(LMDBError) -> OpaquePointer {
    guard unsafe handle != nil, failure == nil, stamps.contains(database), isOfThisProcess else {
      throw refusal(of: database, "\(operation)")
    }
    // Not `nil`, by the guard.
    return unsafe handle.unsafelyUnwrapped
  }

  /// Returns the handle, or throws what prevents any use.
  @inline(__always)
  func usableHandle(_ operation: @autoclosure () -> String) throws(LMDBError) -> OpaquePointer {
    guard let handle = unsafe handle, failure == nil, isOfThisProcess else {
      throw refusal(of: nil, operation())
    }
    // For a call that ends before the transaction does.
    return unsafe handle
  }

  private var isOfThisProcess: Bool {
    // The owner keeps the environment alive.
    unsafe forkGeneration.current == environment.openedInGeneration
  }

  private func refusal(of database: DatabaseHandle?, _ operation: String) -> LMDBError {
    if !isOfThisProcess { return LMDBError(.forked, operation: operation) }
    if let failure {
      let message = "The transaction failed before with \(failure)"
      return LMDBError(.badTransaction, operation: operation, message: message)
    }
    if let database, !stamps.contains(database) { return LMDBError(.badDatabase, operation: operation) }
    return LMDBError(.badTransaction, operation: operation)
  }

  /// Aborts, whatever kind it is; the databases it opened are gone.
  func abortHandle() {
    guard let handle = unsafe handle else { return }
    unsafe self.handle = nil
    // The handle is forgotten before it is freed, so nothing can use it afterwards.
    unsafe mdb_txn_abort(handle)
    dropOpenedDatabases()
  }
}

@available(*, unavailable)
extension TransactionCore: Sendable {}
