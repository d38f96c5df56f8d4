import CLMDB

extension Environment {
  /// Makes the map larger: takes over a size that another process has set, or else doubles it.
  ///
  /// Waits for the end of this process's transactions and keeps new ones waiting meanwhile.
  ///
  /// Throws `busy` at once if this thread has a live transaction itself, or if the others take longer than the wait
  /// limit; `mapFull` at the largest size of the options; `outOfMemory` if the system refuses, and the map stays as it was.
  ///
  /// The corresponding C function is `mdb_env_set_mapsize`.
  public func growMap() throws(LMDBError) {
    try growMap(from: whileOpen("grow the map") { mapSizeInBytes })
  }

  /// Takes over the size that another process has set.
  func adoptMapSize() throws(LMDBError) {
    try remap("adopt the map size") { () throws(LMDBError) in
      try Self.check(unsafe mdb_env_set_mapsize(handle, 0), "adopt the map size")
    }
  }

  /// Makes the map larger than it was when it was too small.
  func growMap(from size: Int) throws(LMDBError) {
    let limit = options.maximumMapSizeInBytes
    try remap("grow the map") { () throws(LMDBError) in
      // Somebody else may have grown it while this call waited.
      if mapSizeInBytes > size { return }
      // Zero asks for the size in the file, which is smaller than ours if nobody committed since we set ours.
      try Self.check(unsafe mdb_env_set_mapsize(handle, 0), "grow the map")
      if mapSizeInBytes > size { return }
      guard size < limit else {
        // No transaction of this process is live, as moving the map demands; `remap` sees to it.
        try Self.check(unsafe mdb_env_set_mapsize(handle, size), "grow the map")
        throw LMDBError(.mapFull, operation: "grow the map", remedy: "Raise maximumMapSizeInBytes or delete data")
      }
      // No transaction is live, as above.
      let result = unsafe mdb_env_set_mapsize(handle, min(size * 2, limit))
      if result != MDB_SUCCESS {
        // The old map is gone by now; its size was possible a moment ago.
        try Self.check(unsafe mdb_env_set_mapsize(handle, size), "restore the map")
        throw LMDBError(returnCode: result, operation: "grow the map")
      }
    }
  }

  /// Runs a body that moves the map, while no transaction of this process is live.
  private func remap(_ operation: String, _ body: () throws(LMDBError) -> Void) throws(LMDBError) {
    try drained(operation, waitingAtMost: options.waitLimit) { (_) throws(LMDBError) in try body() }
  }

  var mapSizeInBytes: Int {
    // The call only writes into the local it is given.
    var information = unsafe MDB_envinfo()
    unsafe mdb_env_info(handle, &information)
    return unsafe information.me_mapsize
  }
}
