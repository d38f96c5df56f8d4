import CLMDB
import SystemPackage

/// A read or a write transaction, for what both can do.
///
/// Only ``ReadTransaction`` and ``WriteTransaction`` conform.
public protocol LMDBTransaction: ~Copyable {
  /// The way into the transaction for this module's own calls; other code can do nothing with it.
  var access: TransactionAccess {
    @_lifetime(borrow self)
    get
  }
}

/// The inside of a transaction, which ends with the borrow of it.
///
/// Public only because a protocol names it. It cannot be stored, because the memory behind it is freed with the
/// transaction. Copies end with the borrow as well; without them the compiler (6.3.1) ends itself where it optimises.
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
  ///
  /// With a log it is the number of a commit.
  package var snapshotNumber: Int {
    // Live until this is dropped.
    core.commit.map { Int($0) } ?? (unsafe Int(mdb_txn_id(core.handle)))
  }

  /// Whether the snapshot is still protected from being overwritten: its slot is in the table of readers.
  ///
  /// If not, another program has cleared the table, and reads may return anything.
  package var hasReaderSlot: Bool {
    environment.hasReaderSlot(core)
  }

  deinit {
    environment.endRead(core)
  }
}

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
  /// After the commit of a nested transaction, the changes belong to its parent.
  ///
  /// Throws `badTransaction` after an earlier failure; `wrongThread` on a different thread than the one it began on, in
  /// which case the write lock stays taken until the thread it began on calls the environment again, which aborts it;
  /// `diskFull`, `ioFailure`; `commitOutcomeUnknown` if the disk failed at the very last step and the outcome is
  /// unknown. With ``LMDBEnvironment/Options/writeWaitLimit``, which keeps other writers out until then, the file is
  /// read again, and this call throws only if the commit is not there. Every later call throws `panic` in either case.
  ///
  /// The corresponding C function is `mdb_txn_commit`.
  public consuming func commit() throws(LMDBError) {
    try environment.commitWrite(core)
  }

  /// Whether the changes go to a log.
  package var goesToLog: Bool { environment.hasLog }

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

/// A view of a transaction of either kind, for code that is the same for both; it must not outlive the transaction.
package struct TransactionView: ~Copyable, LMDBTransaction {
  // Keeps the environment alive, because an ended transaction may still be asked for its state.
  private let environment: LMDBEnvironment
  @usableFromInline
  let core: TransactionCore

  package init<T: LMDBTransaction & ~Copyable>(of transaction: borrowing T) {
    core = transaction.core
    // The transaction keeps its environment alive.
    environment = unsafe core.environment
  }

  /// Access to the data.
  @inlinable public var access: TransactionAccess {
    @_lifetime(borrow self)
    get { TransactionAccess(core, of: self) }
  }
}

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
  /// The changes that are seen in addition to the tree; `nil` if there are none, and for a write that goes into the
  /// tree.
  var overlay: LogOverlay?
  /// How many changes the overlay of a nested write had when it began.
  var gatheredBefore = 0
  /// The commit that a snapshot shows; `nil` without a log.
  var commit: UInt64?
  /// The reader whose handle a write with an overlay has.
  var reader: TransactionCore?
  /// The place after everything that a direct commit of an environment with a log follows; `nil` for other transactions.
  var directEnd: LogPlace?
  /// The size of the map a write transaction has, for growing it no more than once.
  var mapSizeInBytes: Int
  /// The reason why the transaction can only be aborted; `nil` if it can be used.
  var failure: LMDBError.Code?
  /// Which databases were open when a write transaction began.
  var databaseGeneration = 0
  /// Databases first opened here: an abort invalidates their handles.
  var openedDatabases: [UInt32] = []
  /// Databases into which a batch of entries has been written here.
  var batched: Set<UInt32> = []
  /// Keeps the environment of an abandoned transaction alive until its thread has freed it.
  var abandonedEnvironment: LMDBEnvironment?
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

