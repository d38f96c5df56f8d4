import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallySystem
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// A store that is open has a log; one that is closed is a plain LMDB file.
@Suite struct StoreLogTests {
  private static var configuration: TaskStore.Configuration { .testing() }

  private static var reading: TaskStore.Configuration {
    var configuration = configuration
    configuration.isReadOnly = true
    return configuration
  }

  /// What a command sets.
  private static var brief: TaskStore.Configuration {
    var configuration = configuration
    configuration.makesLog = false
    return configuration
  }

  @Test func theLogAndItsMarkAreThereWhileTheStoreIsOpen() throws {
    try withTemporaryDirectory { (directory) throws in
      let path = directory.appending("store")
      try withStore(at: path, Self.configuration) { (store) throws in
        try add("Ada", to: store)
        #expect(try names(in: path).contains("log"))
        #expect(try treeHeader(of: store).hasLog)
        let log = try #require(try store.information().log)
        #expect(log.sizeInBytes > 1 << 18 && (log.commitCount ?? 0) >= 1 && !log.isMissing)
      }
      try expectPlain(path)
      try withStore(at: path, Self.brief) { (store) throws in
        #expect(try titles(of: store) == ["Ada"])
        #expect(try store.information().log == nil)
      }
    }
  }

  @Test func aCommandMakesNoLog() throws {
    try withTemporaryDirectory { (directory) throws in
      let path = directory.appending("store")
      try withStore(at: path, Self.brief) { (store) throws in
        try add("Ada", to: store)
        #expect(try !names(in: path).contains("log"))
        #expect(try !treeHeader(of: store).hasLog)
      }
      #expect(try names(in: path) == ["access.lock", "data.mdb", "lock.mdb"])
    }
  }

  @Test func suspendingLeavesAPlainFile() throws {
    try withTemporaryDirectory { (directory) throws in
      let path = directory.appending("store")
      try withStore(at: path, Self.configuration) { (store) throws in
        for round in 0..<3 {
          try add("\(round)", to: store)
          try store.suspend()
          try expectPlain(path)
          try store.resume()
          #expect(try names(in: path).contains("log"))
        }
        #expect(try titles(of: store).count == 3)
      }
    }
  }

  /// A process that cannot know about a log may have the store open, and it has this lock.
  @Test func noLogIsMadeBesideAnotherProcess() throws {
    try withTemporaryDirectory { (directory) throws in
      let path = directory.appending("store")
      try withStore(at: path, Self.brief) { try add("Ada", to: $0) }
      let access = try FileLock(opening: path.appending(StoreAccess.fileName))
      #expect(try access.tryAcquire(.shared))
      try withStore(at: path, Self.configuration) { (store) throws in
        try add("Edith", to: store)
        #expect(try !names(in: path).contains("log"))
      }
      access.release()
      try withStore(at: path, Self.configuration) { (store) throws in
        #expect(try names(in: path).contains("log"))
        #expect(try titles(of: store) == ["Ada", "Edith"])
      }
    }
  }

  /// Uses of a store that was not closed.
  enum Door: CaseIterable {
    case opening, openingByCommand, reading, verifying, compacting, repairing, backingUp, restoring, removing
  }

  @Test(arguments: Door.allCases) func everyDoorLeadsToTheLastCommit(door: Door) throws {
    try withKilled(["Ada", "Edith", "Grace"]) { (path) throws in
      let file = path.removingLastComponent().appending("backup.mdb")
      switch door {
      case .opening: break
      case .openingByCommand: try withStore(at: path, Self.brief) { try expectAll($0) }
      case .reading: try withStore(at: path, Self.reading) { try expectAll($0) }
      case .verifying: #expect(try TaskStore.verify(at: path, configuration: Self.configuration).isSound)
      case .compacting: try TaskStore.compact(at: path, configuration: Self.configuration)
      case .repairing: #expect(try TaskStore.repair(at: path, configuration: Self.configuration).before.isSound)
      case .backingUp:
        try withStore(at: path, Self.reading) { _ = try $0.backup(to: file) }
        try withStore(at: path.removingLastComponent().appending("restored")) { try expect([], in: $0) }
        let restored = path.removingLastComponent().appending("restored")
        try TaskStore.restore(from: file, to: restored, configuration: Self.configuration)
        try withStore(at: restored, Self.reading) { try expectAll($0) }
      case .restoring:
        try withStore(at: path.removingLastComponent().appending("other")) { _ = try $0.backup(to: file) }
        let kept = try #require(
          try TaskStore.restore(from: file, to: path, configuration: Self.configuration).safetyCopy)
        try withStore(at: path) { try expect([], in: $0) }
        try TaskStore.restore(from: kept, to: path, configuration: Self.configuration)
      case .removing:
        try TaskStore.remove(at: path, configuration: Self.configuration)
        #expect(!FileManager.default.fileExists(atPath: path.string))
        return
      }
      // A reader leaves the log in its place.
      if [.reading, .verifying, .backingUp].contains(door) { #expect(try names(in: path).contains("log")) }
      if ![.opening, .reading, .verifying, .backingUp].contains(door) { try expectPlain(path) }
      try withStore(at: path, Self.configuration) { (store) throws in
        try expectAll(store)
        try add("Mary", to: store)
      }
      try withStore(at: path, Self.brief) { try expect(["Ada", "Edith", "Grace", "Mary"], in: $0) }
    }
  }

