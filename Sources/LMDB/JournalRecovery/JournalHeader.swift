import TallySystem

/// The contents of a header slot of the journal: where recovery begins.
struct JournalHeader: Equatable {
  /// Whether the data file can be trusted as it is; the raw values are stored: do not change them.
  enum State: UInt64 {
    /// It is a plain, flushed file; the records mean nothing.
    case clean = 1
    /// Only the pages of the steady commit are known to be on the disk.
    case dirty = 2
  }

  /// Rises by one or more with each header; the valid one with the highest number counts.
  var generation: UInt64
  var state: State
  /// The run of the system that wrote it.
  var boot: UInt64
  /// A random number for each change from clean to dirty; records of another one mean nothing.
  var epoch: UInt64 = 0
  var ringSizeInBytes: Int
  /// liblmdb's number of the steady commit.
  var steadyTransaction: UInt64 = 0
  /// The record of the steady commit, or the last one before it.
  var position = JournalPosition()
  /// The size of a page of the data file.
  var pageSizeInBytes = 0
  /// The checksum of the steady commit's two root pages: whether the data file is the one this belongs to.
  var rootSum: UInt64 = 0
  /// A copy of the steady commit's meta page, without the head of the page.
  var meta = [UInt8](repeating: 0, count: metaByteCount)

  static let metaByteCount = MetaPage.byteCount - MetaPage.headByteCount
  private static let magic: UInt64 = 0x314C_4E4A_594C_4C54
  private static let wordCount = 13
  private static let seed: UInt64 = 77
  private static let maximumPageSizeInBytes = 65_536
  /// Greater numbers are refused, so that the sum of two never overflows.
  private static let limitOfNumbers: UInt64 = 1 << 60
  /// Words, then the meta page, then the checksum.
  static let byteCount = wordCount * 8 + metaByteCount + 8

  /// The bytes as they are stored.
  var encoded: [UInt8] {
    let words = [
      Self.magic, generation, state.rawValue, boot, epoch, UInt64(ringSizeInBytes), steadyTransaction,
      position.sequence, position.offset, position.chain, UInt64(pageSizeInBytes), rootSum, UInt64(meta.count),
    ]
    var bytes = words.flatMap(\.storedBytes) + meta
    bytes += Self.checksum(bytes).storedBytes
    return bytes
  }

  /// Reads a slot; `nil` unless it holds a whole header.
  init?(_ bytes: [UInt8]) {
    let words = (0..<Self.wordCount).compactMap { bytes.number(at: $0 * 8, as: UInt64.self)?.littleEndian }
    guard bytes.count >= Self.byteCount, words.count == Self.wordCount, words[0] == Self.magic,
      let state = State(rawValue: words[2]), words[12] == UInt64(Self.metaByteCount),
      let ringSize = Int(exactly: words[5]), let pageSize = Int(exactly: words[10]),
      ringSize >= JournalFile.minimumRingSizeInBytes, ringSize % JournalFile.blockSizeInBytes == 0,
      pageSize <= Self.maximumPageSizeInBytes,
      [words[1], words[5], words[6], words[7], words[8]].allSatisfy({ $0 < Self.limitOfNumbers })
    else { return nil }
    let body = Array(bytes[..<(Self.byteCount - 8)])
    guard bytes.number(at: body.count, as: UInt64.self)?.littleEndian == Self.checksum(body) else { return nil }
    (generation, boot, epoch, steadyTransaction) = (words[1], words[3], words[4], words[6])
    self.state = state
    ringSizeInBytes = ringSize
    position = JournalPosition(sequence: words[7], offset: words[8], chain: words[9])
    pageSizeInBytes = pageSize
    rootSum = words[11]
    meta = Array(body[(Self.wordCount * 8)...])
  }

  private static func checksum(_ bytes: [UInt8]) -> UInt64 {
    // Read within the call only.
    unsafe bytes.withUnsafeBytes { unsafe JournalChecksum.of($0, after: seed) }
  }
}

/// A place in the journal, which the next record must continue.
struct JournalPosition: Equatable {
  /// The number of the record before it.
  var sequence: UInt64 = 0
  /// The offset of the next record, counted from the epoch's first one through all rounds of the ring.
  var offset: UInt64 = 0
  /// The checksum of the record before it.
  var chain: UInt64 = 0
}

extension UInt64 {
  /// Eight bytes, the lowest first.
  var storedBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (8 * UInt64($0))) } }
}
