import Dispatch
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import LMDB
@testable import TallySystem

/// Transactions of an environment with a log: the same as without one, and a file that is plain once it is closed.
@Suite struct LogTransactionTests {
  private typealias Table = Database<[UInt8], [UInt8]>
  private let directory: TemporaryDirectory
  private let environment: LMDBEnvironment
  private let table: Table

  init() throws {
    directory = try TemporaryDirectory()
    environment = try Self.open(directory)
    table = try environment.write { try Table(opening: "table", creating: true, in: &$0) }
  }

  private static func open(
    _ directory: TemporaryDirectory, _ change: (inout LMDBEnvironment.Options) -> Void = { _ in }
  ) throws -> LMDBEnvironment {
    var options = LMDBEnvironment.Options()
    options.setLog()
    options.log?.mergesByItself = false
    change(&options)
    return try LMDBEnvironment(path: directory.path, options: options)
  }

  private func put(_ value: UInt8, forKey key: UInt8) throws {
    try environment.write { try table.put([value], forKey: [key], in: &$0) }
  }

  /// What the tree has, as any program that knows liblmdb only would see it.
  private func valueInTree(forKey key: UInt8) throws -> [UInt8]? {
    try environment.writeTree { try table.value(forKey: [key], in: $0) }
  }

  private var row: LogPlace {
    get throws {
      let log = try #require(environment.log)
      return try environment.writeTree { try log.row(in: $0.core) }
    }
  }

  @Test func aCommitIsInTheLogAndReadersSeeIt() throws {
    try put(1, forKey: 1)
    #expect(try valueInTree(forKey: 1) == nil)
    #expect(try environment.read { try table.value(forKey: [1], in: $0) } == [1])
    try environment.log?.merge()
    #expect(try valueInTree(forKey: 1) == [1])
    #expect(try environment.read { try table.value(forKey: [1], in: $0) } == [1])
  }

  /// What a killed process has left stays where it is, until a process writes.
  @Test(arguments: [false, true]) func whoMayOnlyReadAdoptsTheLog(wasInDoubt: Bool) throws {
    let killed = try TemporaryDirectory()
    let before = try row.commit
    for key in 1...3 as ClosedRange<UInt8> { try put(key, forKey: key) }
    for name in [LMDBEnvironment.dataFileName, LogFile.fileName] {
      try FileManager.default.copyItem(
        atPath: directory.path.appending(name).string, toPath: killed.path.appending(name).string)
    }
    let calls = Monitor<[String]>([])
    for isFirst in [true, false] {
      if isFirst, wasInDoubt {
        var block = [UInt8](repeating: 0, count: LogFile.blockByteCount)
        block[128] = 1
        try Data(block).write(to: URL(filePath: killed.path.appending(LogShare.fileName).string))
      }
      calls.withLock { $0 = [] }
      let reader = try Self.open(killed) { options in
        options.isReadOnly = true
        options.log?.hooks.willWrite = { _, bytes in
          calls.withLock { $0.append("\(LogRecord(head: bytes)?.commit ?? 0)") }
        }
        options.log?.hooks.willFlush = { calls.withLock { $0.append("flush") } }
      }
      // The killed process was writing the last record, if any; the first reader has flushed that.
      #expect(calls.withLock { $0 } == (isFirst && wasInDoubt ? ["\(before + 3)"] : []) + ["flush"])
      #expect(reader.isCommitting)
      #expect(try reader.logInformation()?.commitCount == 3)
      let copies = try Table(opening: "table", in: reader)
      for key in 1...3 as ClosedRange<UInt8> {
        #expect(try reader.read { try copies.value(forKey: [key], in: $0) } == [key])
      }
      try reader.close()
      #expect(LogStore.isThere(in: killed.path))
    }
    let writer = try Self.open(killed)
    #expect(try !writer.isCommitting && writer.logInformation()?.commitCount == 0)
    try writer.close()
    #expect(!LogStore.isThere(in: killed.path))
  }

