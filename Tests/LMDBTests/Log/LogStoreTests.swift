import Dispatch
import SystemPackage
import TestSupport
import Testing

@testable import LMDB
@testable import TallySystem

@Suite struct LogStoreTests {
  private let directory: TemporaryDirectory
  private let environments = Monitor<[LMDBEnvironment]>([])

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func open(_ options: LogStore.Options = LogStore.Options()) throws -> LogStore {
    var options = options
    options.ringByteCount = min(options.ringByteCount, 1 << 17)
    return try open(try LMDBEnvironment(forLogIn: directory.path), options)
  }

  /// A store does not keep its environment.
  private func open(_ environment: LMDBEnvironment, _ options: LogStore.Options) throws -> LogStore {
    environments.withLock { $0.append(environment) }
    return try #require(try LogStore(of: environment, options: options))
  }

  private func put(_ number: UInt8, in store: LogStore, _ table: LogStoreTable, isDurable: Bool = true) throws {
    try store.write(isDurable: isDurable) { _, changes in
      try changes.set([number], forKey: [number], in: table.name)
      try changes.set([number], forKey: [0], in: table.name)
    }
  }

  private func keys(in store: LogStore, _ table: LogStoreTable) throws -> [UInt8] {
    let snapshot = try store.beginRead()
    var keys: [UInt8] = []
    try snapshot.forEach(in: table) { key, _ in
      keys += try [UInt8](decoding: key)
      return true
    }
    return keys
  }

  @Test func aCommitIsSeenBeforeAndAfterAMergeAndByNoEarlierSnapshot() throws {
    let store = try open()
    let table = try store.table(named: "numbers")
    try put(1, in: store, table)
    let early = try store.beginRead()
    try put(2, in: store, table)
    #expect(try keys(in: store, table) == [0, 1, 2])
    try store.merge()
    try put(3, in: store, table, isDurable: false)
    #expect(try keys(in: store, table) == [0, 1, 2, 3])
    #expect(try early.value(forKey: [0], in: table) == [1])
    #expect(try early.value(forKey: [2], in: table) == nil)
  }

  @Test func aRemovedKeyStaysRemoved() throws {
    let store = try open()
    let table = try store.table(named: "numbers")
    try put(1, in: store, table)
    try store.merge()
    try store.write { _, changes in try changes.set(nil, forKey: [1], in: table.name) }
    #expect(try keys(in: store, table) == [0])
    try store.merge()
    #expect(try keys(in: store, table) == [0])
    #expect(try store.beginRead().value(forKey: [1], in: table) == nil)
  }

  @Test func aClosedStoreIsAPlainFileThatContinues() throws {
    for round in 1...3 as ClosedRange<UInt8> {
      let store = try open()
      let table = try store.table(named: "numbers")
      for number in 1...20 as ClosedRange<UInt8> { try put(round * 20 + number, in: store, table) }
      try store.mergeAndClose()
      #expect(try code { try put(1, in: store, table) } == .closed)
      #expect(try LogFile.open(in: directory.path) == nil)
      let numbers = try Database<[UInt8], [UInt8]>(opening: "numbers", in: store.environment)
      #expect(try store.environment.read { try numbers.count(in: $0) } == Int(round) * 20 + 1)
      try store.environment.close()
    }
  }

