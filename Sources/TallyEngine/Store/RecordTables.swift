import LMDB
import Synchronization

/// The tables of a collection in one open store.
///
/// | table | key | value |
/// | --- | --- | --- |
/// | `@` and the collection | the record's id | a stamp, the version as a varint, the fields |
/// | the same, `.` and an index | the key, then the record's id | none |
/// | `@`, the collection and `.` | a measure's number, the group, the block | `SumBlock` |
///
/// They do not exist before a program that may write has opened the store with the collection.
final class RecordTables<Record: StoredRecord>: Sendable {
  let collection: Collection<Record>
  let handles: Handles?
  let known = KnownFields()
  /// The row of the catalogue with the names of the fields.
  let fieldsRow: String
  /// The generation of the catalogue at which writers last looked for members of other programs.
  let checkedGeneration = Atomic(UInt64.max)

  /// The numbers and the open tables of a collection.
  struct Handles: Sendable {
    let number: UInt16
    let records: Database<EncodedBytes, EncodedBytes>
    /// In the order of the declaration.
    let indexes: [(number: UInt16, table: Database<EncodedBytes, NoValue>)]
    let measures: [MeasureRows]
  }

  init(of collection: Collection<Record>, _ handles: Handles? = nil) {
    (self.collection, self.handles) = (collection, handles)
    fieldsRow = Catalogue.fieldsRow(of: collection.name)
  }

  static var namePrefix: String { "@" }
}

extension Collection: DeclaredCollection {
  /// The type of the records.
  public var recordType: ObjectIdentifier { ObjectIdentifier(Record.self) }
  /// The names of the indexes and measures.
  public var memberNames: [String] { indexes.map(\.name) + measures.map(\.name) }
  /// The versions of the collection, its indexes and its measures.
  public var versions: [Int] { [version] + indexes.map(\.version) + measures.map(\.version) }

  /// Creates the tables of the collection in a store.
  public func makeTables() -> any CollectionTables { RecordTables(of: self) }
}

/// A record as it is stored.
struct Stored<Record> {
  let record: Record
  let stamp: ChangeLog.Stamp
  /// The bytes after the stamp.
  let contents: [UInt8]
  /// The fields that the type does not have: a later version has written them.
  var rest: [(number: Int, value: [UInt8])] = []
}

extension RecordTables {
  /// The encoded id of a record, as a key of its table.
  static func key(of id: Record.ID) throws(TallyError) -> [UInt8] {
    var key: [UInt8] = []
    id.appendKey(to: &key)
    guard (1...StoreTables.maximumIDByteCount).contains(key.count) else {
      throw TallyError(
        .invalidKey, "The id of a record takes \(key.count) bytes, and at most \(StoreTables.maximumIDByteCount) fit",
        remedy: "Give the record a shorter id")
    }
    return key
  }

  static func id(_ key: RawSpan) throws(TallyError) -> Record.ID {
    var offset = 0
    do {
      return try Record.ID.readKey(key, at: &offset)
    } catch {
      throw TallyError(
        .damagedStore, "The id of a stored record of the type \(Record.self) cannot be read as \(Record.ID.self)",
        remedy: "Give the type the ids that it had; if it has them, run a repair, which sets the record aside")
    }
  }

  /// Reads the record of an id.
  func record<T: LMDBTransaction & ~Copyable>(
    _ id: Record.ID, key: [UInt8], _ input: RecordInput, in transaction: borrowing T
  ) throws -> Record? {
    guard let bytes = try handles?.records.bytes(forKey: EncodedBytes(key), in: transaction) else { return nil }
    return try decode(bytes, id, input)
  }

  /// Reads the record of an encoded id, and appends it to others; returns false if there is none.
  func append<T: LMDBTransaction & ~Copyable>(
    recordOf id: RawSpan, _ input: RecordInput, in transaction: borrowing T, to records: inout [Record]
  ) throws -> Bool {
    guard let stored = try handles?.records.bytes(forKey: EncodedBytes(id.bytes(from: 0)), in: transaction) else {
      return false
    }
    let (version, start) = try Self.version(of: stored)
    guard !needsUpgrade(version) else {
      records.append(try decode(stored, Self.id(id), input))
      return true
    }
    do {
      try input.reading(stored.extracting(droppingFirst: start)) { try collection.appendRecord(id, $0, &records) }
    } catch let error as DecodingError {
      throw TallyError.undecodable(collection.name, error)
    }
    return true
  }

