extension LMDBTransaction where Self: ~Copyable {
  /// Returns the names of all databases, in the order of their bytes.
  ///
  /// ```swift
  /// let names = try environment.read { try $0.databaseNames() }
  /// ```
  ///
  /// A name that is not UTF-8, which only another program can have written, is left out: it cannot be opened here.
  ///
  /// Throws `badTransaction`, `ioFailure`, `corrupted`.
  ///
  /// The corresponding C function is `mdb_cursor_get` on the database without a name.
  ///
  /// - Complexity: as many steps as there are databases.
  public func databaseNames() throws(LMDBError) -> [String] {
    try core.databaseNames().names
  }

  /// Returns the names of all databases, and throws `incompatible` if anything else stands beside them.
  func namesOfDatabasesOnly() throws(LMDBError) -> [String] {
    let (names, otherCount) = try core.databaseNames()
    guard otherCount == 0 else { throw LMDBError(.incompatible, operation: "list databases") }
    return names
  }
}

extension TransactionCore {
  /// The names of databases that can be opened here, and how many other entries there are.
  fileprivate func databaseNames() throws(LMDBError) -> (names: [String], otherCount: Int) {
    let cursor = try CursorHandle(ofNamesIn: self)
    // Nothing else is done with it, and the transaction is still live then.
    defer { cursor.close() }
    var (names, entryCount): ([String], Int) = ([], 0)
    var move = CursorMove.first
    // No key is read in these moves; what they find is copied before the next one.
    while let entry = unsafe try cursor.move(move, key: UnsafeRawBufferPointer(start: nil, count: 0)) {
      move = .next
      entryCount += 1
      // Another program may keep its own values beside the records of databases; their names can hold no NUL.
      guard unsafe entry.value.count == TreeRecord.byteCount, unsafe !entry.key.contains(0) else { continue }
      if let name = unsafe String(validating: entry.key, as: UTF8.self) { names.append(name) }
    }
    return (names, entryCount - names.count)
  }
}
