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
  static let temporaryFileName = "journal.tmp"
  static let blockSizeInBytes = 4_096
  private static let sharedOffset = 2 * blockSizeInBytes
  static let ringOffset = 3 * blockSizeInBytes
  static let minimumRingSizeInBytes = 16 * blockSizeInBytes

  let descriptor: FileDescriptor
  /// The rules that a control breaks.
  var brokenRules: JournalOptions.BrokenRules = []

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

  /// Creates a journal for a clean data file: a file of that name is always whole, and on the disk with its name.
  static func create(in directory: FilePath, options: JournalOptions, permissions: FilePermissions) throws {
    let blocks = max(options.ringSizeInBytes, minimumRingSizeInBytes) / blockSizeInBytes
    let temporary = directory.appending(temporaryFileName)
    let descriptor = try FileDescriptor.open(
      temporary, .writeOnly, options: [.create, .truncate, .closeOnExec, .noFollow], permissions: permissions)
    try descriptor.closeAfter {
      for slot in 0..<2 {
        let header = JournalHeader(cleanWithRingSizeInBytes: blocks * blockSizeInBytes, generation: UInt64(1 + slot))
        _ = try descriptor.writeAll(header.encoded.padded(to: blockSizeInBytes))
      }
      _ = try descriptor.writeAll([UInt8](repeating: 0, count: blockSizeInBytes))
      try SystemCalls.flush(descriptor)
    }
    try SystemCalls.rename(temporary, to: directory.appending(fileName))
    if !options.brokenRules.contains(.directoryFlush) { try SystemCalls.flushDirectory(directory) }
  }

  /// Makes room for the ring, before the first record is written: a store that is never dirty does without.
  func makeRing(ofBytes size: Int) throws {
    let end = Self.ringOffset + size
    var place = Int(try descriptor.stat().size)
    guard place < end else { return }
    // Written and not only reserved: a later flush of a record then changes no metadata.
    let zeros = [UInt8](repeating: 0, count: 16 * Self.blockSizeInBytes)
    while place < end {
      try write(Array(zeros.prefix(end - place)), at: place)
      place += min(zeros.count, end - place)
    }
    try SystemCalls.flush(descriptor)
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

  /// The generation of the header in a slot, whether it is whole or not.
  func generation(inSlot slot: Int) throws -> UInt64 {
    let bytes = try bytes(count: 8, at: slot * Self.blockSizeInBytes + JournalHeader.generationOffset)
    return bytes.number(at: 0, as: UInt64.self)?.littleEndian ?? 0
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

  /// What live processes share.
  struct Shared: Equatable {
    /// The generation of the header that is known to be on the disk.
    var generation: UInt64
    /// The run of the system in which somebody made sure of that.
    var boot: UInt64
    /// Whether a flush has failed: nobody may write until the last process has closed the file.
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

  /// What live processes share; `nil` in a new journal, and while somebody writes it.
  func shared() throws -> Shared? {
    Shared(try bytes(count: Shared.byteCount, at: Self.sharedOffset))
  }

  func share(_ shared: Shared) throws {
    // Not through a map: a page that is dirtied through one makes each flush of the file dearer.
    try write(shared.encoded, at: Self.sharedOffset)
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
  /// The bytes with zeros behind them, up to a multiple of a size.
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
