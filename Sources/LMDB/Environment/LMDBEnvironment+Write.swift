extension LMDBEnvironment {
  /// Runs a body with the write transaction and commits when it returns; if it throws, nothing happened.
  ///
  /// If the map is full it grows and the body runs again from the start, so it must have no other effects.
  /// That happens even if the body caught the error or threw another one.
  ///
  /// Throws what ``beginWrite()``, ``WriteTransaction/commit()`` and the body throw; `mapFull` if the map can grow no
  /// further, and what else ``growMap()`` throws.
  ///
  /// The corresponding C functions are `mdb_txn_begin` and `mdb_txn_commit`.
  @available(*, noasync, message: "a write transaction must end on the thread it began on")
  @inlinable
  public func write<R: ~Copyable>(_ body: (inout WriteTransaction) throws -> R) throws -> R {
    var attempt = WriteAttempt()
    while true {
      do {
        return try writeOnce(body, &attempt)
      } catch {
        guard attempt.hasFilledMap else { throw error }
        try makeRoom(after: &attempt)
      }
    }
  }

  @available(*, noasync)
  @inlinable
  func writeOnce<R: ~Copyable>(
    _ body: (inout WriteTransaction) throws -> R,
    _ attempt: inout WriteAttempt
  ) throws -> R {
    // The last attempt does not explain why a transaction cannot begin.
    attempt.hasFilledMap = false
    var transaction = try beginWrite()
    let core = transaction.core
    defer { attempt.note(core) }
    let result = try body(&transaction)
    try transaction.commit()
    return result
  }

  /// Takes the next step that may make room in a full map.
  @usableFromInline
  func makeRoom(after attempt: inout WriteAttempt) throws(LMDBError) {
    if !attempt.hasClearedReaders {
      attempt.hasClearedReaders = true
      // Dead processes' snapshots may be all that fills the map.
      if try clearStaleReaders() > 0 { return }
    }
    try growMap(from: attempt.mapSizeInBytes)
  }
}

/// How the attempts of one `write` went.
@usableFromInline
struct WriteAttempt {
  @usableFromInline var hasFilledMap = false
  @usableFromInline var hasClearedReaders = false
  @usableFromInline var mapSizeInBytes = 0

  @usableFromInline
  init() {}

  /// Records why a transaction ended.
  @usableFromInline
  mutating func note(_ core: TransactionCore) {
    hasFilledMap = core.failure == .mapFull
    mapSizeInBytes = core.mapSizeInBytes
  }
}