  @Test func aLogThatCannotBeReadIsRefusedAndLeftAsItIs() throws {
    let log = try LogFile.create(in: directory.path, ringByteCount: 1 << 17)
    defer { log.close() }
    var record = [UInt8](repeating: 9, count: LogRecord.headByteCount + 8)
    let head = LogRecord(writingInto: &record, at: 0, after: LogPlace(), isDurable: true)
    try log.write(record, of: head)
    let environment = try LMDBEnvironment(forLogIn: directory.path)
    for _ in 0..<3 { #expect(try code { _ = try LogStore(of: environment) } == .corrupted) }
    #expect(try log.record(after: LogPlace())?.bytes == record)
  }

  @Test func aFailedFlushStillCommitsAndTheNextOnesDoToo() throws {
    let failing = Monitor(false)
    var options = LogStore.Options()
    options.hooks.willFlush = { if failing.withLock({ $0 }) { throw Errno.ioError } }
    let store = try open(options)
    let table = try store.table(named: "numbers")
    try put(1, in: store, table)
    let before = store.state.withLock(\.end)
    failing.withLock { $0 = true }
    try put(2, in: store, table)
    #expect(try store.log.record(after: before) == nil)
    #expect(try store.environment.read { try table.database.value(forKey: [2], in: $0) } == [2])
    failing.withLock { $0 = false }
    try put(3, in: store, table)
    #expect(try keys(in: store, table) == [0, 1, 2, 3])
  }

  @Test func aWriteAfterOneOfUnknownOutcomeDecidesIt() throws {
    let failing = Monitor(0)
    var options = LogStore.Options()
    options.hooks.willFlush = { if failing.withLock({ $0 }) > 0 { throw Errno.ioError } }
    options.hooks.willWrite = { _, _ in
      // The record is written, and cannot be erased.
      let count = failing.withLock { count in
        if count > 0 { count += 1 }
        return count
      }
      if count > 2 { throw Errno.ioError }
    }
    let store = try open(options)
    let table = try store.table(named: "numbers")
    try put(1, in: store, table, isDurable: false)
    failing.withLock { $0 = 1 }
    #expect(try code { try put(2, in: store, table) } == .commitOutcomeUnknown)
    #expect(try keys(in: store, table) == [0, 1])
    failing.withLock { $0 = 0 }
    try put(3, in: store, table, isDurable: false)
    #expect(try keys(in: store, table) == [0, 1, 2, 3])
    #expect(try store.environment.read { try table.database.value(forKey: [2], in: $0) } == [2])
  }

  @Test func aThreadMergesWhatIsDue() throws {
    var options = LogStore.Options()
    options.commitsPerPart = 10
    let store = try open(options)
    let table = try store.table(named: "numbers")
    for number in 1...95 as ClosedRange<UInt8> { try put(number, in: store, table, isDurable: false) }
    #expect(store.state.wait(atMost: .seconds(60)) { $0.merger == nil ? true : nil } == true)
    let row = try store.environment.read { try store.row(in: $0.core) }
    #expect(row.commit > 70)
    #expect(try keys(in: store, table) == Array(0...95))
    try store.mergeAndClose()
    #expect(try store.environment.read { try table.database.count(in: $0) } == 96)
  }

  @Test func aMergeThatFailsLeavesCommitsInTheLog() throws {
    var environmentOptions = Sample.options(mapSizeInBytes: 1 << 17, maximum: 1 << 17)
    environmentOptions.maxDatabases = 8
    environmentOptions.writeWaitLimit = .seconds(60)
    var options = LogStore.Options()
    (options.commitsPerPart, options.ringByteCount) = (2, 1 << 17)
    let store = try open(LMDBEnvironment(path: directory.path, options: environmentOptions), options)
    let table = try store.table(named: "numbers")
    var count: UInt8 = 0
    let value = [UInt8](repeating: 1, count: 3_000)
    let error = try code {
      while count < 250 {
        try store.write(isDurable: false) { _, changes in
          try changes.set(value, forKey: [count + 1], in: table.name)
        }
        count += 1
      }
    }
    // The writer that finds the log full says why it cannot be merged; what was committed can be read.
    #expect(error == .mapFull)
    #expect(count > 20)
    #expect(try keys(in: store, table) == Array(1...count))
  }

  @Test func aReaderThatIsHeldUpSeesOneCommit() throws {
    var options = LogStore.Options()
    options.commitsPerPart = 2
    let store = try open(options)
    let table = try store.table(named: "numbers")
    var number: UInt8 = 0
    for merged in 0..<20 {
      for _ in 0..<3 {
        number += 1
        try put(number, in: store, table)
      }
      var isHeldUp = true
      let snapshot = try store.beginRead {
        guard isHeldUp else { return }
        isHeldUp = false
        for _ in 0..<5 {
          number += 1
          try? put(number, in: store, table)
        }
        if merged % 2 == 0 { try? store.merge() }
      }
      let newest = try #require(try snapshot.value(forKey: [0], in: table)?.first)
      for key in 1...number {
        #expect(try snapshot.value(forKey: [key], in: table) == (key <= newest ? [key] : nil))
      }
    }
  }

  @Test func writersFollowEachOther() throws {
    let store = try open()
    let table = try store.table(named: "numbers")
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<100 {
        do {
          try store.write(isDurable: false) { snapshot, changes in
            let count = try snapshot.value(forKey: [1], in: table).map { Int($0[0]) | Int($0[1]) << 8 } ?? 0
            try changes.set([UInt8((count + 1) & 0xFF), UInt8((count + 1) >> 8)], forKey: [1], in: table.name)
          }
        } catch {
          Issue.record("\(error)")
        }
      }
    }
    #expect(try store.beginRead().value(forKey: [1], in: table) == [144, 1])
  }

