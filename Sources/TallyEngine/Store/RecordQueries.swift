import Foundation
import LMDB

/// A position in an index, after the last record of a page.
///
/// It stays valid when records are added or deleted, and across restarts, because it holds a key and not a number.
public struct Position: Hashable, Codable, Sendable {
  /// The key of the entry, with the record's id.
  let key: [UInt8]
}

/// A part of an index, and the position of what follows.
public struct Page<Record: StoredRecord>: Sendable {
  /// The records, in the order of their keys; one with several keys in the range appears several times.
  public let records: [Record]
  /// The position of the next page; `nil` on the last one.
  public let next: Position?
}

extension RecordQueries where Self: ~Copyable {
  /// The record with an id; `nil` if there is none.
  ///
  /// - Throws: `invalidValue` if it cannot be decoded, with the `DecodingError` as the cause; what the storage throws.
  /// - Complexity: one lookup, whatever the size of the store.
  public func record<Record: StoredRecord>(_ type: Record.Type, _ id: Record.ID) throws -> Record? {
    let snapshot = try liveSnapshot
    let tables = try snapshot.tables.tables(of: type)
    let key = try RecordTables<Record>.key(of: id)
    snapshot.regions?.add(record: key, tables.handles?.number)
    return try tables.record(id, key: key, snapshot.input(of: tables), in: snapshot.view)
  }

  /// Whether there is a record with an id.
  public func contains<Record: StoredRecord>(_ type: Record.Type, _ id: Record.ID) throws -> Bool {
    let snapshot = try liveSnapshot
    let tables = try snapshot.tables.tables(of: type)
    let key = try RecordTables<Record>.key(of: id)
    snapshot.regions?.add(record: key, tables.handles?.number)
    return try tables.handles?.records.contains(EncodedBytes(key), in: snapshot.view) ?? false
  }

  /// The number of records in a collection.
  ///
  /// - Complexity: known without counting.
  public func count<Record: StoredRecord>(_ type: Record.Type) throws -> Int {
    let snapshot = try liveSnapshot
    let tables = try snapshot.tables.tables(of: type)
    snapshot.regions?.add(collection: tables.handles?.number)
    return try tables.handles?.records.count(in: snapshot.view) ?? 0
  }

  /// The records of a collection, in the order of their ids.
  ///
  /// - Parameters:
  ///   - type: the type of the records.
  ///   - limit: the most records to return.
  /// - Returns: the records.
  /// - Throws: what decoding and the storage throw.
  /// - Complexity: linear in the number of records returned.
  public func records<Record: StoredRecord>(_ type: Record.Type, limit: Int = .max) throws -> [Record] {
    var records: [Record] = []
    guard limit > 0 else { return records }
    try forEach(type) { record in
      records.append(record)
      return records.count < limit
    }
    return records
  }

  /// Calls a closure with every record of a collection, in the order of the ids, until it returns false.
  ///
  /// - Complexity: reads the whole collection; memory does not grow with it.
  public func forEach<Record: StoredRecord>(_ type: Record.Type, _ body: (Record) throws -> Bool) throws {
    let snapshot = try liveSnapshot
    let tables = try snapshot.tables.tables(of: type)
    snapshot.regions?.add(collection: tables.handles?.number)
    let input = try snapshot.input(of: tables)
    try tables.handles?.records.raw.forEach(in: snapshot.view) { key, value in
      try body(tables.decode(value, RecordTables<Record>.id(key), input))
    }
  }

  // MARK: An index of one part.

  /// The records of an index, in the order of its keys.
  ///
  /// ```swift
  /// let latest = try store.read { try $0.records(in: Workout.newest, limit: 10) }
  /// let early = try store.read { try $0.records(in: Workout.byStart, upTo: noon) }
  /// ```
  ///
  /// - Parameters:
  ///   - index: an index that the collection lists.
  ///   - lower: the first key; `nil` for no bound.
  ///   - upper: the key before which the range ends; `nil` for no bound.
  ///   - reversed: whether the last key comes first.
  ///   - limit: the most records to return.
  /// - Returns: the records.
  /// - Throws: `invalidIndex` if the collection does not list the index; what decoding and the storage throw.
  /// - Complexity: linear in the number of records returned.
  public func records<Record, A>(
    in index: Index<Record, Key1<A>>, from lower: A.PlainKey? = nil, upTo upper: A.PlainKey? = nil,
    reversed: Bool = false, limit: Int = .max
  ) throws -> [Record] {
    try page(in: index, from: lower, upTo: upper, reversed: reversed, limit: limit).records
  }