  /// The version of a stored record, and where its fields begin.
  private static func version(of stored: RawSpan) throws -> (version: Int, start: Int) {
    guard stored.byteCount > ChangeLog.Stamp.byteCount else { throw TallyError.cutOffRecord }
    var start = ChangeLog.Stamp.byteCount
    return (try Int(clamping: stored.readVarint(at: &start)), start)
  }

  private func needsUpgrade(_ version: Int) -> Bool { version < collection.version && collection.upgrade != nil }

  /// Decodes a stored record.
  func decode(_ stored: RawSpan, _ id: Record.ID, _ input: RecordInput) throws -> Record {
    let (version, start) = try Self.version(of: stored)
    let fields = stored.extracting(droppingFirst: start)
    do {
      guard needsUpgrade(version) else {
        return try input.reading(fields) { try Record.decodeRecord(id: id, from: $0) }
      }
      let (bytes, names) = try upgraded(fields, version, input.names)
      // Unsafe by signature only: bytes have no padding.
      return try unsafe RecordInput(names).reading(bytes.span.bytes) { try Record.decodeRecord(id: id, from: $0) }
    } catch let error as DecodingError {
      throw TallyError.undecodable(collection.name, error)
    }
  }

  /// The fields of an older version, turned into those of this one.
  private func upgraded(_ fields: RawSpan, _ version: Int, _ names: FieldTable) throws -> ([UInt8], FieldTable) {
    var (record, names) = (try RecordFields(fields, names), names)
    try collection.upgrade?(&record, version)
    return (try record.encoded(&names), names)
  }

  /// Reads a record together with what a new version of it keeps.
  func stored<T: LMDBTransaction & ~Copyable>(
    _ id: Record.ID, key: [UInt8], _ names: FieldTable, in transaction: borrowing T
  ) throws -> Stored<Record>? {
    guard let handles, let bytes = try handles.records.bytes(forKey: EncodedBytes(key), in: transaction) else {
      return nil
    }
    return try stored(bytes, id, names)
  }

  func stored(_ bytes: RawSpan, _ id: Record.ID, _ names: FieldTable) throws -> Stored<Record> {
    let stamp = try ChangeLog.Stamp(bytes)
    let contents = bytes.bytes(from: ChangeLog.Stamp.byteCount)
    var start = ChangeLog.Stamp.byteCount
    let version = try Int(clamping: bytes.readVarint(at: &start))
    guard version >= collection.version || collection.upgrade == nil else {
      return Stored(record: try decode(bytes, id, RecordInput(names)), stamp: stamp, contents: contents)
    }
    let fields = bytes.extracting(droppingFirst: start)
    do {
      let (record, rest) = try RecordInput(names).readingWithRest(fields) { input in
        try Record.decodeRecord(id: id, from: input)
      }
      return Stored(
        record: record, stamp: stamp, contents: contents,
        rest: rest.map { ($0.number, fields.extracting($0.value).bytes(from: 0)) })
    } catch let error as DecodingError {
      throw TallyError.undecodable(collection.name, error)
    }
  }

  /// Encodes what follows the stamp of a record, with the fields that its type does not have.
  func contents(of record: Record, _ rest: [(number: Int, value: [UInt8])], _ output: RecordOutput) throws {
    output.bytes.append(varint: UInt64(collection.version))
    let start = output.bytes.count
    output.refusedNumber = nil
    do {
      try record.encodeRecord(to: output)
    } catch let error as EncodingError {
      throw TallyError(
        .invalidValue, "A record of '\(collection.name)' cannot be encoded",
        remedy: "Correct how its type codes itself",
        cause: error.withoutValues)
    }
    if let number = output.refusedNumber { throw TallyError.invalidFieldNumber(number, collection.name) }
    guard !rest.isEmpty else { return }
    let bytes = Array(output.bytes[start...])
    // Unsafe by signature only: bytes have no padding.
    let written = try unsafe RecordInput(output.names).reading(bytes.span.bytes) { try $0.fields().map(\.number) }
    for field in rest where !written.contains(field.number) {
      output.bytes.append(varint: UInt64(field.number))
      output.bytes += field.value
    }
  }
}

