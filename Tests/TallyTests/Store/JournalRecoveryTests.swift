import Foundation
import SystemPackage
import TallySystem
import TallyTestSupport
import Testing

@testable import LMDB

/// Environments that version 0e4248f left with a journal are recovered, whatever happens meanwhile.
@Suite struct JournalRecoveryTests {
  static let environments = LeftStore.all
  static let dirty = environments.filter { $0.end != .clean }

  @Test func thereIsOneOfEachKind() throws {
    for end in [LeftStore.End.clean, .killed, .cut] {
      #expect(Self.environments.contains { $0.end == end && !$0.isStore })
      #expect(Self.environments.contains { $0.end == end && $0.isStore } || end == .killed)
    }
    #expect(Self.dirty.count >= 12)
    for left in Self.environments {
      try withPlaced(left) { (directory) throws in
        #expect(try JournalRecovery.isClean(in: directory) == (left.end == .clean), "\(left)")
      }
    }
  }

  @Test(arguments: environments) func itHasWhatThatVersionFound(left: LeftStore) throws {
    try withPlaced(left) { (directory) throws in
      #expect(try Self.recovered(directory) == left.tables)
      #expect(try JournalRecovery.isClean(in: directory))
      #expect(try Self.plain(directory) == left.tables)
      try DataFile(inDirectory: directory).checkStructure()
      // Another time there is nothing to do.
      let before = try bytes(of: directory.appending("data.mdb"))
      #expect(try Self.recovered(directory) == left.tables)
      #expect(try bytes(of: directory.appending("data.mdb")) == before)
    }
  }

  @Test(arguments: dirty) func theMetaPagesOnTheDiskDoNotMatter(left: LeftStore) throws {
    try withPlaced(left) { (directory) throws in
      for page in 0..<2 {
        try overwrite([UInt8](repeating: 0xA5, count: 200), in: directory.appending("data.mdb"), at: page * 4_096)
      }
      #expect(try Self.recovered(directory) == left.tables)
    }
  }

  /// A recovery that is killed has repeated some records, or all, and not yet said so.
  @Test(arguments: dirty) func aRecoveryThatWasKilledIsDoneAgain(left: LeftStore) throws {
    let beginnings = try Self.beginnings(left)
    for count in Set([0, 1, beginnings.count / 2, beginnings.count]).sorted() where count <= beginnings.count {
      try withPlaced(left) { (directory) throws in
        // Only the first of the records.
        if count < beginnings.count {
          try overwrite([0], in: directory.appending("journal"), at: beginnings[count])
        }
        _ = try Self.recovered(directory)
        try write(left.bytes(of: "journal"), to: directory.appending("journal"))
        #expect(try Self.recovered(directory) == left.tables, "\(count) of \(beginnings.count) records")
      }
    }
  }

  @Test func aTornRecordEndsTheReplay() throws {
    var shortened = 0
    for left in Self.dirty {
      let records = try Self.beginnings(left)
      guard records.count >= 2 else { continue }
      try withPlaced(left) { (directory) throws in
        try flip(in: directory.appending("journal"), at: records[records.count - 1] + JournalRecord.byteCount + 2)
        #expect(try Self.recovered(directory) != left.tables, "\(left)")
        try DataFile(inDirectory: directory).checkStructure()
      }
      shortened += 1
    }
    #expect(shortened >= 6)
  }

  @Test(arguments: dirty) func aTornHeaderLeavesTheOtherOne(left: LeftStore) throws {
    try withPlaced(left) { (directory) throws in
      let file = try #require(try JournalFile(in: directory))
      defer { file.close() }
      let newest = try file.newestHeader()
      try flip(in: directory.appending("journal"), at: (1 - newest.slot) * JournalFile.blockSizeInBytes + 40)
      #expect(try file.newestHeader().header == newest.header)
      #expect(try Self.recovered(directory) == left.tables)
    }
    try withPlaced(left) { (directory) throws in
      for slot in 0..<2 { try flip(in: directory.appending("journal"), at: slot * JournalFile.blockSizeInBytes + 40) }
      #expect(try code { _ = try Self.recovered(directory) } == .corrupted)
      #expect(try bytes(of: directory.appending("data.mdb")) == left.bytes(of: "data.mdb"))
    }
  }

