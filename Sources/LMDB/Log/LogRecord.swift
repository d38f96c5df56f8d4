import TallySystem

/// Where a log continues: after which commit, at which of its bytes, and from which checksum.
struct LogPlace: Hashable, Sendable {
  static let byteCount = 24

  /// The number of the last commit before.
  var commit: UInt64 = 0
  /// A number of bytes that only grows; in the ring it is taken modulo the ring's length.
  var offset: UInt64 = 0
  /// The checksum that the next record continues.
  var checksum: UInt64 = 0

  var encoded: [UInt8] { commit.storedBytes + offset.storedBytes + checksum.storedBytes }

  init() {}

  init(commit: UInt64, offset: UInt64, checksum: UInt64) {
    (self.commit, self.offset, self.checksum) = (commit, offset, checksum)
  }

  /// Reads a stored place; throws `corrupted` for other bytes.
  init(_ bytes: [UInt8]) throws(LMDBError) {
    let words = (0..<3).compactMap { bytes.number(at: $0 * 8, as: UInt64.self)?.littleEndian }
    guard bytes.count == Self.byteCount, words.count == 3 else {
      throw LMDBError(
        .corrupted, operation: "read the log's place", message: "The place of the log has \(bytes.count) bytes, not 24")
    }
    (commit, offset, checksum) = (words[0], words[1], words[2])
  }

  /// A place after a direct commit: the next number, the next block, and a checksum that no record has (L9).
  ///
  /// The checksum is another one each time, so that no record of another store's log continues it.
  func afterDirectCommit() -> LogPlace {
    LogPlace(commit: commit + 1, offset: LogFile.roundedUp(offset), checksum: .random(in: 0...UInt64.max))
  }
}

/// The head of a record, which holds the changes of one commit (L2).
///
/// | bytes | content |
/// | --- | --- |
/// | 0–3 | a magic number |
/// | 4–7 | the length of head and changes |
/// | 8–15 | flags: 1 if the record is durable |
/// | 16–23 | the number of the commit |
/// | 24–31 | the record's offset in the log |
/// | 32–39 | the checksum of all this and of the changes, which continues that of the record before |
struct LogRecord: Hashable, Sendable {
  static let headByteCount = 40
  private static let magic: UInt64 = 0x4C54_4C31
  private static let checkedByteCount = 32

  let byteCount: Int
  let isDurable: Bool
  let commit: UInt64
  let offset: UInt64
  let checksum: UInt64

  /// Whether some bytes begin as a head does.
  static func isHead(_ bytes: [UInt8], at offset: Int) -> Bool {
    bytes.number(at: offset, as: UInt32.self)?.littleEndian == UInt32(magic)
  }

  /// Reads a head; `nil` for other bytes.
  init?(head bytes: [UInt8]) {
    let words = (0..<5).compactMap { bytes.number(at: $0 * 8, as: UInt64.self)?.littleEndian }
    guard words.count == 5, words[0] & 0xFFFF_FFFF == Self.magic, words[1] <= 1, words[0] >> 32 >= Self.headByteCount
    else { return nil }
    byteCount = Int(words[0] >> 32)
    isDurable = words[1] == 1
    (commit, offset, checksum) = (words[2], words[3], words[4])
  }

  /// Writes the head into the first bytes of a record, whose changes are behind them.
  init(writingInto record: inout [UInt8], at offset: UInt64, after place: LogPlace, isDurable: Bool) {
    byteCount = record.count
    self.isDurable = isDurable
    commit = place.commit + 1
    self.offset = offset
    let words = [UInt64(record.count) << 32 | Self.magic, isDurable ? 1 : 0, commit, offset]
    for (index, word) in words.enumerated() { record.store(word, at: index * 8) }
    checksum = Self.checksum(of: record, after: place.checksum)
    record.store(checksum, at: Self.checkedByteCount)
  }

  /// Where the record ends: a durable one fills its last block.
  var endOffset: UInt64 {
    isDurable ? LogFile.roundedUp(offset + UInt64(byteCount)) : (offset + UInt64(byteCount) + 7) & ~7
  }

  /// The place after the record.
  var end: LogPlace { LogPlace(commit: commit, offset: endOffset, checksum: checksum) }

  /// Whether the bytes are a whole record, which continues a checksum.
  func isWhole(_ record: [UInt8], after checksum: UInt64) -> Bool {
    record.count == byteCount && Self.checksum(of: record, after: checksum) == self.checksum
  }

  private static func checksum(of record: [UInt8], after seed: UInt64) -> UInt64 {
    // Read within the call; both parts are in the array.
    unsafe record.withUnsafeBytes { bytes in
      let head = unsafe JournalChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[..<checkedByteCount]), after: seed)
      return unsafe JournalChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[headByteCount...]), after: head)
    }
  }
}

extension [UInt8] {
  /// Replaces eight bytes by a number, least byte first.
  mutating func store(_ word: UInt64, at offset: Int) {
    for index in 0..<8 { self[offset + index] = UInt8(truncatingIfNeeded: word >> (8 * UInt64(index))) }
  }
}