  /// A page of an index, from a position on.
  ///
  /// ```swift
  /// let first = try reader.page(in: Workout.newest, limit: 50)
  /// let second = try reader.page(in: Workout.newest, after: first.next, limit: 50)
  /// ```
  public func page<Record, A>(
    in index: Index<Record, Key1<A>>, from lower: A.PlainKey? = nil, upTo upper: A.PlainKey? = nil,
    after position: Position? = nil, reversed: Bool = false, limit: Int
  ) throws -> Page<Record> {
    try snapshot.page(index.declared, .range(A.self, [], lower, upper), after: position, reversed, limit)
  }

  /// The records with one key.
  public func records<Record, A>(in index: Index<Record, Key1<A>>, _ key: A.PlainKey, limit: Int = .max) throws
    -> [Record]
  {
    try snapshot.page(index.declared, .key(Key1(A.keyComponent(of: key))), after: nil, false, limit).records
  }

  /// The record with a key of a unique index; `nil` if there is none.
  public func record<Record, A>(in index: Index<Record, Key1<A>>, _ key: A.PlainKey) throws -> Record? {
    try records(in: index, key, limit: 1).first
  }

  /// The number of keys in a range of an index.
  ///
  /// - Complexity: linear in that number; no record is read.
  public func count<Record, A>(
    in index: Index<Record, Key1<A>>, from lower: A.PlainKey? = nil, upTo upper: A.PlainKey? = nil
  ) throws -> Int {
    try snapshot.count(index.declared, .range(A.self, [], lower, upper))
  }

  // MARK: An index of two parts.

  /// The records of an index with a first part, in the order of the second one.
  ///
  /// ```swift
  /// let runs = try store.read { try $0.records(in: Workout.bySport, "run", from: monday, limit: 50) }
  /// ```
  public func records<Record, A, B>(
    in index: Index<Record, Key2<A, B>>, _ a: A.PlainKey, from lower: B.PlainKey? = nil, upTo upper: B.PlainKey? = nil,
    reversed: Bool = false, limit: Int = .max
  ) throws -> [Record] {
    try page(in: index, a, from: lower, upTo: upper, reversed: reversed, limit: limit).records
  }

  /// A page of an index with a first part, from a position on.
  public func page<Record, A, B>(
    in index: Index<Record, Key2<A, B>>, _ a: A.PlainKey, from lower: B.PlainKey? = nil, upTo upper: B.PlainKey? = nil,
    after position: Position? = nil, reversed: Bool = false, limit: Int
  ) throws -> Page<Record> {
    let prefix = KeyRange.prefix(Key1(A.keyComponent(of: a)))
    return try snapshot.page(index.declared, .range(B.self, prefix, lower, upper), after: position, reversed, limit)
  }

  /// The records of the whole index, in the order of both parts.
  public func records<Record, A, B>(
    in index: Index<Record, Key2<A, B>>, reversed: Bool = false, limit: Int = .max
  ) throws -> [Record] {
    try page(in: index, reversed: reversed, limit: limit).records
  }

  /// A page of the whole index, from a position on.
  public func page<Record, A, B>(
    in index: Index<Record, Key2<A, B>>, after position: Position? = nil, reversed: Bool = false, limit: Int
  ) throws -> Page<Record> {
    try snapshot.page(index.declared, .all, after: position, reversed, limit)
  }

  /// The records with both parts.
  public func records<Record, A, B>(
    in index: Index<Record, Key2<A, B>>, _ a: A.PlainKey, _ b: B.PlainKey, limit: Int = .max
  ) throws -> [Record] {
    let key = Key2(A.keyComponent(of: a), B.keyComponent(of: b))
    return try snapshot.page(index.declared, .key(key), after: nil, false, limit).records
  }

  /// The record with a key of a unique index; `nil` if there is none.
  public func record<Record, A, B>(
    in index: Index<Record, Key2<A, B>>, _ a: A.PlainKey, _ b: B.PlainKey
  ) throws -> Record? {
    try records(in: index, a, b, limit: 1).first
  }

  /// The number of keys with a first part.
  public func count<Record, A, B>(
    in index: Index<Record, Key2<A, B>>, _ a: A.PlainKey, from lower: B.PlainKey? = nil, upTo upper: B.PlainKey? = nil
  ) throws -> Int {
    let prefix = KeyRange.prefix(Key1(A.keyComponent(of: a)))
    return try snapshot.count(index.declared, .range(B.self, prefix, lower, upper))
  }