  @Test func theJournalOfAnotherFileIsRefused() throws {
    // Of two runs.
    let one = try #require(Self.dirty.first { $0.name.hasPrefix("narrow") })
    let other = try #require(Self.dirty.first { $0.name.hasPrefix("pauses") })
    try withPlaced(one) { (directory) throws in
      try write(other.bytes(of: "data.mdb"), to: directory.appending("data.mdb"))
      #expect(try code { _ = try Self.recovered(directory) } == .corrupted)
      #expect(try bytes(of: directory.appending("data.mdb")) == other.bytes(of: "data.mdb"))
    }
  }

  @Test func aMapThatIsTooSmallGrows() throws {
    for left in Self.dirty {
      try withPlaced(left) { (directory) throws in
        var options = LMDBEnvironment.Options.recovering
        options.mapSizeInBytes = left.bytes(of: "data.mdb").count
        options.minimumMapSizeInBytes = options.mapSizeInBytes
        let environment = try LMDBEnvironment(path: directory, options: options)
        #expect(try LeftStore.tables(of: environment) == left.tables)
        try environment.close()
      }
    }
  }

  @Test func whereNoMapIsLargeEnoughNothingIsLost() throws {
    let left = try #require(try Self.dirty.max { try Self.beginnings($0).count < Self.beginnings($1).count })
    try withPlaced(left) { (directory) throws in
      var options = LMDBEnvironment.Options.recovering
      options.mapSizeInBytes = left.bytes(of: "data.mdb").count
      (options.minimumMapSizeInBytes, options.maximumMapSizeInBytes) = (options.mapSizeInBytes, options.mapSizeInBytes)
      // Some need no room beyond the file.
      let code = try code { try LMDBEnvironment(path: directory, options: options).close() }
      #expect(code == nil || code == .mapFull)
      #expect(try Self.recovered(directory) == left.tables)
    }
  }
}

// MARK: Other processes

extension JournalRecoveryTests {
  @Test func nobodyRecoversAFileThatAnotherProcessRecoversOrHasOpen() throws {
    let left = try #require(Self.dirty.first { $0.end == .killed })
    try withPlaced(left) { (directory) throws in
      try setBoot(BootIdentity.current &+ 1, in: directory)
      let before = try bytes(of: directory.appending("data.mdb"))
      var options = LMDBEnvironment.Options.recovering
      options.writeWaitLimit = .milliseconds(30)
      let other = try FileLock(opening: directory.appending("journal"))
      #expect(try other.tryAcquire(.exclusive))
      #expect(try code { _ = try LMDBEnvironment(path: directory, options: options) } == .busy)
      other.release()
      #expect(try other.tryAcquire(.shared))
      // Another one that has it open, and nobody has recovered it since the system started.
      #expect(try code { _ = try LMDBEnvironment(path: directory, options: options) } == .busy)
      try setBoot(BootIdentity.current, in: directory)
      let beside = try LMDBEnvironment(path: directory, options: options)
      #expect(try LeftStore.tables(of: beside) == left.tables)
      try beside.close()
      #expect(try !JournalRecovery.isClean(in: directory))
      #expect(try bytes(of: directory.appending("data.mdb")) == before)
      other.release()
      #expect(try Self.recovered(directory) == left.tables)
      #expect(try JournalRecovery.isClean(in: directory))
    }
  }

  /// While the environment is being opened, nobody else may begin to recover the file.
  @Test func anEnvironmentThatIsOpenHoldsUpNoOtherProcess() throws {
    let left = try #require(Self.dirty.first)
    try withPlaced(left) { (directory) throws in
      let environment = try LMDBEnvironment(path: directory, options: .recovering)
      let other = try FileLock(opening: directory.appending("journal"))
      #expect(try other.tryAcquire(.exclusive))
      try environment.close()
    }
  }

  @Test func aFileThatAnotherProgramReadsIsNotRecoveredAfterACrash() throws {
    let left = try #require(Self.dirty.first { $0.end == .killed })
    try withPlaced(left) { (directory) throws in
      try setBoot(BootIdentity.current &+ 1, in: directory)
      try withForeignReader(of: directory) { () throws in
        #expect(try code { _ = try Self.recovered(directory) } == .busy)
        #expect(try bytes(of: directory.appending("data.mdb")) == left.bytes(of: "data.mdb"))
      }
      #expect(try Self.recovered(directory) == left.tables)
    }
  }