extension TransactionCore {
  /// Creates the error of a failed call, and remembers whether only an abort is left.
  ///
  /// liblmdb marks a transaction as bad in most such places, not in all: a transaction whose last change was only half
  /// done must not be committed.
  func failed(_ returnCode: Int32, _ operation: String) -> LMDBError {
    if returnCode == Errno.invalidArgument.rawValue {
      // The arguments are sound: the handle is younger than the transaction.
      let message = "The transaction began before the database was opened"
      return LMDBError(.badDatabase, operation: operation, message: message, returnCode: returnCode)
    }
    // The owner keeps the environment alive.
    let error = unsafe environment.explain(returnCode, operation)
    if isWrite && !Self.harmless.contains(returnCode) { fail(error.code) }
    return error
  }

  /// Marks the transaction as one that can only be aborted.
  ///
  /// A full map concerns the environment, not the nested transaction. So it also marks the parents: if the caller
  /// ignores the failure of a nested transaction, everything still runs again on a larger map.
  func fail(_ code: LMDBError.Code) {
    if failure == nil { failure = code }
    if code == .mapFull { parent?.fail(code) }
  }

  /// Codes that mean that the call did nothing.
  private static let harmless: [Int32] = [MDB_NOTFOUND, MDB_KEYEXIST, MDB_BAD_VALSIZE, MDB_DBS_FULL, MDB_INCOMPATIBLE]
}

/// The way in which storing treats an existing value.
@usableFromInline
enum StoreMode: Sendable {
  case replace, insert, append
}

extension TransactionCore {
  /// Finds the bytes of a key; they belong to the transaction.
  @usableFromInline
  func find(_ key: UnsafeRawBufferPointer, in database: DatabaseHandle) throws(LMDBError) -> UnsafeRawBufferPointer? {
    let transaction = try unsafe usableHandle(for: database, "get")
    if let version = unsafe try overlay?.version(of: key, in: database) {
      // The overlay keeps it as long as the transaction.
      return version.isRemoval ? nil : unsafe version.value
    }
    return unsafe try findInTree(key, transaction, in: database)
  }

  /// Finds the bytes of a key in the tree, whatever the overlay has.
  func findInTree(
    _ key: UnsafeRawBufferPointer, in database: DatabaseHandle
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    unsafe try findInTree(key, usableHandle(for: database, "get"), in: database)
  }

  @inline(__always)
  private func findInTree(
    _ key: UnsafeRawBufferPointer, _ transaction: OpaquePointer, in database: DatabaseHandle
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    // liblmdb reads the key within the call only, and never writes to it.
    var keyBytes = unsafe MDB_val(key)
    var value = unsafe MDB_val()
    let result = unsafe mdb_get(transaction, database.index, &keyBytes, &value)
    // A page of the map: the caller ties it to the transaction.
    if result == MDB_SUCCESS { return unsafe value.bytes }
    if result == MDB_NOTFOUND { return nil }
    throw failed(result, "get")
  }

  /// Reserves room for a value and returns it to be written, or `nil` if the mode forbids it.
  ///
  /// With a cursor of the database, the search for the place begins where the cursor is.
  @usableFromInline
  func reserve(
    _ byteCount: Int,
    for key: UnsafeRawBufferPointer,
    _ mode: StoreMode,
    in database: DatabaseHandle,
    by cursor: CursorHandle? = nil
  ) throws(LMDBError) -> UnsafeMutableRawBufferPointer? {
    guard byteCount >= 0, byteCount <= LMDBLimits.valueSizeInBytes else {
      throw LMDBError(.badValueSize, operation: "put")
    }
    if overlay != nil {
      let (isInTree, room) = unsafe try reserveInLog(byteCount, for: key, mode, in: database)
      if !isInTree { return unsafe room }
    }
    // The handle is live: it has just been checked.
    let transaction = try unsafe usableHandle(for: database, "put")
    // liblmdb reads the key within the call only, and never writes to it.
    var keyBytes = unsafe MDB_val(key)
    // With MDB_RESERVE only the size is read, and the address of the room is returned.
    var value = unsafe MDB_val(mv_size: byteCount, mv_data: nil)
    let result =
      if let cursor {
        unsafe cursor.put(&keyBytes, &value, mode.flags)
      } else {
        unsafe mdb_put(transaction, database.index, &keyBytes, &value, mode.flags)
      }
    if result == MDB_SUCCESS { return unsafe UnsafeMutableRawBufferPointer(start: value.mv_data, count: byteCount) }
    if result == MDB_KEYEXIST { return nil }
    throw failed(result, "put")
  }

