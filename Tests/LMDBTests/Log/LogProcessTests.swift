import Foundation
import SystemPackage
import TallySystem
import TestSupport
import Testing

@testable import LMDB

extension LMDBEnvironment.Options {
  /// Sets a log that is merged again and again.
  mutating func setLog() {
    var log = LogStore.Options()
    (log.ringByteCount, log.commitsPerPart) = (1 << 17, 8)
    (self.log, writeWaitLimit) = (log, .seconds(60))
  }
}

extension LMDBEnvironment {
  /// An environment that may have a log.
  convenience init(forLogIn path: FilePath) throws {
    var options = Options()
    options.writeWaitLimit = .seconds(60)
    try self.init(path: path, options: options)
  }
}

/// Several processes that have a store with a log open; those that are killed are in the fault suite `log-kills`.
///
/// Two stores of one environment are like two processes: all that they have in common is in the files.
@Suite struct LogProcessTests {
  private let directory: TemporaryDirectory
  private let environment: LMDBEnvironment

  init() throws {
    directory = try TemporaryDirectory()
    environment = try LMDBEnvironment(forLogIn: directory.path)
  }

  private func open(waitLimit: Duration = .seconds(60)) throws -> LogStore {
    var options = LogStore.Options()
    (options.ringByteCount, options.commitsPerPart, options.waitLimit) = (1 << 17, 16, waitLimit)
    return try #require(try LogStore(of: environment, options: options))
  }

  private func put(_ number: Int, in store: LogStore, isDurable: Bool = false) throws {
    let table = try store.table(named: "numbers")
    try store.write(isDurable: isDurable) { snapshot, changes in
      let before = try snapshot.value(forKey: [0], in: table)?.first ?? 0
      #expect(Int(before) == number - 1)
      try changes.set([UInt8(number)], forKey: [0], in: table.name)
      try changes.set([1], forKey: [UInt8(number)], in: table.name)
    }
  }

  private func newest(in store: LogStore) throws -> Int {
    let table = try store.table(named: "numbers")
    let snapshot = try store.beginRead()
    var (count, newest) = (0, 0)
    try snapshot.forEach(in: table) { key, value in
      count += 1
      if try [UInt8](decoding: key) == [0] { newest = Int(try [UInt8](decoding: value)[0]) }
      return true
    }
    #expect(count == (newest == 0 ? 0 : newest + 1))
    return newest
  }

  /// A process that may not write cannot bring the log into the tree before it copies that.
  @Test(arguments: [false, true]) func aCopyByAReaderHasEveryCommit(isRewritten: Bool) throws {
    let (directory, target) = (try TemporaryDirectory(), try TemporaryDirectory())
    let writer = try HelperProcess("hold-log", directory, 9)
    #expect(writer.line() == "ready")
    var options = LMDBEnvironment.Options()
    options.setLog()
    options.isReadOnly = true
    // Beside the database of the log.
    options.maxDatabases = 1
    options.log?.makesLog = false
    let reader = try LMDBEnvironment(path: directory.path, options: options)
    try reader.joinLog()
    #expect(try #require(try reader.logInformation()).commitCount > 0)
    if isRewritten { try reader.rewrite(to: target.path) } else { try reader.copy(to: target.path) }
    try reader.close()
    if !isRewritten {
      #expect(try FileManager.default.contentsOfDirectory(atPath: target.path.string) == ["data.mdb"])
    }
    let copy = try LMDBEnvironment(path: target.path)
    let counters = try Database<UInt64, [UInt8]>(opening: "counters", in: copy)
    #expect(try copy.read { try counters.count(in: $0) } == 9)
    try copy.checkStructure()
    writer.release()
    #expect(writer.line() == "closed")
  }

  /// Each of two stores has a log, of which one gets into the other's directory: with as many commits as its own.
  @Test func aLogOfAnotherStoreIsNotRead() throws {
    let copies = [try TemporaryDirectory(), try TemporaryDirectory()]
    for number in copies.indices {
      let directory = try TemporaryDirectory()
      var options = LMDBEnvironment.Options()
      options.setLog()
      options.log?.mergesByItself = false
      let environment = try LMDBEnvironment(path: directory.path, options: options)
      let table = try environment.write { transaction in
        let table = try Database<[UInt8], [UInt8]>(opening: "table", creating: true, in: &transaction)
        try table.put([UInt8(number)], forKey: [0], in: &transaction)
        return table
      }
      for key in UInt8(1)..<3 { try environment.write { try table.put([UInt8(number)], forKey: [key], in: &$0) } }
      // As a kill would leave them; the data files are those of the first, the logs those of the second.
      for (name, target) in [("data.mdb", copies[number]), ("log", copies[1 - number])] {
        let bytes = try Data(contentsOf: URL(filePath: directory.path.appending(name).string))
        try bytes.write(to: URL(filePath: target.path.appending(name).string))
      }
    }
    for (number, copy) in copies.enumerated() {
      var options = LMDBEnvironment.Options()
      options.setLog()
      let environment = try LMDBEnvironment(path: copy.path, options: options)
      let table = try Database<[UInt8], [UInt8]>(opening: "table", in: environment)
      let values = try environment.read { snapshot in
        try (UInt8(0)..<3).compactMap { try table.value(forKey: [$0], in: snapshot) }
      }
      // Its own log is gone, and only that.
      #expect(values == [[UInt8(number)]])
      try environment.close()
      try LMDBEnvironment(path: copy.path).checkStructure()
    }
  }