  @Test func aFileThatAnotherProgramReadsIsFlushedAsItIsWhileTheSystemRuns() throws {
    let left = try #require(Self.dirty.first { $0.end == .killed })
    try withPlaced(left) { (directory) throws in
      try setBoot(BootIdentity.current, in: directory)
      try withForeignReader(of: directory) { () throws in
        #expect(try Self.recovered(directory) == left.tables)
        #expect(try JournalRecovery.isClean(in: directory))
        #expect(try bytes(of: directory.appending("data.mdb")) == left.bytes(of: "data.mdb"))
      }
    }
  }

  @Test func afterAFailedFlushWhatAnotherProgramReadsIsNotTrusted() throws {
    let left = try #require(Self.dirty.first { $0.end == .killed })
    try withPlaced(left) { (directory) throws in
      try setBoot(BootIdentity.current, in: directory)
      try changeJournal(of: directory) { file, newest in
        try file.share(.init(generation: newest.header.generation, boot: BootIdentity.current, isFailed: true))
      }
      try withForeignReader(of: directory) { () throws in
        #expect(try code { _ = try Self.recovered(directory) } == .panic)
      }
      #expect(try Self.recovered(directory) == left.tables)
      try changeJournal(of: directory) { (file, _) throws in
        #expect(try file.shared()?.isFailed == false)
      }
    }
  }

  @Test func readersRecoverWhatIsDirtyAndTouchNothingThatIsClean() throws {
    for left in Self.environments {
      try withPlaced(left) { (directory) throws in
        var options = LMDBEnvironment.Options.recovering
        options.isReadOnly = true
        let environment = try LMDBEnvironment(path: directory, options: options)
        #expect(try LeftStore.tables(of: environment) == left.tables, "\(left)")
        try environment.close()
        #expect(try JournalRecovery.isClean(in: directory))
        let isSame = try bytes(of: directory.appending("journal")) == left.bytes(of: "journal")
        #expect(isSame == (left.end == .clean))
      }
    }
  }

  /// Root may write what others may not.
  @Test(.enabled(if: geteuid() != 0)) func whatCannotBeWrittenIsReadOnlyIfItIsClean() throws {
    for left in Self.environments {
      try withPlaced(left) { (directory) throws in
        try FileManager.default.setAttributes(
          [.posixPermissions: 0o400], ofItemAtPath: directory.appending("journal").string)
        var options = LMDBEnvironment.Options.recovering
        options.isReadOnly = true
        let code = try code { try LMDBEnvironment(path: directory, options: options).close() }
        #expect(code == (left.end == .clean ? nil : .readOnly))
      }
    }
  }

  /// Makes a journal one that was written in some run of the system.
  private func setBoot(_ boot: UInt64, in directory: FilePath) throws {
    try changeJournal(of: directory) { file, newest in
      var header = newest.header
      header.boot = boot
      try file.write(header, inSlot: newest.slot)
      try file.share(.init(generation: header.generation, boot: boot))
    }
  }

  private func changeJournal(
    of directory: FilePath, _ body: (JournalFile, (header: JournalHeader, slot: Int)) throws -> Void
  ) throws {
    let file = try #require(try JournalFile(in: directory))
    defer { file.close() }
    try body(file, file.newestHeader())
  }

  /// Runs a body while the lock that liblmdb takes for each process that has the file open is held.
  private func withForeignReader(of directory: FilePath, _ body: () throws -> Void) throws {
    // Which makes the lock's file.
    _ = try Self.plain(directory)
    let file = try FileDescriptor.open(directory.appending("lock.mdb"), .readWrite)
    try file.closeAfter {
      // Of a descriptor: it excludes locks of processes even in this one.
      let lock = ByteLock(file, byte: 0, owner: .descriptor)
      try lock.acquire(.shared)
      defer { try? lock.release() }
      try body()
    }
  }
}

// MARK: The bytes of a journal