  /// What a killed process of the first version with a log has left: `golden-log.tar.gz`, which `TALLY_RECORD=1` makes anew.
  @Test func theLogOfTheFirstVersionIsRead() throws {
    let archive = FilePath(#filePath).removingLastComponent().appending("golden-log.tar.gz")
    if ProcessInfo.processInfo.environment["TALLY_RECORD"] != nil {
      try withKilled(["Ada", "Edith", "Grace"]) { try tar("-czf", archive, in: $0, "data.mdb", "log") }
    }
    try withTemporaryDirectory { (directory) throws in
      try tar("-xzf", archive, in: directory)
      try withStore(at: directory, Self.configuration) { (store) throws in
        try expectAll(store)
        _ = try store.writeAndWait { try $0.undo() }
      }
      try withStore(at: directory, Self.brief) { try expect(["Ada", "Edith"], in: $0) }
    }
  }

  /// L15: the log of a store that cannot be recovered must not be applied to what replaces its file.
  @Test func theLogOfAReplacedFileIsKeptBesideIt() throws {
    try withKilled(["Ada", "Edith", "Grace"]) { (path) throws in
      let file = path.removingLastComponent().appending("backup.mdb")
      try withStore(at: path.removingLastComponent().appending("other")) { (store) throws in
        try add("Mary", to: store)
        _ = try store.backup(to: file)
      }
      let log = try bytes(of: path.appending("log"))
      // Two meta pages of no commit.
      let data = try bytes(of: path.appending("data.mdb"))
      try write([UInt8](repeating: 0xA5, count: 8_192) + data.dropFirst(8_192), to: path.appending("data.mdb"))
      try TaskStore.restore(from: file, to: path, configuration: Self.configuration)
      let kept = try names(in: path).filter { $0.hasPrefix("before-restore") && $0.hasSuffix(".log") }
      let logs = try kept.map { try bytes(of: path.appending($0)) }
      #expect(logs == [log])
      try withStore(at: path, Self.configuration) { try expect(["Mary"], in: $0) }
    }
  }

  /// Each commit has the header, so the log has it, too.
  @Test func aHeaderThatCannotBeReadDoesNotCostTheLog() throws {
    try withKilled(["Ada", "Edith", "Grace"]) { (path) throws in
      let environment = try LMDBEnvironment(path: path)
      try environment.write { transaction in
        let meta = try Database<[UInt8], [UInt8]>(opening: "meta", creating: false, in: &transaction)
        try meta.put([1, 2, 3], forKey: Array("header".utf8), in: &transaction)
      }
      try environment.close()
      try withStore(at: path, Self.configuration) { try expectAll($0) }
      try expectPlain(path)
    }
  }

  @Test func nothingIsBroughtIntoAFileThatIsNotWhole() throws {
    for configuration in [Self.configuration, Self.brief, Self.reading] {
      try withKilled(["Ada", "Edith", "Grace"]) { (path) throws in
        let (data, log) = (try bytes(of: path.appending("data.mdb")), try bytes(of: path.appending("log")))
        try write(Array(data.prefix(data.count / 2)), to: path.appending("data.mdb"))
        #expect(code { try TaskStore(at: path, configuration: configuration).close() } == .damagedStore)
        #expect(code { _ = try TaskStore.repair(at: path, configuration: configuration) } == .damagedStore)
        #expect(try bytes(of: path.appending("log")) == log)
        try write(data, to: path.appending("data.mdb"))
        try withStore(at: path, Self.configuration) { try expectAll($0) }
      }
    }
  }

  /// The thread that merges may be indexing for search, and needs the turn that closing has.
  @Test func closingDoesNotWaitForItself() throws {
    var configuration = Self.configuration
    configuration.durability = .relaxed
    try withTemporaryDirectory { (directory) throws in
      let path = directory.appending("store")
      for round in 1...4 {
        let store = try TaskStore(at: path, configuration: configuration)
        for number in 0..<300 { try add("Task \(number) of round \(round)", to: store) }
        try store.close()
        try expectPlain(path)
      }
      #expect(try taskCount(at: path) == 1_200)
    }
  }

  /// A process was killed after it had brought everything into the file, or a power cut has undone the removal.
  @Test func aLogWithoutItsMarkIsRemoved() throws {
    for configuration in [Self.configuration, Self.brief, Self.reading] {
      try withTemporaryDirectory { (directory) throws in
        let (path, kept) = (directory.appending("store"), directory.appending("kept"))
        try withStore(at: path, Self.configuration) { (store) throws in
          try add("Ada", to: store)
          try FileManager.default.copyItem(atPath: path.appending("log").string, toPath: kept.string)
        }
        // A program that knows no log.
        try withStore(at: path, Self.brief) { try add("Edith", to: $0) }
        try FileManager.default.copyItem(atPath: kept.string, toPath: path.appending("log").string)
        let access = try FileLock(opening: path.appending(StoreAccess.fileName))
        #expect(try access.tryAcquire(.shared))
        try withStore(at: path, configuration) { (store) throws in
          try expect(["Ada", "Edith"], in: store)
          #expect(try store.information().log == nil)
          #expect(try names(in: path).contains("log") == configuration.isReadOnly)
          #expect(try names(in: path).contains("log.lock") == configuration.isReadOnly)
          // The file has all of its commits.
          #expect(try !names(in: path).contains { $0.hasPrefix("before-restore") })
        }
        access.release()
        try withStore(at: path, Self.configuration) { try add("Grace", to: $0) }
        try withStore(at: path, Self.brief) { try expectAll($0) }
      }
    }
  }

  /// A copy of the data file alone lacks what is in the log, and says so until it is written.
  @Test func aCopyOfTheDataFileAloneLacksTheTail() throws {
    try withKilled(["Ada", "Edith", "Grace"]) { (path) throws in
      try FileManager.default.removeItem(atPath: path.appending("log").string)
      try withStore(at: path, Self.reading) { (store) throws in
        #expect(try titles(of: store) == [])
        #expect(try store.information().log?.isMissing == true)
      }
      try withStore(at: path, Self.brief) { (store) throws in
        #expect(try store.information().log == nil)
        try add("Mary", to: store)
      }
      try expectPlain(path)
      #expect(try TaskStore.verify(at: path, configuration: Self.configuration).isSound)
    }
  }

  @Test func copiesHaveEverythingAndNoMark() throws {
    try withTemporaryDirectory { (directory) throws in
      let (backup, snapshot) = (directory.appending("backup.mdb"), directory.appending("snapshot.mdb"))
      try withStore(at: directory.appending("store"), Self.configuration) { (store) throws in
        try add("Ada", to: store)
        _ = try store.backup(to: backup)
        try add("Edith", to: store)
        try store.publishSnapshot(to: snapshot)
      }
      for (file, expected) in [(backup, ["Ada"]), (snapshot, ["Ada", "Edith"])] {
        let copy = try TaskStore(snapshotAt: file, configuration: Self.configuration)
        #expect(try titles(of: copy) == expected)
        #expect(try !copy.read { try $0.header() }.hasLog)
        try copy.close()
      }
    }
  }

  /// A command that copies a store opens it for reading only, and so cannot merge.
  @Test func aReaderCopiesWhatAnotherProcessHasInTheLog() throws {
    try withTemporaryDirectory { (directory) throws in
      let (path, backup) = (directory.appending("store"), directory.appending("backup.mdb"))
      let store = try TaskStore(at: path, configuration: Self.configuration)
      let helper = try HelperProcess("TallyTestHelper", "hold", path, [])
      #expect(helper.line() == "ready")
      for title in ["Ada", "Edith", "Grace"] { try add(title, to: store) }
      try store.close()
      try withStore(at: path, Self.reading) { (store) throws in
        #expect(try #require(try store.information().log?.commitCount) > 0)
        #expect(try store.backup(to: backup).taskCount == 3)
        try store.publishSnapshot(to: directory.appending("snapshot.mdb"))
      }
      for name in ["backup.mdb", "snapshot.mdb"] {
        let copy = try TaskStore(snapshotAt: directory.appending(name), configuration: Self.configuration)
        try expectAll(copy)
        #expect(try !copy.read { try $0.header() }.hasLog)
        try copy.close()
      }
      helper.release()
      #expect(helper.lines() == [])
    }
  }

  /// A reader that opened the store alone continues while another process writes, which begins with a recovery.
  @Test func aReaderOfAKilledProcessesLogFollowsTheNextWriter() throws {
    let directory = try TemporaryItem(.directory, in: FilePath(NSTemporaryDirectory()), for: "log-test")
    let path = directory.path.appending("store")
    try withKilled(["Ada", "Edith", "Grace"]) { (killed) throws in
      try FileManager.default.copyItem(atPath: killed.string, toPath: path.string)
    }
    try withStore(at: path, Self.reading) { (store) throws in
      try expectAll(store)
      #expect(try #require(try store.information().log?.commitCount) > 0)
      let helper = try HelperProcess("TallyTestHelper", "add", path, [5], keeping: directory)
      #expect(helper.line() == "done")
      _ = helper.lines()
      try expect((0..<5).map { "\($0)" } + ["Ada", "Edith", "Grace"], in: store)
    }
    try withStore(at: path, Self.configuration) { (store) throws in #expect(try titles(of: store).count == 8) }
    try expectPlain(path)
  }

  /// An earlier version does not look for a log when it puts a backup in the place of the file, which may be that of
  /// another store, or one from before a compaction: with any number of commits in its row.
  @Test(arguments: [Self.configuration, Self.brief], [0, 1, 2, 3, 4, 5, 40])
  func theLogOfAFileThatAnotherProgramReplacedIsKept(configuration: TaskStore.Configuration, commitCount: Int) throws {
    try withKilled(["Ada", "Edith", "Grace"]) { (path) throws in
      let other = path.removingLastComponent().appending("other")
      try withStore(at: other, Self.brief) { try add("Mary", to: $0) }
      if commitCount > 0 {
        try withStore(at: other, Self.configuration) { (store) throws in
          for number in 1..<commitCount + 1 {
            try store.writeAndWait { transaction in
              _ = try transaction.update(try transaction.view(.all).tasks[0].id) { $0.notes = "\(number)" }
            }
          }
        }
      }
      try write(try bytes(of: other.appending("data.mdb")), to: path.appending("data.mdb"))
      let log = try bytes(of: path.appending("log"))
      try withStore(at: path, configuration) { try expect(["Mary"], in: $0) }
      let kept = try names(in: path).filter { $0.hasPrefix("before-restore") && $0.hasSuffix(".log") }
      #expect(try kept.map { try bytes(of: path.appending($0)) } == [log])
      #expect(try !names(in: path).contains("log"))
    }
  }

  @Test(arguments: [0, 9, 17]) func aLogThatCannotBeReadIsSetAsideByARepair(offset: Int) throws {
    try withKilled(["Ada", "Edith", "Grace"]) { (path) throws in
      var log = try bytes(of: path.appending("log"))
      log[offset] ^= 0x10
      try write(log, to: path.appending("log"))
      for configuration in [Self.configuration, Self.brief, Self.reading] {
        let error = #expect(throws: TallyError.self) { try TaskStore(at: path, configuration: configuration) }
        #expect(error?.code == .damagedStore && error?.remedy.hasPrefix("Repair") == true)
      }
      #expect(code { try TaskStore.compact(at: path, configuration: Self.configuration) } == .damagedStore)
      #expect(try bytes(of: path.appending("log")) == log)
      let report = try TaskStore.repair(at: path, configuration: Self.configuration)
      #expect(try bytes(of: #require(report.unreadLog)) == log && report.after.isSound)
      try expectPlain(path)
      try withStore(at: path, Self.configuration) { (store) throws in
        try add("Mary", to: store)
        #expect(try titles(of: store).last == "Mary")
      }
      #expect(try TaskStore.repair(at: path, configuration: Self.configuration).unreadLog == nil)
    }
  }

  @Test func otherProcessesWriteThroughTheLogAndAreObserved() async throws {
    let directory = try TemporaryItem(.directory, in: FilePath(NSTemporaryDirectory()), for: "log-test")
    let path = directory.path.appending("store")
    let store = try TaskStore(at: path, configuration: Self.configuration)
    let seen = Shared<[String]>([])
    let waiting = Task {
      for try await update in store.observe(.inbox) {
        guard case .difference(let difference) = update else { continue }
        seen.withLock { $0 += difference.insertions.map(\.task.title) }
        if seen.withLock({ $0.count }) == 5 { return }
      }
    }
    await waitUntil { store.observationCounts.viewReadCount == 1 }
    let helper = try HelperProcess("TallyTestHelper", "add", path, [5], keeping: directory)
    #expect(helper.line() == "done")
    _ = helper.lines()
    try await waiting.value
    #expect(Set(seen.withLock { $0 }) == Set((0..<5).map { "\($0)" }))
    #expect(try names(in: path).contains("log"))
    try checkInvariants(of: store)
    try store.close()
    try expectPlain(path)
  }

  @Test func theLastToCloseBringsEverythingIntoTheFile() throws {
    try withTemporaryDirectory { (directory) throws in
      let path = directory.appending("store")
      let store = try TaskStore(at: path, configuration: Self.configuration)
      let helper = try HelperProcess("TallyTestHelper", "hold", path, [])
      #expect(helper.line() == "ready")
      try add("Ada", to: store)
      try checkInvariants(of: store)
      try store.close()
      #expect(try names(in: path).contains("log"))
      helper.release()
      #expect(helper.lines() == [])
      try expectPlain(path)
      try withStore(at: path, Self.brief) { try expect(["Ada"], in: $0) }
    }
  }

  @Test func theWriterWarnsOfAReaderThatKeepsPagesFromTheMerges() throws {
    let lines = Shared<[String]>([])
    var configuration = Self.configuration
    configuration.durability = .relaxed
    configuration.logger = .ofTest { line in lines.withLock { $0.append(line) } }
    try withTemporaryDirectory { (directory) throws in
      try withStore(at: directory.appending("store"), configuration) { (store) throws in
        func commit() throws {
          try store.environment.write { transaction in
            guard let header = try store.tables.meta.value(forKey: .header, in: transaction) else { return }
            try store.tables.meta.put(header, forKey: .header, in: &transaction)
          }
        }
        for _ in 0..<2_000 { try commit() }
        #expect(lines.withLock { $0 } == [])
        try store.read { _ in
          for _ in 0..<50_000 where lines.withLock({ $0.isEmpty }) { try commit() }
        }
        #expect(lines.withLock { $0.count } == 1)
      }
    }
  }

  @Test func aSmallStoreStaysSmall() throws {
    try withTemporaryDirectory { (directory) throws in
      let path = directory.appending("store")
      try withStore(at: path, Self.configuration) { (store) throws in
        for number in 0..<1_000 { try add("Task number \(number)", to: store) }
        let size = try names(in: path).reduce(0) { try $0 + path.appending($1).stat().sizeAllocated }
        #expect(size < 10 << 20)
      }
    }
  }
}

extension StoreLogTests {
  private func add(_ title: String, to store: TaskStore) throws {
    try store.writeAndWait { _ = try $0.add(title, to: .inbox) }
  }

  private func titles(of store: TaskStore) throws -> [String] {
    try store.read { try $0.view(.all).tasks.map(\.title) }.sorted()
  }

  private func expect(_ expected: [String], in store: TaskStore) throws {
    #expect(try titles(of: store) == expected)
  }

  private func expectAll(_ store: TaskStore) throws { try expect(["Ada", "Edith", "Grace"], in: store) }

  private func tar(_ action: String, _ archive: FilePath, in directory: FilePath, _ names: String...) throws {
    let tar = Process()
    tar.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    tar.arguments = ["tar", action, archive.string, "-C", directory.string] + names
    try tar.run()
    tar.waitUntilExit()
    #expect(tar.terminationStatus == 0)
  }

  /// A closed store: a plain LMDB file without a mark.
  private func expectPlain(_ path: FilePath) throws {
    #expect(try !names(in: path).contains("log"))
    let environment = try LMDBEnvironment(path: path)
    #expect(try StoreOpening.header(in: environment)?.hasLog == false)
    try environment.close()
  }

  /// The header as a program reads it that knows no log.
  private func treeHeader(of store: TaskStore) throws -> StoreHeader {
    try withTemporaryDirectory { (directory) throws in
      try FileManager.default.copyItem(
        atPath: store.directory.appending("data.mdb").string, toPath: directory.appending("data.mdb").string)
      let environment = try LMDBEnvironment(path: directory)
      let header = try #require(try StoreOpening.header(in: environment))
      try environment.close()
      return header
    }
  }

  /// A store whose process was killed after it had added tasks.
  private func withKilled(_ titles: [String], _ body: (FilePath) throws -> Void) throws {
    try withTemporaryDirectory { (directory) throws in
      let path = directory.appending("store")
      try withStore(at: directory.appending("living"), Self.configuration) { (store) throws in
        for title in titles { try add(title, to: store) }
        try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: true)
        for name in ["data.mdb", "log"] {
          try FileManager.default.copyItem(
            atPath: store.directory.appending(name).string, toPath: path.appending(name).string)
        }
      }
      try body(path)
    }
  }
}
