import LMDB

/// The names in a store, each with its number and its state: collections, fields, indexes and measures.
///
/// Numbers are handed out in the order of first use, and stand in keys for names. A declaration that moves within a
/// schema keeps its number.
///
/// | row | value |
/// | --- | --- |
/// | `generation` | 8 random bytes, other ones after each change of the other rows |
/// | `next` | the next number, 2 bytes |
/// | `c/` and a collection | `Entry` |
/// | `f/` and a collection | the names of its fields, `FieldTable` |
/// | `i/`, a collection, `/` and an index | `Entry` |
/// | `m/`, a collection, `/` and a measure | `Entry` |
struct Catalogue: Sendable {
  static let tableName = "catalogue"
  let table: Database<String, [UInt8]>

  /// The kinds of names.
  enum Kind: String, CaseIterable {
    case collection = "c"
    case index = "i"
    case measure = "m"
  }

  /// The entry of a name in the catalogue.
  struct Entry: Equatable {
    /// The number that stands for the name in keys.
    let number: UInt16
    var version: UInt32
    /// Whether a program that does not know it has written since it was right: it must be built again.
    var isStale = false

    init(number: UInt16, version: Int) {
      (self.number, self.version) = (number, UInt32(clamping: version))
    }

    init(stored bytes: [UInt8]) throws(TallyError) {
      guard bytes.count >= 7 else { throw .damagedCatalogue }
      number = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
      version = bytes[2..<6].reduce(0) { $0 << 8 | UInt32($1) }
      isStale = bytes[6] != 0
    }

    var stored: [UInt8] { number.bigEndianBytes + version.bigEndianBytes + [isStale ? 1 : 0] }
  }

  static func row(_ kind: Kind, _ path: String...) -> String { "\(kind.rawValue)/\(path.joined(separator: "/"))" }

  private static let generationRow = "generation"
  private static let nextRow = "next"

  static func fieldsRow(of collection: String) -> String { "f/\(collection)" }

  func entry<T: LMDBTransaction & ~Copyable>(_ row: String, in transaction: borrowing T) throws -> Entry? {
    try table.value(forKey: row, in: transaction).map { try Entry(stored: $0) }
  }

  /// The rows of some kind below a path, by their last names.
  func entries<T: LMDBTransaction & ~Copyable>(
    _ kind: Kind, below path: String? = nil, in transaction: borrowing T
  ) throws -> [String: Entry] {
    let prefix = Self.row(kind, path.map { "\($0)/" } ?? "")
    var found: [String: Entry] = [:]
    try table.forEach(from: prefix, in: transaction) { key, value in
      let row = key.text
      guard row.hasPrefix(prefix) else { return false }
      found[String(row.dropFirst(prefix.count))] = try Entry(stored: value.bytes(from: 0))
      return true
    }
    return found
  }

  /// The number of the catalogue's state.
  ///
  /// It is random, so that the number of a change that was aborted never stands for another one.
  func generation<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws -> UInt64 {
    guard let bytes = try table.bytes(forKey: Self.generationRow, in: transaction) else { return 0 }
    guard bytes.byteCount == 8 else { throw TallyError.damagedCatalogue }
    return bytes.load(bigEndianAt: 0)
  }

  /// Writes an entry.
  func put(_ entry: Entry, _ row: String, in transaction: inout WriteTransaction) throws {
    try table.put(entry.stored, forKey: row, in: &transaction)
    try beginGeneration(in: &transaction)
  }

  private func beginGeneration(in transaction: inout WriteTransaction) throws {
    let generation = UInt64.random(in: 0 ... .max)
    try table.put(generation.bigEndianBytes, forKey: Self.generationRow, in: &transaction)
  }

  func remove(_ row: String, in transaction: inout WriteTransaction) throws {
    try table.remove(forKey: row, in: &transaction)
    try beginGeneration(in: &transaction)
  }

  /// A number that nothing has had yet.
  func nextNumber(in transaction: inout WriteTransaction) throws -> UInt16 {
    let stored = try table.value(forKey: Self.nextRow, in: transaction)
    let number = stored.map { $0.reduce(0) { $0 << 8 | UInt16($1) } } ?? 1
    guard number < .max else {
      throw TallyError(
        .invalidIndex, "The store has had more than 65,000 collections, indexes and measures",
        remedy: "Export the records, and import them into a new store")
    }
    try table.put((number + 1).bigEndianBytes, forKey: Self.nextRow, in: &transaction)
    return number
  }

  func fields<T: LMDBTransaction & ~Copyable>(
    of collection: String, in transaction: borrowing T
  ) throws -> FieldTable {
    try table.value(forKey: Self.fieldsRow(of: collection), in: transaction).map { try FieldTable(stored: $0) }
      ?? FieldTable()
  }
}

extension TallyError {
  static var damagedCatalogue: TallyError {
    TallyError(
      .damagedStore, "The store's list of collections cannot be read", remedy: "Restore a backup")
  }
}