  /// The first parts of an index, in their order and each once.
  ///
  /// - Complexity: a lookup for each.
  public func firstParts<Record, A, B>(of index: Index<Record, Key2<A, B>>) throws -> [A.PlainKey] {
    var (found, start): ([A.PlainKey], [UInt8]) = ([], [])
    while let key = try snapshot.firstKey(index.declared, atOrAfter: start) {
      var end = 0
      // Unsafe by signature only: bytes have no padding.
      found.append(unsafe try A.readKey(key.span.bytes, at: &end).plainKey)
      start = Array(key[..<end]).successor
    }
    return found
  }

  // MARK: An index of three parts.

  /// The records of an index with two parts, in the order of the third one.
  public func records<Record, A, B, C>(
    in index: Index<Record, Key3<A, B, C>>, _ a: A.PlainKey, _ b: B.PlainKey, from lower: C.PlainKey? = nil,
    upTo upper: C.PlainKey? = nil, reversed: Bool = false, limit: Int = .max
  ) throws -> [Record] {
    try page(in: index, a, b, from: lower, upTo: upper, reversed: reversed, limit: limit).records
  }

  /// A page of an index with two parts, from a position on.
  public func page<Record, A, B, C>(
    in index: Index<Record, Key3<A, B, C>>, _ a: A.PlainKey, _ b: B.PlainKey, from lower: C.PlainKey? = nil,
    upTo upper: C.PlainKey? = nil, after position: Position? = nil, reversed: Bool = false, limit: Int
  ) throws -> Page<Record> {
    let prefix = KeyRange.prefix(Key2(A.keyComponent(of: a), B.keyComponent(of: b)))
    return try snapshot.page(index.declared, .range(C.self, prefix, lower, upper), after: position, reversed, limit)
  }

  /// The records of an index with a first part, in the order of the others.
  public func records<Record, A, B, C>(
    in index: Index<Record, Key3<A, B, C>>, _ a: A.PlainKey, reversed: Bool = false, limit: Int = .max
  ) throws -> [Record] {
    try page(in: index, a, reversed: reversed, limit: limit).records
  }

  /// A page of an index with a first part, from a position on.
  public func page<Record, A, B, C>(
    in index: Index<Record, Key3<A, B, C>>, _ a: A.PlainKey, after position: Position? = nil, reversed: Bool = false,
    limit: Int
  ) throws -> Page<Record> {
    try snapshot.page(index.declared, .key(Key1(A.keyComponent(of: a))), after: position, reversed, limit)
  }

  /// The records of the whole index, in the order of all parts.
  public func records<Record, A, B, C>(
    in index: Index<Record, Key3<A, B, C>>, reversed: Bool = false, limit: Int = .max
  ) throws -> [Record] {
    try page(in: index, reversed: reversed, limit: limit).records
  }

  /// The record with a key of a unique index; `nil` if there is none.
  public func record<Record, A, B, C>(
    in index: Index<Record, Key3<A, B, C>>, _ a: A.PlainKey, _ b: B.PlainKey, _ c: C.PlainKey
  ) throws -> Record? {
    let key = Key3(A.keyComponent(of: a), B.keyComponent(of: b), C.keyComponent(of: c))
    return try snapshot.page(index.declared, .key(key), after: nil, false, 1).records.first
  }

  /// The number of keys with a first part.
  public func count<Record, A, B, C>(in index: Index<Record, Key3<A, B, C>>, _ a: A.PlainKey) throws -> Int {
    try snapshot.count(index.declared, .key(Key1(A.keyComponent(of: a))))
  }

  /// The number of keys with two parts.
  public func count<Record, A, B, C>(
    in index: Index<Record, Key3<A, B, C>>, _ a: A.PlainKey, _ b: B.PlainKey, from lower: C.PlainKey? = nil,
    upTo upper: C.PlainKey? = nil
  ) throws -> Int {
    let prefix = KeyRange.prefix(Key2(A.keyComponent(of: a), B.keyComponent(of: b)))
    return try snapshot.count(index.declared, .range(C.self, prefix, lower, upper))
  }

  /// A page of the whole index, from a position on.
  public func page<Record, A, B, C>(
    in index: Index<Record, Key3<A, B, C>>, after position: Position? = nil, reversed: Bool = false, limit: Int
  ) throws -> Page<Record> {
    try snapshot.page(index.declared, .all, after: position, reversed, limit)
  }
}

/// A range of an index: from a lower bound up to but not including an upper one, both encoded.
struct KeyRange {
  var lower: [UInt8]
  var upper: [UInt8]

  static let all = KeyRange(lower: [], upper: [UInt8].init(repeating: .max, count: 511))

  static func prefix(_ key: some CompositeKey) -> [UInt8] {
    var bytes: [UInt8] = []
    key.appendKey(to: &bytes)
    return bytes
  }

