import SystemPackage
import TallySystem

/// The file `log` next to a data file: a block that names its length, then a ring of records (L2, L14).
struct LogFile {
  static let fileName = "log"
  static let blockByteCount = 4_096
  static let minimumRingByteCount = 16 * blockByteCount
  /// A commit whose record is longer than the ring divided by this number goes into the tree directly.
  static let largestPart = 4
  private static let headByteCount = 24
  private static let magic: UInt64 = 0x5441_4C4C_594C_4F47

  /// Closures with which tests watch writes and flushes, and make them fail.
  struct Hooks: Sendable {
    var willWrite: (@Sendable (_ offset: Int, _ bytes: [UInt8]) throws -> Void)?
    var willFlush: (@Sendable () throws -> Void)?
    var hasFlushed: (@Sendable () -> Void)?
  }

  let descriptor: FileDescriptor
  let ringByteCount: Int
  var hooks = Hooks()

  /// The next multiple of a block's size.
  static func roundedUp(_ offset: UInt64) -> UInt64 {
    let block = UInt64(blockByteCount)
    return (offset + block - 1) / block * block
  }

  /// Opens the log of a directory; `nil` if there is none, or if its creation was interrupted.
  ///
  /// Throws `corrupted` for a file that is not a log; otherwise an `Errno`.
  static func open(in directory: FilePath) throws -> LogFile? {
    let descriptor: FileDescriptor
    do {
      descriptor = try .open(
        directory.appending(fileName), .readWrite, options: [.closeOnExec, .noFollow, .nonBlocking])
    } catch Errno.noSuchFileOrDirectory {
      return nil
    }
    do {
      let ringByteCount = try readHead(of: descriptor)
      guard let ringByteCount else {
        try descriptor.close()
        return nil
      }
      return LogFile(descriptor: descriptor, ringByteCount: ringByteCount)
    } catch {
      try? descriptor.close()
      throw error
    }
  }

  /// The length of the ring; `nil` if the head, which is written last, is missing.
  private static func readHead(of descriptor: FileDescriptor) throws -> Int? {
    let head = try bytes(of: descriptor, count: headByteCount, at: 0)
    if head.allSatisfy({ $0 == 0 }) { return nil }
    let words = (0..<3).compactMap { head.number(at: $0 * 8, as: UInt64.self)?.littleEndian }
    guard words.count == 3, words[0] == magic, words[2] == JournalChecksum.of([words[1]], after: magic),
      let length = Int(exactly: words[1]), length >= minimumRingByteCount, length % blockByteCount == 0
    else {
      // The power failed while the head was being written, and only a part of it is there.
      if try isNew(descriptor) { return nil }
      throw LMDBError(
        .corrupted, operation: "open the log", message: "The file \(fileName) is not a log",
        remedy: "Move it away: the commits since the last merge are missing then")
    }
    return length
  }

  /// Whether a file has the length of a log, and nothing after the place of its head.
  private static func isNew(_ descriptor: FileDescriptor) throws -> Bool {
    let size = Int(try descriptor.stat().size)
    guard size >= blockByteCount + minimumRingByteCount, size % blockByteCount == 0 else { return false }
    var offset = headByteCount
    while offset < size {
      let part = try bytes(of: descriptor, count: min(1 << 16, size - offset), at: offset)
      guard !part.isEmpty, part.allSatisfy({ $0 == 0 }) else { return false }
      offset += part.count
    }
    return true
  }

  /// Makes a log: writes zeros to its full length, flushes it and its directory, writes its head, and flushes it again
  /// (L14).
  ///
  /// The head is written last: a log that has one does not lose its name, even if its maker was killed at that moment.
  ///
  /// Throws an `Errno`, and leaves no file that counts as a log.
  static func create(
    in directory: FilePath, ringByteCount: Int, mode: FilePermissions = .ownerReadWrite, hooks: Hooks = Hooks()
  ) throws -> LogFile {
    let length = max(minimumRingByteCount, Int(roundedUp(UInt64(max(ringByteCount, 0)))))
    let path = directory.appending(fileName)
    let descriptor = try FileDescriptor.open(
      path, .readWrite, options: [.create, .truncate, .closeOnExec, .noFollow], permissions: mode)
    let log = LogFile(descriptor: descriptor, ringByteCount: length, hooks: hooks)
    do {
      let zeros = [UInt8](repeating: 0, count: 1 << 16)
      var offset = 0
      while offset < length + blockByteCount {
        let count = min(zeros.count, length + blockByteCount - offset)
        try descriptor.writeAll(toAbsoluteOffset: Int64(offset), zeros.prefix(count))
        offset += count
      }
      try SystemCalls.flush(descriptor)
      try SystemCalls.flushDirectory(directory)
      let words = [magic, UInt64(length), JournalChecksum.of([UInt64(length)], after: magic)]
      try descriptor.writeAll(toAbsoluteOffset: 0, words.flatMap(\.storedBytes))
      try SystemCalls.flush(descriptor)
    } catch {
      try? descriptor.close()
      try? SystemCalls.removeFile(path)
      throw error
    }
    return log
  }