extension JournalRecoveryTests {
  @Test func everyBitOfAHeaderCounts() throws {
    let left = try #require(Self.dirty.first)
    let block = Array(left.bytes(of: "journal").prefix(2 * JournalFile.blockSizeInBytes))
    let slots = (0..<2).map { Array(block[($0 * JournalFile.blockSizeInBytes)...].prefix(JournalHeader.byteCount)) }
    let bytes = try #require(slots.first { JournalHeader($0) != nil })
    #expect(JournalHeader(bytes)?.encoded == bytes)
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      #expect(JournalHeader(changed) == nil, "byte \(index)")
    }
  }

  @Test(arguments: [[7], [2, 0, 0, 0, 0, 0, 0, 0], [1, 0, 9, 0, 0, 0, 0, 0], [1, 3, 0, 0, 0, 0, 0, 0]] as [[UInt8]])
  func bytesThatNoRecordHasAreRefused(bytes: [UInt8]) throws {
    var reader = JournalChangeReader(bytes[...])
    #expect(throws: LMDBError.self) { _ = try reader.next() }
  }

  @Test func changesAreReadWithTheirTables() throws {
    let name = Array("tasks".utf8)
    let bytes: [UInt8] =
      [1, 0, UInt8(name.count), 0, 0, 0, 0, 0] + name + [6, 0, 0, 0, 0, 0, 0, 0]
      + [2, 0, 2, 0, 3, 0, 0, 0] + [1, 2] + [3, 4, 5] + [1, 1, 1, 0, 0, 0, 0, 0] + [0x78]
      + [3, 1, 1, 0, 0, 0, 0, 0] + [9] + [4, 0, 0, 0, 0, 0, 0, 0] + [5, 1, 0, 0, 0, 0, 0, 0]
    var reader = JournalChangeReader(bytes[...])
    var found: [String] = []
    while let change = try reader.next() {
      found.append("\(change.kind) \(change.table) \(Array(change.key)) \(Array(change.value))")
    }
    #expect(
      found == [
        "create tasks [] []", "put tasks [1, 2] [3, 4, 5]", "remove x [9] []", "removeAll tasks [] []", "drop x [] []",
      ])
  }

  /// A record of an earlier round of the ring, of an earlier epoch, or after another record than it names is none.
  @Test func aRecordContinuesOnePlaceOnly() throws {
    let left = try #require(try Self.dirty.first { try Self.beginnings($0).count > 1 })
    try withPlaced(left) { (directory) throws in
      let file = try #require(try JournalFile(in: directory))
      defer { file.close() }
      let header = try file.newestHeader().header
      #expect(try file.record(at: header.position, header) != nil)
      var (place, other) = (header.position, header)
      place.sequence += 1
      #expect(try file.record(at: place, header) == nil)
      place = header.position
      place.chain ^= 1
      #expect(try file.record(at: place, header) == nil)
      other.epoch ^= 1
      #expect(try file.record(at: header.position, other) == nil)
    }
  }

  /// Where in the file of the journal the records after the steady commit begin.
  private static func beginnings(_ left: LeftStore) throws -> [Int] {
    try withTemporaryDirectory { (directory) throws in
      let path = directory.appending("left")
      try left.place(at: path)
      guard let file = try JournalFile(in: path) else { return [] }
      defer { file.close() }
      let header = try file.newestHeader().header
      var (place, places) = (header.position, [Int]())
      while let next = try file.record(at: place, header) {
        // The end is where the next one begins; a record fills whole blocks.
        let size = (JournalRecord.byteCount + next.payload.count + 4_095) / 4_096 * 4_096
        places.append(JournalFile.ringOffset + Int((next.end.offset - UInt64(size)) % UInt64(header.ringSizeInBytes)))
        place = next.end
      }
      return places
    }
  }
}

extension JournalRecoveryTests {
  private func withPlaced(_ left: LeftStore, _ body: (FilePath) throws -> Void) throws {
    try withTemporaryDirectory { (directory) throws in
      let path = directory.appending("left")
      try left.place(at: path)
      try body(path)
    }
  }

  /// What recovery makes of a directory.
  static func recovered(_ directory: FilePath) throws -> [String] {
    let environment = try LMDBEnvironment(path: directory, options: .recovering)
    defer { try? environment.close() }
    return try LeftStore.tables(of: environment)
  }

  /// What a program finds that knows nothing of the journal.
  private static func plain(_ directory: FilePath) throws -> [String] {
    var options = LMDBEnvironment.Options.recovering
    options.recoversJournal = false
    let environment = try LMDBEnvironment(path: directory, options: options)
    defer { try? environment.close() }
    return try LeftStore.tables(of: environment)
  }

  private func overwrite(_ bytes: [UInt8], in path: FilePath, at offset: Int) throws {
    let file = try FileDescriptor.open(path, .readWrite)
    _ = try file.closeAfter { try file.writeAll(toAbsoluteOffset: Int64(offset), bytes) }
  }

  private func flip(in path: FilePath, at offset: Int) throws {
    try overwrite([try bytes(of: path)[offset] ^ 0x40], in: path, at: offset)
  }

  private func code(_ body: () throws -> Void) throws -> LMDBError.Code? {
    do {
      try body()
      return nil
    } catch let error as LMDBError {
      return error.code
    }
  }
}