/// The tables of a collection, for work that treats all collections alike.
protocol ManagedTables: CollectionTables {
  var name: String { get }
  var version: Int { get }
  var number: UInt16? { get }
  var recordType: ObjectIdentifier { get }
  /// Whether records are only inserted and deleted.
  var isEventLog: Bool { get }
  /// The names of the tables.
  var tableNames: [String] { get }

  /// The entries of the catalogue that are missing or of another version, and those that are stale.
  func needsWork<T: LMDBTransaction & ~Copyable>(_ catalogue: Catalogue, in transaction: borrowing T) throws -> Bool

  /// Creates what is missing, and builds what is new, has another version or is stale.
  func prepare(_ catalogue: Catalogue, in transaction: inout WriteTransaction) throws

  /// The same collection with its tables open; without them, if the store does not have it yet.
  func opened<T: LMDBTransaction & ~Copyable>(
    _ catalogue: Catalogue, in transaction: borrowing T, _ environment: LMDBEnvironment
  ) throws -> any ManagedTables

  /// The keys that a stored record has in each index; `nil` if it does not exist.
  func keys(
    of id: [UInt8], _ catalogue: Catalogue, in view: borrowing TransactionView
  ) throws -> [(index: UInt16, keys: [[UInt8]])]?

  /// The bytes of a stored record; `nil` if it does not exist.
  func storedBytes(of id: [UInt8], in view: borrowing TransactionView) throws -> [UInt8]?

  /// Checks that records can be restored to their images, and returns the step that restores them.
  ///
  /// - Throws: `undoConflict` if a record has been changed since by a write without undo and cannot be merged;
  ///   `duplicateKey`; what the storage throws.
  func restoring(_ images: [RecordImage], in writer: inout Writer) throws -> RecordReversal.Step

  /// Compares the tables with the records.
  func check(_ check: inout StoreCheck, in view: borrowing TransactionView) throws

  /// The names of the tables that a store must have, by what its catalogue says.
  func requiredTableNames<T: LMDBTransaction & ~Copyable>(
    _ catalogue: Catalogue, in transaction: borrowing T
  ) throws -> [String]

  /// Moves the records whose bytes are damaged to the table of records that are set aside.
  ///
  /// - Parameters:
  ///   - takesUndecodable: whether it also moves records whose bytes are whole but do not fit the type.
  ///   - catalogue: the names in the store.
  ///   - transaction: the transaction.
  /// - Returns: the last commit that a record names, and how many records were moved.
  /// - Throws: the error of the first record that does not fit the type, unless it is moved; what the storage throws.
  func setAsideUnreadable(
    takesUndecodable: Bool, _ catalogue: Catalogue, in transaction: inout WriteTransaction
  ) throws -> (last: UInt64, count: Int)

  /// Builds the indexes, the measures and the log of changes from the records, which must be readable.
  ///
  /// - Parameters:
  ///   - catalogue: the names in the store.
  ///   - log: the log, which has no rows of living records of the collection.
  ///   - sequence: the commit of records that do not say which commit has changed them.
  ///   - transaction: the transaction.
  /// - Throws: `duplicateKey` if two records have one key of a unique index; what the storage throws.
  func rebuild(
    _ catalogue: Catalogue, _ log: ChangeLog, at sequence: UInt64, in transaction: inout WriteTransaction
  ) throws

  /// Stores the records of older versions in the form of this one; returns how many there were.
  func upgradeRecords(in writer: inout Writer) throws -> Int
}

extension TallyError {
  fileprivate static func invalidFieldNumber(_ number: Int, _ collection: String) -> TallyError {
    TallyError(
      .invalidValue, "A record of '\(collection)' gives a field the number \(number)",
      remedy: "Number the fields from 1; nothing was changed")
  }

  static func undecodable(_ collection: String, _ error: DecodingError) -> TallyError {
    let what =
      switch error {
      case .keyNotFound(let key, _): "has no field '\(key.stringValue)'"
      case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
        context.codingPath.last.map { "has another form of the field '\($0.stringValue)'" } ?? "has another form"
      @unknown default: "has another form"
      }
    return TallyError(
      .invalidValue, "A stored record of '\(collection)' \(what)",
      remedy: "Make the field optional, or give the collection another version and an upgrade",
      cause: error.withoutValues)
  }
}