  /// Whether a directory has a log, whole or not; also true if the system does not say.
  static func isThere(in directory: FilePath) -> Bool {
    do {
      _ = try directory.appending(fileName).stat(followTargetSymlink: false)
      return true
    } catch {
      return error != .noSuchFileOrDirectory
    }
  }

  func close() {
    // Everything that must last has been flushed.
    try? descriptor.close()
  }

  /// Removes the log of a directory and flushes the directory; does nothing if there is no log.
  static func remove(from directory: FilePath) throws {
    do {
      try SystemCalls.removeFile(directory.appending(fileName))
    } catch Errno.noSuchFileOrDirectory {
      return
    }
    try SystemCalls.flushDirectory(directory)
  }

  // MARK: Records

  /// The offset at which a record of a given length begins after a place.
  ///
  /// A durable record begins with a block, and no record crosses the end of the ring.
  func offset(forByteCount byteCount: Int, isDurable: Bool, after place: LogPlace) -> UInt64 {
    let ring = UInt64(ringByteCount)
    let begin = isDurable ? Self.roundedUp(place.offset) : place.offset
    let length = isDurable ? Self.roundedUp(UInt64(byteCount)) : UInt64(byteCount)
    return begin % ring + length <= ring ? begin : (begin / ring + 1) * ring
  }

  /// Whether a record of a length is short enough for the log.
  func hasRoom(forByteCount byteCount: Int) -> Bool { byteCount <= ringByteCount / Self.largestPart }

  /// Writes a record, filled up with zeros to the end of its last block if it is durable.
  func write(_ bytes: [UInt8], of record: LogRecord) throws {
    let padded = bytes + [UInt8](repeating: 0, count: Int(record.endOffset - record.offset) - bytes.count)
    try write(padded, at: record.offset)
  }

  /// Erases a record, so that nobody reads it (L11).
  func erase(_ record: LogRecord) throws {
    try write([UInt8](repeating: 0, count: LogRecord.headByteCount), at: record.offset)
  }

  private func write(_ bytes: [UInt8], at offset: UInt64) throws {
    let position = Self.blockByteCount + Int(offset % UInt64(ringByteCount))
    try hooks.willWrite?(position, bytes)
    try descriptor.writeAll(toAbsoluteOffset: Int64(position), bytes)
  }

  func flush() throws {
    try hooks.willFlush?()
    try SystemCalls.flushData(descriptor)
    hooks.hasFlushed?()
  }

  /// The record that continues a place, with its bytes, or `nil`; the record is first copied and then checked (L2, L4).
  func record(after place: LogPlace) throws -> (record: LogRecord, bytes: [UInt8])? {
    let ring = UInt64(ringByteCount)
    let candidates = [place.offset, Self.roundedUp(place.offset), (place.offset / ring + 1) * ring]
    for (index, offset) in candidates.enumerated() where index == 0 || candidates[index - 1] != offset {
      let position = Int(offset % ring)
      let first = try bytes(count: min(Self.blockByteCount, ringByteCount - position), at: position)
      guard let record = LogRecord(head: first), record.commit == place.commit + 1, record.offset == offset,
        record.byteCount <= ringByteCount - position
      else { continue }
      let rest = record.byteCount - first.count
      let all =
        rest <= 0
        ? Array(first.prefix(record.byteCount)) : first + (try bytes(count: rest, at: position + first.count))
      if record.isWhole(all, after: place.checksum) { return (record, all) }
    }
    return nil
  }

  /// Whether the newest record ends at a place, or there is none.
  ///
  /// Only the heads of records are read, so a torn record counts as the newest one.
  func ends(at place: LogPlace) throws -> Bool {
    let ring = try bytes(count: ringByteCount, at: 0)
    var newest: LogRecord?
    // Records begin at multiples of eight.
    for position in stride(from: 0, to: ring.count - LogRecord.headByteCount + 1, by: 8) {
      guard LogRecord.isHead(ring, at: position),
        let record = LogRecord(head: Array(ring[position..<position + LogRecord.headByteCount])),
        record.offset % UInt64(ringByteCount) == UInt64(position), record.commit > newest?.commit ?? 0
      else { continue }
      newest = record
    }
    return newest.map { $0.end == place } ?? true
  }

  private func bytes(count: Int, at position: Int) throws -> [UInt8] {
    try Self.bytes(of: descriptor, count: count, at: Self.blockByteCount + position)
  }

  /// The bytes of a file; fewer at its end.
  static func bytes(of descriptor: FileDescriptor, count: Int, at offset: Int) throws -> [UInt8] {
    var found = 0
    // Each read fills a part of the room that is left; only what was read counts.
    return try unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      let all = UnsafeMutableRawBufferPointer(buffer)
      while found < count {
        let read = unsafe try descriptor.read(
          fromAbsoluteOffset: Int64(offset + found), into: UnsafeMutableRawBufferPointer(rebasing: all[found...]))
        if read == 0 { break }
        found += read
      }
      initializedCount = found
    }
  }
}