  @Test func aCommitThatIsTooLongForTheLogGoesIntoTheTree() throws {
    let store = try open()
    let table = try store.table(named: "numbers")
    try put(1, in: store, table)
    let long = [UInt8](repeating: 7, count: 100_000)
    try store.write { _, changes in try changes.set(long, forKey: [2], in: table.name) }
    #expect(try store.environment.read { try table.database.value(forKey: [2], in: $0) } == long)
    try put(3, in: store, table)
    #expect(try keys(in: store, table) == [0, 1, 2, 3])
  }

  @Test func aFullLogIsMergedByTheWriter() throws {
    let store = try open()
    let table = try store.table(named: "numbers")
    // More than four laps of durable records.
    for number in 0..<140 { try put(UInt8(number % 200 + 1), in: store, table) }
    let row = try store.environment.read { try store.row(in: $0.core) }
    #expect(row.commit > 90)
    #expect(try keys(in: store, table).count == 141)
  }

  @Test func readersBesideWriterAndMergerSeeWholeCommits() throws {
    let store = try open()
    let table = try store.table(named: "numbers")
    let isDone = Monitor(false)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      do {
        switch thread {
        case 0:
          for number in 1...600 {
            let value = [UInt8(number & 0xFF), UInt8(number >> 8)]
            try store.write(isDurable: false) { snapshot, changes in
              let before = try snapshot.value(forKey: [1], in: table).map { Int($0[0]) | Int($0[1]) << 8 } ?? 0
              #expect(before == number - 1)
              for key in 1...20 as ClosedRange<UInt8> { try changes.set(value, forKey: [key], in: table.name) }
              // A table that the tail does not have yet.
              if number % 10 == 0 { try changes.set(value, forKey: [1], in: "table \(number % 50)") }
            }
          }
          isDone.withLock { $0 = true }
        case 1:
          while !isDone.withLock({ $0 }) { try store.merge() }
        default:
          var last = 0
          while !isDone.withLock({ $0 }) {
            var values: Set<Int> = []
            let snapshot = try store.beginRead()
            try snapshot.forEach(in: table) { _, value in
              let bytes = try [UInt8](decoding: value)
              values.insert(Int(bytes[0]) | Int(bytes[1]) << 8)
              return true
            }
            #expect(values.count <= 1)
            #expect(values.first ?? 0 >= last)
            last = values.first ?? 0
          }
        }
      } catch {
        Issue.record("thread \(thread): \(error)")
        isDone.withLock { $0 = true }
      }
    }
    try store.mergeAndClose()
  }
}
