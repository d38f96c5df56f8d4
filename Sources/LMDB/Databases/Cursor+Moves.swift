extension DatabaseCursor {
  /// Moves to the first entry, and returns whether there is one.
  ///
  /// Throws `badTransaction`, `ioFailure`, `corrupted`.
  ///
  /// The corresponding C function is `mdb_cursor_get` with `MDB_FIRST`.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func moveToFirst() throws(LMDBError) -> Bool {
    try move(.first, otherwise: .afterLast)
  }

  /// Moves to the last entry, and returns whether there is one.
  ///
  /// Throws as ``moveToFirst()``.
  ///
  /// The corresponding C function is `mdb_cursor_get` with `MDB_LAST`.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func moveToLast() throws(LMDBError) -> Bool {
    try move(.last, otherwise: .beforeFirst)
  }

  /// Moves to the next entry, or to the first one if the cursor was not moved yet, and returns whether there is one.
  ///
  /// Throws as ``moveToFirst()``.
  ///
  /// The corresponding C function is `mdb_cursor_get` with `MDB_NEXT`.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func next() throws(LMDBError) -> Bool {
    switch place {
    case .atEntry: try move(.next, otherwise: .afterLast)
    case .nowhere, .beforeFirst: try moveToFirst()
    case .afterLast: false
    }
  }

  /// Moves to the previous entry, or to the last one if the cursor was not moved yet, and returns whether there is one.
  ///
  /// Throws as ``moveToFirst()``.
  ///
  /// The corresponding C function is `mdb_cursor_get` with `MDB_PREV`.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func previous() throws(LMDBError) -> Bool {
    switch place {
    case .atEntry: try move(.previous, otherwise: .beforeFirst)
    case .nowhere, .afterLast: try moveToLast()
    case .beforeFirst: false
    }
  }

  /// Moves to the entry of a key, and returns whether there is one; if not, the cursor is at no entry.
  ///
  /// Throws `badKeySize`, and as ``moveToFirst()``.
  ///
  /// The corresponding C function is `mdb_cursor_get` with `MDB_SET_KEY`.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func move(to key: Key) throws(LMDBError) -> Bool {
    try move(.exactly, encoding: key, otherwise: .nowhere)
  }

  /// Moves to the first entry whose key is not less, and returns whether there is one.
  ///
  /// Throws `badKeySize`, and as ``moveToFirst()``.
  ///
  /// The corresponding C function is `mdb_cursor_get` with `MDB_SET_RANGE`.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func move(toFirstAtOrAfter key: Key) throws(LMDBError) -> Bool {
    try move(.atOrAfter, encoding: key, otherwise: .afterLast)
  }

  /// Moves to the last entry whose key is less, and returns whether there is one.
  ///
  /// Throws `badKeySize`, and as ``moveToFirst()``.
  ///
  /// The corresponding C function is `mdb_cursor_get` with `MDB_SET_RANGE`, then `MDB_PREV`.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func move(toLastBefore key: Key) throws(LMDBError) -> Bool {
    _ = try move(toFirstAtOrAfter: key)
    return try previous()
  }
}

extension DatabaseCursor {
  /// Moves without a key.
  @usableFromInline
  @_lifetime(self: copy self)
  mutating func move(_ move: CursorMove, otherwise elsewhere: CursorPlace) throws(LMDBError) -> Bool {
    // No key is read in these moves.
    try unsafe stand(at: handle.move(move, key: UnsafeRawBufferPointer(start: nil, count: 0)), otherwise: elsewhere)
  }

  /// Moves by a key.
  @inlinable
  @_lifetime(self: copy self)
  mutating func move(
    _ move: CursorMove,
    encoding key: some KeyCodable,
    otherwise elsewhere: CursorPlace
  ) throws(LMDBError) -> Bool {
    // The encoded key lives on the stack, and is used only within the call.
    let handle = handle
    let found = unsafe try withEncoded(key) { (bytes) throws(LMDBError) in unsafe try handle.move(move, key: bytes) }
    return unsafe stand(at: found, otherwise: elsewhere)
  }

  @inlinable
  @_lifetime(self: copy self)
  mutating func stand(
    at entry: (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)?,
    otherwise elsewhere: CursorPlace
  ) -> Bool {
    // What liblmdb points to stays until the cursor moves, which replaces both.
    guard let entry = unsafe entry else {
      place = elsewhere
      return false
    }
    place = .atEntry
    unsafe keyBuffer = entry.key
    unsafe valueBuffer = entry.value
    return true
  }
}