  /// Clears a value whose codec stopped early, and returns the error to throw.
  @usableFromInline
  func failShortValue(_ written: Int, of page: UnsafeMutableRawBufferPointer) -> LMDBError {
    for index in written..<page.count { unsafe page[index] = 0 }
    fail(.badValueSize)
    return LMDBError(
      .badValueSize,
      operation: "put",
      message: "The codec announced \(page.count) bytes and wrote \(written)"
    )
  }

  /// Removes a key, and returns whether there was one.
  @usableFromInline
  func remove(_ key: UnsafeRawBufferPointer, in database: DatabaseHandle) throws(LMDBError) -> Bool {
    let transaction = try unsafe usableHandle(for: database, "remove")
    if let overlay {
      guard unsafe try find(key, in: database) != nil else { return false }
      unsafe try overlay.remove(key, in: database)
      return true
    }
    // liblmdb reads the key within the call only, and never writes to it.
    var keyBytes = unsafe MDB_val(key)
    let result = unsafe mdb_del(transaction, database.index, &keyBytes, nil)
    if result == MDB_SUCCESS { return true }
    if result == MDB_NOTFOUND { return false }
    throw failed(result, "remove")
  }

  /// Removes the keys of a range, and returns how many there were.
  @usableFromInline
  func removeAll(within bounds: EncodedBounds, in database: DatabaseHandle) throws(LMDBError) -> Int {
    var (count, lower, isDone) = (0, bounds.lower, false)
    while !isDone {
      isDone = try removeSome(from: &lower, upTo: bounds.upper, in: database, &count)
      if !isDone { try continueInTree() }
    }
    return count
  }

  /// Removes keys until a write has gathered too much, and returns whether none is left.
  private func removeSome(
    from lower: inout [UInt8]?, upTo upper: [UInt8]?, in database: DatabaseHandle, _ count: inout Int
  ) throws(LMDBError) -> Bool {
    let cursor = try CursorHandle(of: database, in: self)
    // The cursor is not used afterwards, and the transaction is still live when it is closed.
    defer { cursor.close() }
    while !hasGatheredEnough {
      // By a key and not by `MDB_NEXT`, which has had faults in liblmdb where a removal had emptied a page.
      // The key is read before anything changes.
      let key = unsafe try cursor.moveToFirst(atOrAfter: lower)?.key
      guard let key = unsafe key, unsafe !reaches(key.bytes, upper) else { return true }
      lower = unsafe [UInt8](key)
      try cursor.remove()
      count += 1
    }
    return false
  }

  /// Removes every key of a database.
  func removeAll(in database: DatabaseHandle) throws(LMDBError) {
    // With a log there is nothing to do in the tree then.
    if overlay != nil, try statistics(of: database).entryCount == 0 { return }
    try continueInTree()
    let transaction = try unsafe usableHandle(for: database, "remove all")
    // Zero empties; one would delete the database and its handle, which may be in use.
    let result = unsafe mdb_drop(transaction, database.index, 0)
    guard result == MDB_SUCCESS else { throw failed(result, "remove all") }
  }
}

extension StoreMode {
  fileprivate var flags: UInt32 {
    switch self {
    case .replace: UInt32(MDB_RESERVE)
    case .insert: UInt32(MDB_RESERVE | MDB_NOOVERWRITE)
    case .append: UInt32(MDB_RESERVE | MDB_APPEND)
    }
  }
}

extension MDB_val {
  /// A view of bytes that liblmdb will only read.
  init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  /// The bytes liblmdb points to.
  var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
}
