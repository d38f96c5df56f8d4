import SystemPackage
import TallySystem

/// The file `journal` beside a data file: two header slots, a block of what live processes share, and the ring of records.
///
/// | block | content |
/// | --- | --- |
/// | 0, 1 | the headers of the last two checkpoints |
/// | 2 | which header counts, for live processes; recovery never believes it |
/// | 3 and on | the ring |
///
/// A block has 4,096 bytes, so that no write touches a sector of an older record, whatever the disk's sectors are.
struct JournalFile {
  static let fileName = "journal"
  static let blockSizeInBytes = 4_096
  private static let sharedOffset = 2 * blockSizeInBytes
  static let ringOffset = 3 * blockSizeInBytes
  static let minimumRingSizeInBytes = 16 * blockSizeInBytes

  let descriptor: FileDescriptor

  /// Opens a journal; `nil` if there is none.
  init?(in directory: FilePath, readOnly: Bool = false) throws {
    do {
      descriptor = try FileDescriptor.open(
        directory.appending(Self.fileName), readOnly ? .readOnly : .readWrite,
        options: [.closeOnExec, .noFollow, .nonBlocking])
    } catch Errno.noSuchFileOrDirectory {
      return nil
    }
  }

  func close() {
    // Everything that must last has been flushed.
    try? descriptor.close()
  }

  func flush() throws {
    try SystemCalls.flushData(descriptor)
  }

  // MARK: Headers

  /// The header in a slot, whole or `nil`.
  func header(inSlot slot: Int) throws -> JournalHeader? {
    JournalHeader(try bytes(count: JournalHeader.byteCount, at: slot * Self.blockSizeInBytes))
  }

  /// The newest whole header, with its slot.
  func newestHeader() throws -> (header: JournalHeader, slot: Int) {
    let found = try (0..<2).compactMap { slot in try header(inSlot: slot).map { (header: $0, slot: slot) } }
    guard let newest = found.max(by: { $0.header.generation < $1.header.generation }) else {
      throw LMDBError.damagedJournal("Neither of its headers is whole")
    }
    return newest
  }

  func write(_ header: JournalHeader, inSlot slot: Int) throws {
    try write(header.encoded.padded(to: Self.blockSizeInBytes), at: slot * Self.blockSizeInBytes)
  }

  // MARK: The block of live processes

  /// The part of the journal that live processes share.
  struct Shared: Equatable {
    /// The generation of the header that is known to be on the disk.
    var generation: UInt64
    /// The run of the system in which somebody made sure of that.
    var boot: UInt64
    /// Whether a flush has failed: what should be on the disk may be gone, although it can be read.
    var isFailed: Bool

    private static let magic: UInt64 = 0x4A53_4841_5245_4431
    static let byteCount = 40

    var encoded: [UInt8] {
      let words = [Self.magic, generation, boot, isFailed ? 1 : 0]
      return (words + [JournalChecksum.of(words, after: 3)]).flatMap(\.storedBytes)
    }

    init(generation: UInt64, boot: UInt64, isFailed: Bool = false) {
      (self.generation, self.boot, self.isFailed) = (generation, boot, isFailed)
    }

    init?(_ bytes: [UInt8]) {
      let words = (0..<5).compactMap { bytes.number(at: $0 * 8, as: UInt64.self)?.littleEndian }
      guard words.count == 5, words[0] == Self.magic, JournalChecksum.of(Array(words[..<4]), after: 3) == words[4]
      else { return nil }
      self.init(generation: words[1], boot: words[2], isFailed: words[3] != 0)
    }
  }

  /// The part that live processes share; `nil` in a new journal, and while a process writes it.
  func shared() throws -> Shared? {
    Shared(try bytes(count: Shared.byteCount, at: Self.sharedOffset))
  }

  func share(_ shared: Shared) throws {
    try write(shared.encoded, at: Self.sharedOffset)
  }

  // MARK: Records

  /// The changes of the record that continues a place, and where it ends; `nil` if it is missing or incomplete (R5).
  func record(at place: JournalPosition, _ header: JournalHeader) throws -> (payload: [UInt8], end: JournalPosition)? {
    let ring = UInt64(header.ringSizeInBytes)
    // A record that does not fit into the rest of the ring begins at its start.
    let wrapped = place.offset + (ring - place.offset % ring) % ring
    for offset in wrapped == place.offset ? [place.offset] : [place.offset, wrapped] {
      let physical = Int(offset % ring)
      let head = try bytes(count: JournalRecord.byteCount, at: Self.ringOffset + physical)
      guard let record = JournalRecord(head), record.continues(place, header.epoch), record.payloadByteCount >= 0,
        record.payloadByteCount <= Int(ring) - physical - JournalRecord.byteCount
      else { continue }
      let payload = try bytes(count: record.payloadByteCount, at: Self.ringOffset + physical + JournalRecord.byteCount)
      // Read within the call only.
      guard unsafe payload.withUnsafeBytes({ unsafe record.computedChecksum(of: $0) }) == record.checksum else {
        continue
      }
      let end = JournalPosition(
        sequence: record.sequence, offset: offset + UInt64(record.ringByteCount), chain: record.checksum)
      return (payload, end)
    }
    return nil
  }

  // MARK: Bytes

  func bytes(count: Int, at offset: Int) throws -> [UInt8] {
    try DataFileReader(descriptor: descriptor).bytes(count: count, at: offset)
  }

  func write(_ bytes: [UInt8], at offset: Int) throws {
    try descriptor.writeAll(toAbsoluteOffset: Int64(offset), bytes)
  }
}

extension [UInt8] {
  /// The bytes, padded with zeros to a multiple of a size.
  func padded(to size: Int) -> [UInt8] {
    let missing = (size - count % size) % size
    return self + [UInt8](repeating: 0, count: missing)
  }
}

extension LMDBError {
  static func damagedJournal(_ message: String) -> LMDBError {
    LMDBError(.corrupted, operation: "open the journal", message: "The journal is damaged. \(message)")
  }
}

/// The checksum of headers and records: 64 bits, eight bytes at a time by folded multiplication.
///
/// It recognises torn and stale blocks; somebody who writes a file on purpose can forge it. CRC-32 misses one
/// torn record in 2³², and needs tables or instructions that differ between machines.
enum JournalChecksum {
  private static let multiplier: UInt64 = 0xD6E8_FEB8_6659_FD93
  private static let increment: UInt64 = 0xA076_1D64_78BD_642F

  /// Adds bytes to a checksum.
  static func of(_ bytes: UnsafeRawBufferPointer, after seed: UInt64) -> UInt64 {
    var sum = fold(seed ^ UInt64(bytes.count))
    var offset = 0
    while offset + 8 <= bytes.count {
      // In bounds by the condition.
      sum = unsafe fold(sum ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian)
      offset += 8
    }
    var rest: UInt64 = 0
    while offset < bytes.count {
      rest = unsafe rest << 8 | UInt64(bytes[offset])
      offset += 1
    }
    return fold(sum ^ rest)
  }

  /// Adds numbers to a checksum.
  static func of(_ words: [UInt64], after seed: UInt64) -> UInt64 {
    words.reduce(fold(seed ^ UInt64(words.count))) { fold($0 ^ $1) }
  }

  private static func fold(_ word: UInt64) -> UInt64 {
    let product = (word ^ increment).multipliedFullWidth(by: multiplier)
    return product.high ^ product.low ^ increment
  }
}