  /// The keys that begin with one.
  static func key(_ key: some CompositeKey) -> KeyRange {
    let prefix = prefix(key)
    return KeyRange(lower: prefix, upper: prefix.successor)
  }

  /// The keys with a prefix and then a part within bounds.
  static func range<A: KeyComponent>(
    _ type: A.Type, _ prefix: [UInt8], _ lower: A.PlainKey?, _ upper: A.PlainKey?
  ) -> KeyRange {
    func bound(_ value: A.PlainKey) -> [UInt8] {
      var bytes = prefix
      A.keyComponent(of: value).appendKey(to: &bytes)
      return bytes
    }
    return KeyRange(lower: lower.map(bound) ?? prefix, upper: upper.map(bound) ?? prefix.successor)
  }

  /// The rest of the range after a position.
  func after(_ position: Position?, reversed: Bool) -> KeyRange {
    guard let key = position?.key else { return self }
    var rest = self
    // The smallest bytes above a key are the key and a zero byte.
    if reversed {
      if key.lexicographicallyPrecedes(upper) { rest.upper = key }
    } else if !(key + [0]).lexicographicallyPrecedes(lower) {
      rest.lower = key + [0]
    }
    return rest
  }

  var isEmpty: Bool { !lower.lexicographicallyPrecedes(upper) }

  func contains(_ key: [UInt8]) -> Bool {
    !key.lexicographicallyPrecedes(lower) && key.lexicographicallyPrecedes(upper)
  }
}

extension StoreSnapshot {
  /// The place of an index of a collection.
  func place<Record>(
    of index: DeclaredIndex<Record>, _ tables: RecordTables<Record>
  ) throws -> (number: UInt16, table: Database<EncodedBytes, NoValue>)? {
    try checkIsLive()
    let position = tables.collection.indexes.firstIndex { $0.name == index.name && $0.version == index.version }
    guard let position else { throw TallyError.unlisted(index.name, tables.collection.name) }
    return tables.handles?.indexes[position]
  }

  /// A page of records.
  func page<Record>(
    _ index: DeclaredIndex<Record>, _ range: KeyRange, after position: Position?, _ reversed: Bool, _ limit: Int
  ) throws -> Page<Record> {
    let tables = try self.tables.tables(of: Record.self)
    guard let place = try place(of: index, tables), limit > 0 else { return Page(records: [], next: nil) }
    let input = try input(of: tables)
    var (records, count, ids): ([Record], Int, [[UInt8]]) = ([], 0, [])
    var (last, hasMore): (Position?, Bool) = (nil, false)
    try forEachEntry(index, place, tables, range.after(position, reversed: reversed), reversed) { key, idStart in
      guard count < limit else {
        hasMore = true
        return false
      }
      let id = key.extracting(idStart..<key.byteCount)
      guard try tables.append(recordOf: id, input, in: view, to: &records) else {
        throw TallyError.missingRecord(of: "the index '\(index.name)'")
      }
      count += 1
      if count == limit { last = Position(key: key.bytes(from: 0)) }
      if regions != nil { ids.append(id.bytes(from: 0)) }
      return true
    }
    regions?.add(range: range, ofIndex: place.number, tables.handles?.number, showing: ids)
    return Page(records: records, next: hasMore ? last : nil)
  }

  func count<Record>(_ index: DeclaredIndex<Record>, _ range: KeyRange) throws -> Int {
    let tables = try self.tables.tables(of: Record.self)
    guard let place = try place(of: index, tables) else { return 0 }
    var count = 0
    regions?.add(collection: tables.handles?.number)
    try forEachEntry(index, place, tables, range, false) { _, _ in
      count += 1
      return true
    }
    return count
  }

  /// The ids of a range, for work on all of them.
  func ids<Record>(_ index: DeclaredIndex<Record>, _ range: KeyRange) throws -> [Record.ID] {
    let tables = try self.tables.tables(of: Record.self)
    guard let place = try place(of: index, tables) else { return [] }
    var ids: [Record.ID] = []
    try forEachEntry(index, place, tables, range, false) { key, idStart in
      ids.append(try RecordTables<Record>.id(key.extracting(idStart..<key.byteCount)))
      return true
    }
    return ids
  }

  /// The first key at or after some bytes; `nil` if there is none.
  func firstKey<Record>(_ index: DeclaredIndex<Record>, atOrAfter start: [UInt8]) throws -> [UInt8]? {
    let tables = try self.tables.tables(of: Record.self)
    guard let place = try place(of: index, tables) else { return nil }
    regions?.add(collection: tables.handles?.number)
    var found: [UInt8]?
    let range = KeyRange(lower: start, upper: KeyRange.all.upper)
    try forEachEntry(index, place, tables, range, false) { key, _ in
      found = key.bytes(from: 0)
      return false
    }
    return found
  }

