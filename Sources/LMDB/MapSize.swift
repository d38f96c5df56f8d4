import CLMDB

extension LMDBEnvironment {
  /// Grows the map: adopts a size that another process has set, or else doubles it.
  ///
  /// Waits for the end of this process's transactions and keeps new ones waiting meanwhile.
  ///
  /// Throws `busy` at once if this thread has a live transaction itself, or if the others take longer than the wait
  /// limit; `mapFull` at the largest size of the options; `outOfMemory` if the system refuses. Every later call then
  /// throws `panic`, because the old map is gone: close the environment and open it again.
  ///
  /// The corresponding C function is `mdb_env_set_mapsize`.
  public func growMap() throws(LMDBError) {
    try growMap(from: whileOpen("grow the map") { mapSizeInBytes })
  }

  /// Adopts the size that another process has set.
  func adoptMapSize() throws(LMDBError) {
    try remap("adopt the map size") { (state) throws(LMDBError) in
      try setMapSize(0, "adopt the map size", in: &state)
    }
  }

  /// Grows the map beyond the size that was too small.
  func growMap(from size: Int) throws(LMDBError) {
    let limit = options.maximumMapSizeInBytes
    try remap("grow the map") { (state) throws(LMDBError) in
      // Somebody else may have grown it while this call waited.
      if mapSizeInBytes > size { return }
      // Zero asks for the size in the file, which is smaller than ours if nobody committed since we set ours.
      try setMapSize(0, "grow the map", in: &state)
      if mapSizeInBytes > size { return }
      guard size < limit else {
        try setMapSize(size, "grow the map", in: &state)
        throw LMDBError(.mapFull, operation: "grow the map", remedy: "Raise maximumMapSizeInBytes or delete data")
      }
      try setMapSize(min(size * 2, limit), "grow the map", in: &state)
    }
  }

  /// Maps the file again.
  ///
  /// If the system refuses, the map is gone, and liblmdb would still use it. It cannot be restored either: without a map
  /// `mdb_env_set_mapsize` records the size and maps nothing.
  private func setMapSize(_ size: Int, _ operation: String, in state: inout State) throws(LMDBError) {
    assert(state.isDraining && state.liveCount == 0, "the map moves under a transaction")
    // No transaction of this process is live, as moving the map demands; `remap` ensures it.
    let result = unsafe mdb_env_set_mapsize(handle, size)
    guard result != MDB_SUCCESS else { return }
    state.hasLostMap = true
    throw LMDBError(returnCode: result, operation: operation)
  }

  /// Runs a body that moves the map, while no transaction of this process is live.
  private func remap(_ operation: String, _ body: (inout State) throws(LMDBError) -> Void) throws(LMDBError) {
    try drained(operation, waitingAtMost: options.waitLimit) { (state) throws(LMDBError) in
      // Another thread may have lost it while this one waited; liblmdb would look into it.
      if state.hasLostMap { throw LMDBError(.panic, operation: operation) }
      try body(&state)
    }
  }
}
