import CLMDB

extension LMDBEnvironment {
  /// Flushes to the disk what ``Durability/noMetaSync`` has left for later.
  ///
  /// With full durability there is nothing to do. `force` flushes even where LMDB would skip it.
  ///
  /// Throws `readOnly`, `closed`, `forked`, `diskFull`, `ioFailure`.
  ///
  /// The corresponding C function is `mdb_env_sync`.
  public func sync(force: Bool = true) throws(LMDBError) {
    if options.isReadOnly { throw LMDBError(.readOnly, operation: "sync") }
    let result = try whileOpen("sync") { unsafe mdb_env_sync(handle, force ? 1 : 0) }
    guard result == MDB_SUCCESS else { throw explain(result, "sync") }
  }
}