  /// Calls a closure with each entry of a range and where the record's id begins in it, until it returns false.
  ///
  /// A member that is stale is computed from all records: another program has written them without knowing it.
  private func forEachEntry<Record>(
    _ index: DeclaredIndex<Record>, _ place: (number: UInt16, table: Database<EncodedBytes, NoValue>),
    _ tables: RecordTables<Record>, _ range: KeyRange, _ reversed: Bool, _ body: (RawSpan, Int) throws -> Bool
  ) throws {
    guard !range.isEmpty else { return }
    let width = Record.ID.keyByteCount
    func visit(_ key: RawSpan) throws -> Bool {
      if let width, key.byteCount >= width { return try body(key, key.byteCount - width) }
      var start = 0
      try index.readKey(key, &start)
      return try body(key, start)
    }
    guard try isReadable(place.number, version: index.version) else {
      let keys = try tables.computedKeys(of: index, input(of: tables), in: view).filter(range.contains)
      for key in reversed ? keys.reversed() : keys {
        // Unsafe by signature only: bytes have no padding.
        guard unsafe try visit(key.span.bytes) else { return }
      }
      return
    }
    let lower = range.lower.isEmpty ? nil : range.lower
    try place.table.raw.forEach(from: lower, upTo: range.upper, reversed: reversed, in: view) { key, _ in try visit(key)
    }
  }
}

extension RecordTables {
  /// All keys of an index, computed from the records, in their order.
  func computedKeys<T: LMDBTransaction & ~Copyable>(
    of index: DeclaredIndex<Record>, _ input: RecordInput, in transaction: borrowing T
  ) throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    try handles?.records.raw.forEach(in: transaction) { key, value in
      var encoded = EncodedKeys()
      index.encode([try decode(value, Self.id(key), input)], &encoded)
      keys += encoded.sorted
      return true
    }
    return keys.sorted { $0.lexicographicallyPrecedes($1) }
  }
}

extension TallyError {
  static func unlisted(_ member: String, _ collection: String) -> TallyError {
    TallyError(
      .invalidIndex, "The collection '\(collection)' does not list '\(member)', or lists another version of it",
      remedy: "Add it to the collection's members")
  }
}

extension Writer {
  /// Deletes the records in a range of an index.
  ///
  /// ```swift
  /// try await store.write { try $0.deleteRecords(in: PageView.byTime, upTo: aYearAgo) }
  /// ```
  ///
  /// - Returns: how many were deleted.
  /// - Throws: what ``save(_:)`` throws.
  @discardableResult
  public mutating func deleteRecords<Record, A>(
    in index: Index<Record, Key1<A>>, from lower: A.PlainKey? = nil, upTo upper: A.PlainKey? = nil
  ) throws -> Int {
    try delete(Record.self, snapshot.ids(index.declared, .range(A.self, [], lower, upper)))
  }

  /// Deletes the records in a range of an index with a first part.
  @discardableResult
  public mutating func deleteRecords<Record, A, B>(
    in index: Index<Record, Key2<A, B>>, _ a: A.PlainKey, from lower: B.PlainKey? = nil, upTo upper: B.PlainKey? = nil
  ) throws -> Int {
    let prefix = KeyRange.prefix(Key1(A.keyComponent(of: a)))
    return try delete(Record.self, snapshot.ids(index.declared, .range(B.self, prefix, lower, upper)))
  }

  /// Deletes the records of an index with a first part.
  @discardableResult
  public mutating func deleteRecords<Record, A, B, C>(
    in index: Index<Record, Key3<A, B, C>>, _ a: A.PlainKey
  ) throws -> Int {
    try delete(Record.self, snapshot.ids(index.declared, .key(Key1(A.keyComponent(of: a)))))
  }

  /// Deletes the records in a range of an index with two parts.
  @discardableResult
  public mutating func deleteRecords<Record, A, B, C>(
    in index: Index<Record, Key3<A, B, C>>, _ a: A.PlainKey, _ b: B.PlainKey, from lower: C.PlainKey? = nil,
    upTo upper: C.PlainKey? = nil
  ) throws -> Int {
    let prefix = KeyRange.prefix(Key2(A.keyComponent(of: a), B.keyComponent(of: b)))
    return try delete(Record.self, snapshot.ids(index.declared, .range(C.self, prefix, lower, upper)))
  }
}
