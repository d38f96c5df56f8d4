/// The head of a record, which holds the changes of one commit.
struct JournalRecord {
  static let byteCount = 56
  private static let magic: UInt64 = 0x4A52_4543_4F52_4431

  /// The size of the changes.
  let payloadByteCount: Int
  /// The number of the record: one more than that of the record before it.
  let sequence: UInt64
  /// liblmdb's number of the commit.
  let transaction: UInt64
  let epoch: UInt64
  /// The checksum of the record before it.
  let chain: UInt64
  let checksum: UInt64

  /// The number of bytes that the record takes in the ring.
  var ringByteCount: Int {
    let block = JournalFile.blockSizeInBytes
    return (Self.byteCount + payloadByteCount + block - 1) / block * block
  }

  /// Reads a head without its payload; `nil` if the bytes are not a head.
  init?(_ bytes: [UInt8]) {
    let words = (0..<7).compactMap { bytes.number(at: $0 * 8, as: UInt64.self)?.littleEndian }
    guard words.count == 7, words[0] == Self.magic, let count = Int(exactly: words[1]), count < Int(UInt32.max) else {
      return nil
    }
    payloadByteCount = count
    (sequence, transaction, epoch, chain, checksum) = (words[2], words[3], words[4], words[5], words[6])
  }

  /// Whether this record is the next one after a place, in an epoch (R5).
  func continues(_ place: JournalPosition, _ epoch: UInt64) -> Bool {
    sequence == place.sequence + 1 && self.epoch == epoch && chain == place.chain
  }

  /// The checksum of the head's other numbers and of a payload.
  func computedChecksum(of payload: UnsafeRawBufferPointer) -> UInt64 {
    let head = [UInt64(payloadByteCount), sequence, transaction, epoch, chain]
    // The caller's bytes, read within the call.
    return unsafe JournalChecksum.of(payload, after: JournalChecksum.of(head, after: 5))
  }
}

/// A change in a record.
///
/// Each is stored as: kind (1 byte), number of the table (1), size of the key (2), size of the value (4), key, value. A table
/// gets its number, counted from 0, by an entry of its own before its first change, with the name as its key.
struct JournalChange {
  /// The raw values are stored: do not change them.
  enum Kind: UInt8 {
    case table = 1
    case put, remove, removeAll, drop
    /// A table exists from here on.
    case create
  }

  let kind: Kind
  let table: String
  let key: ArraySlice<UInt8>
  let value: ArraySlice<UInt8>
}

/// Reads the changes of a record one after the other.
struct JournalChangeReader {
  private var rest: ArraySlice<UInt8>
  private var tables: [String] = []

  init(_ payload: ArraySlice<UInt8>) {
    rest = payload
  }

  /// The next change; `nil` at the end.
  ///
  /// Throws `corrupted` for bytes that no record has.
  mutating func next() throws(LMDBError) -> JournalChange? {
    while !rest.isEmpty {
      guard rest.count >= 8, let kind = JournalChange.Kind(rawValue: rest[rest.startIndex]) else {
        throw Self.malformed
      }
      let head = Array(rest.prefix(8))
      let keyCount = Int(head[2]) | Int(head[3]) << 8
      let valueCount = (4..<8).reduce(0) { $0 | Int(head[$1]) << (8 * ($1 - 4)) }
      rest = rest.dropFirst(8)
      guard keyCount + valueCount <= rest.count else { throw Self.malformed }
      let key = rest.prefix(keyCount)
      let value = rest.dropFirst(keyCount).prefix(valueCount)
      rest = rest.dropFirst(keyCount + valueCount)
      if kind == .table {
        guard Int(head[1]) == tables.count else { throw Self.malformed }
        tables.append(String(decoding: key, as: UTF8.self))
        continue
      }
      guard Int(head[1]) < tables.count else { throw Self.malformed }
      return JournalChange(kind: kind, table: tables[Int(head[1])], key: key, value: value)
    }
    return nil
  }

  private static let malformed = LMDBError.damagedJournal("A record has changes that cannot be read")
}
