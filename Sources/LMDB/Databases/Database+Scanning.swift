extension Database {
  /// Calls the body with the bytes of every entry from a key (included) up to another one (excluded), in order, until it
  /// answers `false`.
  ///
  /// Without bounds it goes through the whole database. The spans are the file's own pages, and end with the call.
  ///
  /// Throws `badKeySize`, `badDatabase`, `badTransaction`, and what the body throws.
  ///
  /// The corresponding C function is `mdb_cursor_get`.
  @inlinable
  public func forEach<T: LMDBTransaction & ~Copyable>(
    from lower: Key? = nil,
    upTo upper: Key? = nil,
    reversed: Bool = false,
    in transaction: borrowing T,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws {
    let bounds = EncodedBounds(lower: try lower.map(encodedKey), upper: try upper.map(encodedKey))
    try scan(bounds, reversed: reversed, in: transaction, body)
  }

  /// Calls the body with the bytes of every entry whose key lies in a range, in order, until it answers `false`.
  ///
  /// ```swift
  /// try words.forEach(within: "a"..."c", in: transaction) { key, value in
  ///   show(try String(decoding: key), try UInt64(decoding: value))
  ///   return true
  /// }
  /// ```
  ///
  /// Throws as the form with bounds, which is for keys that cannot be compared, such as bytes.
  ///
  /// The corresponding C function is `mdb_cursor_get`.
  @inlinable
  public func forEach<T: LMDBTransaction & ~Copyable>(
    within range: some KeyRange<Key>,
    reversed: Bool = false,
    in transaction: borrowing T,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws {
    try scan(range.keyBounds.encoded(), reversed: reversed, in: transaction, body)
  }

  /// Calls the body with the bytes of every entry whose key begins with a prefix, in order, until it answers `false`.
  ///
  /// Throws `badKeySize` if the prefix has more than 511 bytes, `badDatabase`, `badTransaction`, and what the body throws.
  ///
  /// The corresponding C function is `mdb_cursor_get`.
  @inlinable
  public func forEach<Prefix: BinaryCodable, T: LMDBTransaction & ~Copyable>(
    withPrefix prefix: Prefix,
    reversed: Bool = false,
    in transaction: borrowing T,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws {
    try scan(EncodedBounds(ofPrefix: encodedPrefix(prefix)), reversed: reversed, in: transaction, body)
  }

  /// Goes through a range of encoded keys.
  @inlinable
  func scan<T: LMDBTransaction & ~Copyable>(
    _ bounds: EncodedBounds,
    reversed: Bool,
    in transaction: borrowing T,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws {
    var cursor = try Cursor<[UInt8], Value>(of: handle, in: transaction)
    var isAtEntry =
      if let start = reversed ? bounds.upper : bounds.lower {
        try reversed ? cursor.move(toLastBefore: start) : cursor.move(toFirstAtOrAfter: start)
      } else {
        try reversed ? cursor.moveToLast() : cursor.moveToFirst()
      }
    while isAtEntry {
      let isOutside =
        reversed
        ? !reaches(cursor.keyBytes, bounds.lower ?? []) : reaches(cursor.keyBytes, bounds.upper)
      guard !isOutside, try body(cursor.keyBytes, cursor.valueBytes) else { return }
      isAtEntry = try reversed ? cursor.previous() : cursor.next()
    }
  }
}