  /// After the first one, an append looks only at the key that was appended before.
  @Test func onlyKeysAfterAllOthersAreAppended() throws {
    let other = try environment.write { try Table(opening: "other", creating: true, in: &$0) }
    try put(1, forKey: 4)
    try environment.write { transaction in
      #expect(try code { try table.append([], forKey: [3], in: &transaction) } == .keyExists)
      try table.append([], forKey: [5], in: &transaction)
      #expect(try code { try table.append([], forKey: [5], in: &transaction) } == .keyExists)
      #expect(try code { try table.append([], forKey: [2], in: &transaction) } == .keyExists)
      try other.append([], forKey: [1], in: &transaction)
      try table.append([], forKey: [6], in: &transaction)
      // Not an append: the key that was appended is no longer the last one.
      try table.put([], forKey: [9], in: &transaction)
      #expect(try code { try table.append([], forKey: [7], in: &transaction) } == .keyExists)
      try table.append([], forKey: [10], in: &transaction)
      #expect(try table.count(in: transaction) == 5)
    }
    var keys: [UInt8] = []
    try environment.read { transaction in
      try table.forEach(in: transaction) { key, _ in
        keys += try [UInt8](decoding: key)
        return true
      }
    }
    #expect(keys == [4, 5, 6, 9, 10])
  }

  /// liblmdb gives the number of a dropped database to the next one.
  @Test func aBatchRefusesTheHandleOfADroppedDatabase() throws {
    let old = try environment.write { try Table(opening: "old", creating: true, in: &$0) }
    try environment.write { try old.drop(in: &$0) }
    let new = try environment.write { try Table(opening: "new", creating: true, in: &$0) }
    #expect(new.handle.index == old.handle.index)
    try environment.write { transaction in
      var batch = EntryBatch<[UInt8], [UInt8]>()
      try batch.add([1], forKey: [1])
      #expect(try code { try old.put(&batch, in: &transaction) } == .badDatabase)
      #expect(try new.count(in: transaction) == 0)
    }
  }