  @Test func eachSeesWhatTheOtherHasCommittedAndMerged() throws {
    let stores = [try open(), try open()]
    var number = 0
    for round in 0..<40 {
      for store in stores {
        number += 1
        try put(number, in: store, isDurable: round % 3 == 0)
        #expect(try newest(in: stores[round % 2]) == number)
      }
      if round % 5 == 0 { try stores[round / 5 % 2].merge() }
    }
    try stores[0].mergeAndClose()
    #expect(try LogFile.open(in: directory.path) != nil)
    try put(number + 1, in: stores[1])
    try stores[1].mergeAndClose()
    #expect(try LogFile.open(in: directory.path) == nil)
    let table = try Database<[UInt8], [UInt8]>(opening: "numbers", in: environment)
    #expect(try environment.read { try table.count(in: $0) } == number + 2)
  }

  /// It has read nothing for more than a lap of the log.
  @Test func oneThatFellBehindBeginsAgainAtTheTree() throws {
    let (first, second) = (try open(), try open())
    try put(1, in: first)
    #expect(try newest(in: second) == 1)
    for number in 2...200 { try put(number, in: first, isDurable: true) }
    #expect(try newest(in: second) == 200)
    try put(201, in: second)
    #expect(try newest(in: first) == 201)
  }

  /// A commit of the other is in its log, and the merge of this one must have it, too.
  @Test func aMergeHasTheCommitsOfTheOthers() throws {
    let (first, second) = (try open(), try open())
    for number in 1...10 { try put(number, in: first) }
    try second.merge()
    let row = try environment.read { try first.row(in: $0.core) }
    #expect(row.commit == (try first.beginRead().commit))
    let table = try first.table(named: "numbers")
    #expect(try environment.read { try table.database.count(in: $0) } == 11)
  }

  @Test func aWriterThatWaitsTooLongIsToldSo() throws {
    let (first, second) = (try open(), try open(waitLimit: .milliseconds(20)))
    try put(1, in: first)
    try first.write { _, changes in
      #expect(try code { try put(2, in: second) } == .busy)
      try changes.set([2], forKey: [0], in: "numbers")
      try changes.set([1], forKey: [2], in: "numbers")
    }
    try put(3, in: second)
    #expect(try newest(in: first) == 3)
  }

  /// What a program that was killed has left is decided by the next writer, and by nobody before.
  @Test(arguments: [true, false]) func aMarkOfDoubtIsSettledByTheNextWriter(_ hasRecord: Bool) throws {
    let (first, second) = (try open(), try open())
    try put(1, in: first)
    #expect(try newest(in: second) == 1)
    if hasRecord {
      // A whole record that its writer has not published.
      let end = first.state.withLock(\.end)
      var changes = LogChanges()
      try changes.set([2], forKey: [0], in: "numbers")
      try changes.set([1], forKey: [2], in: "numbers")
      let offset = first.log.offset(forByteCount: changes.bytes.count, isDurable: true, after: end)
      let record = changes.writeHead(at: offset, after: end, isDurable: true)
      try first.log.write(changes.bytes, of: record)
    }
    first.share.isInDoubt = true
    #expect(try newest(in: second) == 1)
    try put(hasRecord ? 3 : 2, in: second)
    #expect(!second.share.isInDoubt)
    #expect(try newest(in: first) == (hasRecord ? 3 : 2))
    // The recovery is in the tree, and so is everything before it.
    let table = try first.table(named: "numbers")
    #expect(try environment.read { try table.database.value(forKey: [0], in: $0) } == [hasRecord ? 2 : 1])
  }

  /// It was killed after the commit into the tree, before it could publish that.
  @Test func aDirectCommitThatWasNotPublishedIsSeenAndStays() throws {
    let (first, second) = (try open(), try open())
    try put(1, in: first)
    let end = first.state.withLock(\.end)
    let table = try first.table(named: "numbers")
    try environment.write { transaction in
      try table.database.put([2], forKey: [0], in: &transaction)
      try table.database.put([1], forKey: [1], in: &transaction)
      try table.database.put([1], forKey: [2], in: &transaction)
      try first.putRow(end.afterDirectCommit(), in: transaction.core)
    }
    first.share.isInDoubt = true
    #expect(try newest(in: second) == 2)
    #expect(second.share.published == end.afterDirectCommit().commit)
    try put(3, in: second)
    #expect(try newest(in: first) == 3)
  }

  /// After a power cut the block may have anything: nobody has flushed it.
  @Test func whoOpensAloneBelievesNothingInTheBlock() throws {
    do {
      let store = try open()
      for number in 1...3 { try put(number, in: store) }
    }
    let block = try FileDescriptor.open(directory.path.appending(LogShare.fileName), .readWrite)
    defer { try? block.close() }
    try block.writeAll(toAbsoluteOffset: 0, (0..<512).flatMap { _ in UInt64(1_000_000).storedBytes })
    let store = try open()
    #expect(try newest(in: store) == 3)
    try put(4, in: store)
    #expect(store.share.published < 100)
    #expect(store.share.safe < 1_000_000)
  }
}