/// The changes of one commit, as a record has them, with room for its head.
///
/// Each is: kind (1 byte), number of the table (1), length of the key (2), length of the value (4), key, value. A table gets
/// its number, counted from 0, by an entry with its name as the key, before its first change.
struct LogChanges: Sendable {
  /// The raw values are stored: do not change them.
  private enum Kind: UInt8 {
    case table = 1
    case put, remove
  }

  private static let entryByteCount = 8
  static let maximumTableCount = 256

  private(set) var bytes = [UInt8](repeating: 0, count: LogRecord.headByteCount)
  private var tables: [String] = []

  init() {}

  /// Expects so many bytes of changes.
  init(byteCount: Int) {
    bytes.reserveCapacity(LogRecord.headByteCount + byteCount)
  }

  /// The changes of a record that was read; ``forEach(_:)`` checks them.
  init(record: [UInt8]) {
    bytes = record
  }

  var isEmpty: Bool { bytes.count <= LogRecord.headByteCount }

  /// Adds that a key gets a value, or loses the one it has.
  ///
  /// Throws `badKeySize`, `badValueSize`, and `databasesFull` for more than 256 tables.
  mutating func set(_ value: [UInt8]?, forKey key: [UInt8], in table: String) throws(LMDBError) {
    guard (1...LMDBLimits.keySizeInBytes).contains(key.count) else { throw LMDBLimits.badKeySize(key.count) }
    guard value?.count ?? 0 <= LMDBLimits.valueSizeInBytes else { throw LMDBError(.badValueSize, operation: "put") }
    let number = try number(of: table)
    // Read within the calls.
    unsafe key.withUnsafeBytes { key in
      unsafe (value ?? []).withUnsafeBytes { unsafe append(value == nil ? .remove : .put, number, key, $0) }
    }
  }

  /// Adds the version of a key.
  ///
  /// Throws `databasesFull` for more than 256 tables.
  mutating func add(_ version: LogNode, in table: String) throws(LMDBError) {
    let number = try number(of: table)
    // Read within the call; the caller keeps the part.
    unsafe append(version.isRemoval ? .remove : .put, number, version.key, version.value)
  }

  private mutating func number(of table: String) throws(LMDBError) -> Int {
    if let number = tables.lastIndex(of: table) { return number }
    guard tables.count < Self.maximumTableCount, table.utf8.count <= Int(UInt16.max) else {
      throw LMDBError(.databasesFull, operation: "put")
    }
    let name = Array(table.utf8)
    // Read within the call.
    unsafe name.withUnsafeBytes {
      unsafe append(.table, tables.count, $0, UnsafeRawBufferPointer(start: nil, count: 0))
    }
    tables.append(table)
    return tables.count - 1
  }

  private mutating func append(
    _ kind: Kind, _ table: Int, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) {
    let head = UInt64(kind.rawValue) | UInt64(table) << 8 | UInt64(key.count) << 16 | UInt64(value.count) << 32
    for shift in stride(from: 0, to: UInt64(64), by: 8) { bytes.append(UInt8(truncatingIfNeeded: head >> shift)) }
    unsafe bytes.append(contentsOf: key)
    unsafe bytes.append(contentsOf: value)
  }

  /// A change: places of the bytes in ``bytes``; no value if the key is removed.
  struct Change {
    let table: String
    let key: Range<Int>
    let value: Range<Int>?
  }

  /// Calls a body with each change, in their order.
  ///
  /// Throws `corrupted` for bytes that no record has, and what the body throws.
  func forEach(_ body: (Change) throws(LMDBError) -> Void) throws(LMDBError) {
    var tables: [String] = []
    var offset = LogRecord.headByteCount
    while offset < bytes.count {
      guard let kind = Kind(rawValue: bytes[offset]), offset + Self.entryByteCount <= bytes.count else {
        throw Self.malformed
      }
      let table = Int(bytes[offset + 1])
      let keyCount = Int(bytes[offset + 2]) | Int(bytes[offset + 3]) << 8
      let valueCount = (4..<8).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * ($1 - 4)) }
      let key = offset + Self.entryByteCount..<offset + Self.entryByteCount + keyCount
      let value = key.upperBound..<key.upperBound + valueCount
      guard value.upperBound <= bytes.count else { throw Self.malformed }
      offset = value.upperBound
      if kind == .table {
        guard table == tables.count else { throw Self.malformed }
        tables.append(String(decoding: bytes[key], as: UTF8.self))
        continue
      }
      guard table < tables.count, (1...LMDBLimits.keySizeInBytes).contains(keyCount) else { throw Self.malformed }
      try body(Change(table: tables[table], key: key, value: kind == .put ? value : nil))
    }
  }

  private static let malformed = LMDBError(
    .corrupted, operation: "read the log", message: "A record of the log has changes that cannot be read")

  /// Makes the bytes a record.
  mutating func writeHead(at offset: UInt64, after place: LogPlace, isDurable: Bool) -> LogRecord {
    LogRecord(writingInto: &bytes, at: offset, after: place, isDurable: isDurable)
  }
}
