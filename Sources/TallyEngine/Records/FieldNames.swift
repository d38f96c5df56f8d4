import LMDB
import TallySystem

/// The names of a collection's fields, each with the number that records store in its place.
///
/// Numbers follow the order in which names were first stored. Names are only ever added, so a later table is right for
/// earlier records, too.
struct FieldTable: Equatable, Sendable {
  private(set) var names: [String] = []
  private var numbers: [String: Int] = [:]

  init() {}

  /// Reads a row of the catalogue: the names, each with its length before it.
  init(stored bytes: [UInt8]) throws(TallyError) {
    var offset = 0
    while offset < bytes.count {
      // Unsafe by signature only: bytes have no padding.
      let name = unsafe try String.readName(bytes.span.bytes, at: &offset)
      _ = number(of: name)
    }
  }

  /// The row of the catalogue.
  var stored: [UInt8] {
    var bytes: [UInt8] = []
    for name in names {
      bytes.append(varint: UInt64(name.utf8.count))
      bytes += Array(name.utf8)
    }
    return bytes
  }

  /// The number of a name, which gets the next one if it is new.
  mutating func number(of name: String) -> Int {
    if let number = numbers[name] { return number }
    names.append(name)
    numbers[name] = names.count - 1
    return names.count - 1
  }

  /// The number of a name; `nil` if no record has had it.
  func knownNumber(of name: String) -> Int? { numbers[name] }
}

/// The names that committed records have used, for all readers of a collection.
final class KnownFields: Sendable {
  private let known = Monitor((table: FieldTable(), row: [UInt8]()))

  /// The table that a row of the catalogue holds, which is seldom another one than before.
  ///
  /// The rows are compared by their bytes: one that was read in a transaction may have been aborted with it.
  func table<T: LMDBTransaction & ~Copyable>(
    ofRow row: String, in catalogue: Database<String, [UInt8]>, _ transaction: borrowing T
  ) throws -> FieldTable {
    guard let row = try catalogue.bytes(forKey: row, in: transaction) else { return FieldTable() }
    let (table, last) = known.withLock(\.self)
    if row.isEqual(to: last) { return table }
    let bytes = row.bytes(from: 0)
    let read = (table: try FieldTable(stored: bytes), row: bytes)
    known.withLock { $0 = read }
    return read.table
  }
}

extension String {
  /// Reads a length and as many bytes of text.
  static func readName(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> String {
    let count = try bytes.readVarint(at: &offset)
    guard let count = Int(exactly: count), count <= bytes.byteCount - offset,
      let text = bytes.extracting(offset..<(offset + count)).wellFormedText
    else { throw .cutOffRecord }
    offset += count
    return text
  }
}

extension [UInt8] {
  /// Appends a number, seven bits a byte, the lowest first.
  @usableFromInline
  mutating func append(varint value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }
}

extension RawSpan {
  /// Whether these are the bytes of an array.
  fileprivate func isEqual(to other: [UInt8]) -> Bool {
    guard byteCount == other.count else { return false }
    for (offset, byte) in other.enumerated() where load(bigEndianAt: offset, as: UInt8.self) != byte { return false }
    return true
  }

  /// Reads a number that `append(varint:)` has written.
  func readVarint(at offset: inout Int) throws(TallyError) -> UInt64 {
    var (result, shift): (UInt64, UInt64) = (0, 0)
    while offset < byteCount, shift < 64 {
      let byte: UInt8 = load(bigEndianAt: offset)
      offset += 1
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return result }
      shift += 7
    }
    throw .cutOffRecord
  }
}

extension TallyError {
  /// The error for a record whose bytes end early or have no known form.
  static var cutOffRecord: TallyError {
    TallyError(
      .damagedStore, "A stored record ends early or has an unknown form",
      remedy: "Run a repair, which sets the record aside, or restore a backup")
  }
}
