/// An index of a collection: its records in the order of keys that a closure gives.
///
/// ```swift
/// extension Workout {
///   static let bySport = index("bySport") { ($0.sport, $0.start) }
///   static let newest = index("newest") { Descending($0.start) }
///   static let byTag = index("byTag", each: \.tags)
///   static let byCode = index("byCode", unique: true, \.code)
/// }
/// ```
///
/// The closure must be pure: the same record must have the same keys whatever the time, time zone or process. If it
/// changes, the index gets another version, and is built again. A collection lists its indexes.
public struct Index<Record: StoredRecord, Key: CompositeKey>: Sendable {
  /// The name, which is stored.
  public var name: String { declared.name }
  let declared: DeclaredIndex<Record>
  /// Calls a closure with each key of a record.
  @usableFromInline let keys: @Sendable (Record, (Key) -> Void) -> Void

  /// Declares an index; the compiler makes its hot code where it is called.
  @inlinable
  init(
    _ name: String, version: Int, unique: Bool, _ keys: @escaping @Sendable (Record, (Key) -> Void) -> Void
  ) {
    let encode: @Sendable ([Record], inout EncodedKeys) -> Void = { records, output in
      for record in records {
        keys(record) { key in
          key.appendKey(to: &output.bytes)
          record.id.appendKey(to: &output.bytes)
          output.ends.append(output.bytes.count)
        }
      }
    }
    self.init(
      DeclaredIndex(name: name, version: version, isUnique: unique, encode: encode) {
        bytes, offset throws(TallyError) in
        _ = try Key.readKey(bytes, at: &offset)
      }, keys)
  }

  @usableFromInline
  init(_ declared: DeclaredIndex<Record>, _ keys: @escaping @Sendable (Record, (Key) -> Void) -> Void) {
    (self.declared, self.keys) = (declared, keys)
  }
}

/// The parts of an index that a store needs, whatever the type of its keys.
@usableFromInline
struct DeclaredIndex<Record: StoredRecord>: Sendable {
  let name: String
  let version: Int
  let isUnique: Bool
  /// Encodes the keys of some records.
  let encode: @Sendable ([Record], inout EncodedKeys) -> Void
  /// Moves an offset beyond a key, to the id after it.
  let readKey: @Sendable (RawSpan, inout Int) throws(TallyError) -> Void

  @usableFromInline
  init(
    name: String, version: Int, isUnique: Bool, encode: @escaping @Sendable ([Record], inout EncodedKeys) -> Void,
    readKey: @escaping @Sendable (RawSpan, inout Int) throws(TallyError) -> Void
  ) {
    (self.name, self.version, self.isUnique) = (name, version, isUnique)
    (self.encode, self.readKey) = (encode, readKey)
  }
}

extension StoredRecord {
  /// Declares an index with keys of one part.
  ///
  /// - Parameters:
  ///   - name: the name, which is stored: 1 to 64 bytes, without control characters.
  ///   - version: raise it whenever the closure gives different keys than before.
  ///   - unique: whether no two records may have the same key.
  ///   - key: the key of a record.
  /// - Returns: the index.
  @inlinable
  public static func index<A: KeyComponent>(
    _ name: String, version: Int = 1, unique: Bool = false, _ key: @escaping @Sendable (Self) -> A
  ) -> Index<Self, Key1<A>> {
    Index(name, version: version, unique: unique) { record, body in body(Key1(key(record))) }
  }

  /// Declares an index with keys of two parts.
  @inlinable
  public static func index<A: KeyComponent, B: KeyComponent>(
    _ name: String, version: Int = 1, unique: Bool = false, _ key: @escaping @Sendable (Self) -> (A, B)
  ) -> Index<Self, Key2<A, B>> {
    Index(name, version: version, unique: unique) { record, body in
      let (a, b) = key(record)
      body(Key2(a, b))
    }
  }

  /// Declares an index with keys of three parts.
  @inlinable
  public static func index<A: KeyComponent, B: KeyComponent, C: KeyComponent>(
    _ name: String, version: Int = 1, unique: Bool = false, _ key: @escaping @Sendable (Self) -> (A, B, C)
  ) -> Index<Self, Key3<A, B, C>> {
    Index(name, version: version, unique: unique) { record, body in
      let (a, b, c) = key(record)
      body(Key3(a, b, c))
    }
  }

  /// Declares an index in which a record has any number of keys of one part.
  ///
  /// - Parameters:
  ///   - name: the name, which is stored: 1 to 64 bytes, without control characters.
  ///   - version: raise it whenever the closure gives different keys than before.
  ///   - unique: whether no two records may have the same key.
  ///   - keys: the keys of a record, in any order.
  /// - Returns: the index.
  @inlinable
  public static func index<A: KeyComponent>(
    _ name: String, version: Int = 1, unique: Bool = false, each keys: @escaping @Sendable (Self) -> [A]
  ) -> Index<Self, Key1<A>> {
    Index(name, version: version, unique: unique) { record, body in
      for a in keys(record) { body(Key1(a)) }
    }
  }

  /// Declares an index in which a record has any number of keys of two parts.
  @inlinable
  public static func index<A: KeyComponent, B: KeyComponent>(
    _ name: String, version: Int = 1, unique: Bool = false, each keys: @escaping @Sendable (Self) -> [(A, B)]
  ) -> Index<Self, Key2<A, B>> {
    Index(name, version: version, unique: unique) { record, body in
      for (a, b) in keys(record) { body(Key2(a, b)) }
    }
  }

  /// Declares an index in which a record has any number of keys of three parts.
  @inlinable
  public static func index<A: KeyComponent, B: KeyComponent, C: KeyComponent>(
    _ name: String, version: Int = 1, unique: Bool = false, each keys: @escaping @Sendable (Self) -> [(A, B, C)]
  ) -> Index<Self, Key3<A, B, C>> {
    Index(name, version: version, unique: unique) { record, body in
      for (a, b, c) in keys(record) { body(Key3(a, b, c)) }
    }
  }
}
