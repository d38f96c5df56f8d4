import SystemPackage
import TestSupport
import Testing

@testable import LMDB

@Suite final class LogFileTests {
  private let directory: TemporaryDirectory
  private let log: LogFile

  init() throws {
    directory = try TemporaryDirectory()
    log = try LogFile.create(in: directory.path, ringByteCount: LogFile.minimumRingByteCount)
  }

  deinit {
    log.close()
  }

  /// Appends a commit that gives one key a value of some bytes, and returns its record.
  @discardableResult
  private func append(_ byteCount: Int, _ fill: UInt8, to place: inout LogPlace, isDurable: Bool) throws -> LogRecord {
    var changes = LogChanges()
    try changes.set([UInt8](repeating: fill, count: byteCount), forKey: [fill], in: "table")
    let offset = log.offset(forByteCount: changes.bytes.count, isDurable: isDurable, after: place)
    let record = changes.writeHead(at: offset, after: place, isDurable: isDurable)
    try log.write(changes.bytes, of: record)
    place = record.end
    return record
  }

  /// The values that can be read after a place.
  private func values(after place: LogPlace) throws -> [[UInt8]] {
    var (place, values) = (place, [[UInt8]]())
    while let (record, bytes) = try log.record(after: place) {
      let changes = LogChanges(record: bytes)
      try changes.forEach { if let value = $0.value { values.append(Array(changes.bytes[value])) } }
      place = record.end
    }
    return values
  }

  @Test(arguments: [false, true])
  func recordsOfAnyLengthComeBackOverManyLaps(isDurable: Bool) throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "LogFileTests"))
    var (place, unread, expected) = (LogPlace(), LogPlace(), [[UInt8]]())
    for number in 0..<400 {
      let byteCount = Int.random(in: 0...9_000, using: &random)
      try append(byteCount, UInt8(number % 251), to: &place, isDurable: isDurable)
      expected.append([UInt8](repeating: UInt8(number % 251), count: byteCount))
      if number % 3 == 2 {
        #expect(try values(after: unread) == expected)
        (unread, expected) = (place, [])
      }
    }
    #expect(place.offset > 5 * UInt64(log.ringByteCount))
  }

  @Test func relaxedAndDurableRecordsFollowEachOther() throws {
    var place = LogPlace()
    for number in 0..<12 { try append(50, UInt8(number), to: &place, isDurable: number % 3 == 0) }
    #expect(try values(after: LogPlace()).map(\.first) == (0..<12).map { UInt8($0) })
  }

  @Test func aRecordWithAnyByteChangedIsNotRead() throws {
    var place = LogPlace()
    try append(10, 1, to: &place, isDurable: true)
    let before = place
    let record = try append(300, 2, to: &place, isDurable: true)
    for index in 0..<record.byteCount {
      let position = Int64(LogFile.blockByteCount + Int(record.offset) + index)
      let byte = try LogFile.bytes(of: log.descriptor, count: 1, at: Int(position))
      try log.descriptor.writeAll(toAbsoluteOffset: position, [byte[0] ^ 0x10])
      #expect(try log.record(after: before) == nil, "byte \(index)")
      try log.descriptor.writeAll(toAbsoluteOffset: position, byte)
    }
    #expect(try values(after: before).count == 1)
  }

  @Test func aRecordThatLacksASectorIsNotRead() throws {
    var place = LogPlace()
    let record = try append(5_000, 7, to: &place, isDurable: true)
    let sectors = (record.byteCount + 511) / 512
    let target = try TemporaryDirectory()
    for missing in 0..<sectors {
      let image = try LogFile.create(in: target.path, ringByteCount: LogFile.minimumRingByteCount)
      defer { image.close() }
      for sector in 0..<sectors where sector != missing {
        let position = LogFile.blockByteCount + sector * 512
        let bytes = try LogFile.bytes(of: log.descriptor, count: 512, at: position)
        try image.descriptor.writeAll(toAbsoluteOffset: Int64(position), bytes)
      }
      #expect(try image.record(after: LogPlace()) == nil)
    }
  }

  @Test func aRecordContinuesOneChainOnly() throws {
    var place = LogPlace()
    try append(10, 1, to: &place, isDurable: true)
    var other = place
    other.checksum ^= 1
    let before = place
    try append(10, 2, to: &place, isDurable: true)
    #expect(try log.record(after: other) == nil)
    #expect(try log.record(after: before.afterDirectCommit()) == nil)
    #expect(try values(after: before) == [[UInt8](repeating: 2, count: 10)])
  }

  @Test func anErasedRecordIsNotRead() throws {
    var place = LogPlace()
    try log.erase(try append(10, 1, to: &place, isDurable: true))
    #expect(try log.record(after: LogPlace()) == nil)
  }

  @Test func garbageIsNotALog() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "LogFileTests"))
    for _ in 0..<50 {
      let bytes = (0..<200).map { _ in UInt8.random(in: 1...255, using: &random) }
      try log.descriptor.writeAll(toAbsoluteOffset: 0, bytes)
      #expect(try code { _ = try LogFile.open(in: directory.path) } == .corrupted)
      try log.descriptor.writeAll(toAbsoluteOffset: Int64(LogFile.blockByteCount), bytes)
      #expect(try log.record(after: LogPlace()) == nil)
    }
  }

  @Test func aLogIsOpenedWithItsLength() throws {
    let opened = try #require(try LogFile.open(in: directory.path))
    defer { opened.close() }
    #expect(opened.ringByteCount == LogFile.minimumRingByteCount)
    try LogFile.remove(from: directory.path)
    #expect(try LogFile.open(in: directory.path) == nil)
    try LogFile.remove(from: directory.path)
  }

  @Test func aLogWhoseMakingWasCutOffIsNone() throws {
    try log.descriptor.writeAll(toAbsoluteOffset: 0, [UInt8](repeating: 0, count: 24))
    #expect(try LogFile.open(in: directory.path) == nil)
    try log.descriptor.resize(to: 0)
    #expect(try LogFile.open(in: directory.path) == nil)
  }

  /// Only a part of its sector was written when the power failed.
  @Test func aLogWithAPartOfItsHeadIsNoneUnlessSomethingFollows() throws {
    let head = try LogFile.bytes(of: log.descriptor, count: 24, at: 0)
    for word in 0..<3 {
      var part = [UInt8](repeating: 0, count: 24)
      part.replaceSubrange(word * 8..<word * 8 + 8, with: head[word * 8..<word * 8 + 8])
      try log.descriptor.writeAll(toAbsoluteOffset: 0, part)
      #expect(try LogFile.open(in: directory.path) == nil)
    }
    var place = LogPlace()
    try append(10, 1, to: &place, isDurable: true)
    #expect(try code { _ = try LogFile.open(in: directory.path) } == .corrupted)
  }

  @Test func changesWithoutSenseAreRefused() throws {
    let head = [UInt8](repeating: 0, count: LogRecord.headByteCount)
    for body in [[9, 0, 1, 0, 0, 0, 0, 0, 1], [2, 0, 1, 0, 0, 0, 0, 0, 1], [1, 0, 9, 0, 0, 0, 0, 0], [1, 1]]
      as [[UInt8]]
    {
      #expect(try code { try LogChanges(record: head + body).forEach { _ in } } == .corrupted)
    }
    var changes = LogChanges()
    #expect(try code { try changes.set([], forKey: [], in: "table") } == .badKeySize)
    #expect(try code { try changes.set(nil, forKey: [UInt8](repeating: 0, count: 512), in: "table") } == .badKeySize)
  }
}