  /// One commit, and writes that are given up: their memory must not wait for 256 commits.
  @Test func whatAbortedWritesHaveGatheredIsFreed() throws {
    struct Stop: Error {}
    let directory = try TemporaryDirectory()
    let environment = try Self.open(directory) { options in
      options.log?.ringByteCount = 1 << 20
      options.log?.commitsPerPart = 1_000
      options.log?.mergesByItself = true
    }
    let table = try environment.write { try Table(opening: "table", creating: true, in: &$0) }
    let log = try #require(environment.log)
    for round in 0..<40 {
      try environment.write { try table.put([UInt8(round)], forKey: [1], in: &$0) }
      #expect(throws: Stop.self) {
        try environment.write { transaction in
          // Less than a quarter of the ring.
          try table.put([UInt8](repeating: 1, count: 60_000), forKey: [2], in: &transaction)
          throw Stop()
        }
      }
    }
    try environment.write { try table.put([], forKey: [1], in: &$0) }
    let isFreed: Void? = log.state.wait(atMost: .seconds(60)) { $0.hasLargePart(log.options) ? nil : () }
    #expect(isFreed != nil)
    #expect(log.state.withLock { $0.mergedCommit } > 0)
  }

  @Test func aSnapshotStaysAndAWriteSeesItsOwnChanges() throws {
    try put(1, forKey: 1)
    let early = try environment.beginRead()
    try environment.write { transaction in
      try table.put([2], forKey: [1], in: &transaction)
      #expect(try table.remove(forKey: [9], in: &transaction) == false)
      #expect(try table.value(forKey: [1], in: transaction) == [2])
      #expect(try table.insert([3], forKey: [1], in: &transaction) == false)
      #expect(try table.insert([3], forKey: [2], in: &transaction))
      #expect(try code { try table.append([4], forKey: [2], in: &transaction) } == .keyExists)
      try table.append([4], forKey: [3], in: &transaction)
      #expect(try table.remove(forKey: [1], in: &transaction))
      #expect(try table.value(forKey: [1], in: transaction) == nil)
      #expect(try table.count(in: transaction) == 2)
    }
    #expect(try table.value(forKey: [1], in: early) == [1])
    #expect(try table.count(in: early) == 1)
    #expect(try environment.read { try table.count(in: $0) } == 2)
    let newest = try environment.beginRead().snapshotNumber
    #expect(early.snapshotNumber < newest)
    #expect(try environment.lastTransactionID() == newest)
    try environment.log?.merge()
    #expect(try environment.lastTransactionID() == newest)
    #expect(try environment.hasAcknowledged(transaction: newest))
    #expect(try !environment.hasAcknowledged(transaction: newest + 1))
  }

  @Test func aBodyThatThrowsChangesNothingAndTheNextWriteGoesOn() throws {
    struct Stop: Error {}
    try put(1, forKey: 1)
    #expect(throws: Stop.self) {
      try environment.write { transaction in
        try table.removeAll(withPrefix: [1], in: &transaction)
        throw Stop()
      }
    }
    try environment.write { transaction in
      do {
        try transaction.nested { nested in
          try table.put([9], forKey: [1], in: &nested)
          try nested.nested { try table.put([9], forKey: [2], in: &$0) }
          throw Stop()
        }
      } catch is Stop {}
      try transaction.nested { try table.put([3], forKey: [3], in: &$0) }
    }
    let values = try environment.read { transaction in
      try [1, 2, 3].map { try table.value(forKey: [$0], in: transaction) }
    }
    #expect(values == [[1], nil, [3]])
  }

  /// It goes into the tree, with what was committed before and what it had gathered, also within nested transactions.
  @Test(arguments: [0, 1, 2]) func aLargeWriteIsADirectCommit(_ depth: Int) throws {
    try put(1, forKey: 1)
    func write(_ depth: Int, in transaction: inout WriteTransaction) throws {
      try table.put([UInt8(depth)], forKey: [10 + UInt8(depth)], in: &transaction)
      if depth > 0 { return try transaction.nested { try write(depth - 1, in: &$0) } }
      let value = [UInt8](repeating: 7, count: 1_000)
      for key in 0..<100 as Range<UInt8> { try table.put(value, forKey: [100, key], in: &transaction) }
    }
    try environment.write { transaction in
      try write(depth, in: &transaction)
      #expect(try table.count(in: transaction) == 102 + depth)
      try table.put([5], forKey: [5], in: &transaction)
    }
    #expect(try valueInTree(forKey: 1) == [1])
    #expect(try valueInTree(forKey: 5) == [5])
    #expect(try valueInTree(forKey: 10 + UInt8(depth)) == [UInt8(depth)])
    try put(2, forKey: 1)
    #expect(try valueInTree(forKey: 1) == [1])
    #expect(try environment.read { try table.count(in: $0) } == 103 + depth)
  }

  @Test func databasesAreCreatedEmptiedAndDropped() throws {
    try put(1, forKey: 1)
    let other = try environment.write { transaction in
      let other = try Table(opening: "other", creating: true, in: &transaction)
      try other.put([1], forKey: [1], in: &transaction)
      return other
    }
    try environment.write { try other.put([2], forKey: [2], in: &$0) }
    #expect(try environment.read { try $0.databaseNames() } == ["other", "table"])
    try environment.write { transaction in
      try other.removeAll(in: &transaction)
      #expect(try other.count(in: transaction) == 0)
    }
    #expect(try environment.read { try other.count(in: $0) } == 0)
    try environment.write { try other.drop(in: &$0) }
    #expect(try environment.read { try $0.databaseNames() } == ["table"])
    #expect(try environment.read { try table.value(forKey: [1], in: $0) } == [1])
  }

  @Test func batchesAreInTheLogOrTheTree() throws {
    for count in [3, 2_000] {
      let entries = (0..<count).reversed().map { ([UInt8($0 >> 8), UInt8($0 & 0xFF)], [UInt8(1)]) }
      try environment.write { try table.put(contentsOf: entries, in: &$0) }
      #expect(try environment.read { try table.count(in: $0) } == count)
      #expect(try environment.writeTree { try table.count(in: $0) } == (count == 3 ? 0 : count))
    }
  }

  /// Tree, tail and own changes have every third key each, and each hides some of the others.
  @Test func cursorsGoThroughTreeTailAndOwnChangesInBothDirections() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "LogTransactionTests"))
    for _ in 0..<TestSize.pick(quick: 20, long: 400) {
      var model: [UInt8: UInt8] = [:]
      func change(in transaction: inout WriteTransaction) throws {
        for _ in 0..<Int.random(in: 1...25, using: &random) {
          let (key, value) = (UInt8.random(in: 0..<40, using: &random), UInt8.random(in: 0...255, using: &random))
          if random.oneIn(3) {
            #expect(try table.remove(forKey: [key], in: &transaction) == (model.removeValue(forKey: key) != nil))
          } else {
            try table.put([value], forKey: [key], in: &transaction)
            model[key] = value
          }
        }
      }
      try environment.write { transaction in
        try table.removeAll(in: &transaction)
        try change(in: &transaction)
      }
      for _ in 0..<3 { try environment.write { try change(in: &$0) } }
      try environment.write { transaction in
        try change(in: &transaction)
        try compare(in: transaction, with: model, &random)
        try transaction.nested { nested in
          try change(in: &nested)
          try compare(in: nested, with: model, &random)
        }
        let bound = UInt8.random(in: 0..<40, using: &random)
        let count = try table.removeAll(withPrefix: [bound], in: &transaction)
        #expect(count == (model.removeValue(forKey: bound) == nil ? 0 : 1))
        var cursor = try table.writeCursor(in: &transaction)
        var isAtEntry = try cursor.move(toFirstAtOrAfter: [bound])
        while isAtEntry, try cursor.key()[0] < bound &+ 5 {
          model[try cursor.key()[0]] = nil
          isAtEntry = try cursor.remove()
        }
      }
      try environment.read { try compare(in: $0, with: model, &random) }
    }
  }

  private func compare<T: LMDBTransaction & ~Copyable>(
    in transaction: borrowing T, with model: [UInt8: UInt8], _ random: inout SeededGenerator
  ) throws {
    let sorted = model.sorted { $0.key < $1.key }.map { [$0.key, $0.value] }
    for reversed in [false, true] {
      var seen: [[UInt8]] = []
      try table.forEach(reversed: reversed, in: transaction) { key, value in
        seen.append(try [UInt8](decoding: key) + [UInt8](decoding: value))
        return true
      }
      #expect(seen == (reversed ? sorted.reversed() : sorted))
    }
    #expect(try table.count(in: transaction) == model.count)
    var cursor = try table.cursor(in: transaction)
    var place = 0
    _ = try cursor.moveToFirst()
    for _ in 0..<30 {
      switch Int.random(in: 0..<6, using: &random) {
      case 5:
        let key = UInt8.random(in: 0..<40, using: &random)
        let isThere = try cursor.move(to: [key])
        #expect(isThere == (model[key] != nil))
        // Elsewhere it is at no entry, and goes on at an end.
        place = sorted.firstIndex { $0[0] == key } ?? -1
        if !isThere { _ = try cursor.moveToFirst() }
        place = max(place, 0)
      case 0:
        let key = UInt8.random(in: 0..<40, using: &random)
        place = sorted.firstIndex { $0[0] >= key } ?? sorted.count
        #expect(try cursor.move(toFirstAtOrAfter: [key]) == (place < sorted.count))
      case 1:
        let key = UInt8.random(in: 0..<40, using: &random)
        place = (sorted.lastIndex { $0[0] < key } ?? -1)
        #expect(try cursor.move(toLastBefore: [key]) == (place >= 0))
      case 2, 3:
        place = min(place + 1, sorted.count)
        #expect(try cursor.next() == (place < sorted.count))
      default:
        place = max(place - 1, -1)
        #expect(try cursor.previous() == (place >= 0))
      }
      if sorted.indices.contains(place) { #expect(try cursor.key() + cursor.value() == sorted[place]) }
    }
  }

  @Test func aClosedEnvironmentIsAPlainFile() throws {
    try put(1, forKey: 1)
    try environment.close()
    #expect(try LogFile.open(in: directory.path) == nil)
    let plain = try LMDBEnvironment(path: directory.path)
    let table = try Table(opening: "table", in: plain)
    #expect(try plain.read { try table.value(forKey: [1], in: $0) } == [1])
    #expect(try code { try put(2, forKey: 2) } == .closed)
  }

  @Test(arguments: [false, true]) func aCopyHasWhatWasCommitted(_ isRewritten: Bool) throws {
    try put(1, forKey: 1)
    let target = try TemporaryDirectory()
    if isRewritten { try environment.rewrite(to: target.path) } else { try environment.copy(to: target.path) }
    let copy = try LMDBEnvironment(path: target.path)
    let copied = try Table(opening: "table", in: copy)
    #expect(try copy.read { try copied.value(forKey: [1], in: $0) } == [1])
    try environment.write { transaction in
      #expect(try code { try environment.copy(to: target.path) } == .reentrantWrite)
      try table.put([2], forKey: [2], in: &transaction)
    }
  }

  @Test func aWriteWithinAWriteIsRefusedAndOneOnAnotherThreadWaits() throws {
    try environment.write { transaction in
      #expect(try code { try environment.write { _ in } } == .reentrantWrite)
      try table.put([1], forKey: [1], in: &transaction)
    }
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<50 {
        do {
          try environment.write { transaction in
            let count = try table.value(forKey: [1], in: transaction)?[0] ?? 0
            try table.put([count &+ 1], forKey: [1], in: &transaction)
          }
        } catch {
          Issue.record("\(error)")
        }
      }
    }
    #expect(try environment.read { try table.value(forKey: [1], in: $0) } == [201])
  }

  /// Without a flush in between, relaxed commits are not flushed; a flush makes them durable.
  @Test func relaxedCommitsWaitForAFlush() throws {
    try environment.close()
    let flushCount = Monitor(0)
    let relaxed = try Self.open(directory) { options in
      options.durability = .noMetaSync
      options.log?.hooks.hasFlushed = { flushCount.withLock { $0 += 1 } }
    }
    let table = try Table(opening: "table", in: relaxed)
    for key in 1...5 as ClosedRange<UInt8> { try relaxed.write { try table.put([key], forKey: [key], in: &$0) } }
    #expect(flushCount.withLock { $0 } == 0)
    try relaxed.sync()
    try relaxed.sync()
    #expect(flushCount.withLock { $0 } == 1)
    // The next record is not in a sector that has been flushed.
    let end = try #require(relaxed.log?.state.withLock(\.end.offset))
    #expect(end % UInt64(LogFile.blockByteCount) == 0)
    try relaxed.write { transaction in
      try table.put([6], forKey: [6], in: &transaction)
      #expect(try code { try relaxed.sync() } == .reentrantWrite)
    }
    #expect(try relaxed.read { try table.count(in: $0) } == 6)
    try relaxed.close()
  }

  @Test func closingIsRefusedWhileSomebodyWrites() throws {
    let (isWriting, isClosed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let (environment, table) = (environment, table)
    let writer = Thread {
      do {
        try environment.write { transaction in
          try table.put([1], forKey: [1], in: &transaction)
          isWriting.signal()
          isClosed.wait()
        }
      } catch {
        Issue.record("\(error)")
      }
      isWriting.signal()
    }
    writer.start()
    isWriting.wait()
    #expect(try code { try environment.close() } == .busy)
    isClosed.signal()
    isWriting.wait()
    try environment.close(waitingAtMost: .seconds(60))
    #expect(try LogFile.open(in: directory.path) == nil)
    let plain = try LMDBEnvironment(path: directory.path)
    let again = try Table(opening: "table", in: plain)
    #expect(try plain.read { try again.value(forKey: [1], in: $0) } == [1])
  }

  /// A process that is stopped while it opens the store, for example.
  @Test func closingDoesNotNeedOthersToEndOpening() throws {
    try put(1, forKey: 1)
    let other = try LogShare(in: directory.path, mode: .ownerReadWrite, waitLimit: .seconds(60))
    try environment.close()
    #expect(LogFile.isThere(in: directory.path))
    other.release()
    let again = try Self.open(directory)
    let opened = try Table(opening: "table", in: again)
    #expect(try again.read { try opened.value(forKey: [1], in: $0) } == [1])
    try again.close()
    #expect(!LogFile.isThere(in: directory.path))
  }

  @Test func removalsOfManyKeysContinueInTheTree() throws {
    for key in 0..<40 {
      try environment.write { transaction in
        try table.put(contentsOf: (0..<100).map { ([UInt8(key), $0, 0, 0, 0, 0, 0, 0], [1]) }, in: &transaction)
      }
    }
    let count = try environment.write { try table.removeAll(withPrefix: [], in: &$0) }
    #expect(count == 4_000)
    #expect(try environment.writeTree { try table.count(in: $0) } == 0)
    #expect(try environment.read { try table.count(in: $0) } == 0)
  }

  /// What it had under it has ended: it must not be read any more.
  @Test func aNestedWriteThatCannotContinueInTheTreeCanOnlyBeAborted() throws {
    let narrow = try TemporaryDirectory()
    let small = try Self.open(narrow) { options in
      (options.mapSizeInBytes, options.minimumMapSizeInBytes) = (1 << 17, 1 << 17)
      options.maximumMapSizeInBytes = 1 << 17
    }
    let table = try small.write { try Table(opening: "table", creating: true, in: &$0) }
    let value = [UInt8](repeating: 1, count: 20_000)
    let error = try code {
      try small.write { transaction in
        try table.put(value, forKey: [1], in: &transaction)
        try transaction.nested { nested in
          let error = try code {
            for key in 2...20 as ClosedRange<UInt8> { try table.put(value, forKey: [key], in: &nested) }
          }
          #expect(error == .mapFull)
          #expect(try code { _ = try table.value(forKey: [1], in: nested) } == .badTransaction)
        }
      }
    }
    #expect(error == .mapFull)
    try small.write { try table.put([3], forKey: [3], in: &$0) }
    #expect(try small.read { try table.count(in: $0) } == 1)
  }

  @Test func theLogTakesNoneOfTheDatabases() throws {
    try environment.close()
    let one = try Self.open(directory) { $0.maxDatabases = 1 }
    let table = try Table(opening: "table", in: one)
    try one.write { try table.put([1], forKey: [1], in: &$0) }
    #expect(try code { try one.write { _ = try Table(opening: "second", creating: true, in: &$0) } } == .databasesFull)
  }

  @Test func asynchronousWritesShareACommit() async throws {
    let before = try environment.beginRead().snapshotNumber
    let (environment, table) = (environment, table)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for key in 0..<100 as Range<UInt8> {
        group.addTask { try await environment.groupCommit { try table.put([key], forKey: [key], in: &$0) } }
      }
      try await group.waitForAll()
    }
    #expect(try environment.read { try table.count(in: $0) } == 100)
    #expect(try environment.beginRead().snapshotNumber - before < 100)
  }
}
