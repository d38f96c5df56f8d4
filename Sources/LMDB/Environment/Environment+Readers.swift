import CLMDB

extension Environment {
  /// Frees the slots of readers whose process has died, and gives their number.
  ///
  /// Their snapshots keep pages from being used again. Liveness is told by process id, so processes in different
  /// process-id namespaces must not share an environment.
  ///
  /// The corresponding C function is `mdb_reader_check`.
  @discardableResult
  public func clearStaleReaders() throws(LMDBError) -> Int {
    try whileOpen("check readers") { () throws(LMDBError) in
      var dead: Int32 = 0
      try Self.check(unsafe mdb_reader_check(handle, &dead), "check readers")
      return Int(dead)
    }
  }
}
