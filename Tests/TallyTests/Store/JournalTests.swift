import Foundation
import LMDB
import SystemPackage
import TallySystem
import TallyTestSupport
import Testing

@testable import Tally

/// Stores whose commits go through a journal.
@Suite struct JournalTests {
  /// Every commit goes through the journal, and nothing happens by itself.
  static var configuration: TaskStore.Configuration {
    var configuration = TaskStore.Configuration.testing()
    configuration.usesJournal = true
    configuration.journal.directCommitCount = 0
    configuration.journal.hasKeeper = false
    configuration.journal.ringSizeInBytes = 1 << 20
    return configuration
  }

  @Test func aClosedStoreIsAPlainFileWithTheMark() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try withStore(at: path, Self.configuration) { (store) throws in
        try store.writeAndWait { _ = try $0.add("Ada", to: .inbox) }
        let journal = try #require(try store.information().journal)
        #expect(!journal.isClean && journal.pendingCommitCount == 1 && journal.steadySequence == 0)
        #expect(journal.usedSizeInBytes > 0 && journal.sizeInBytes == 1 << 20)
      }
      #expect(try names(in: path) == ["access.lock", "data.mdb", "journal", "lock.mdb"])
      #expect(try LMDBEnvironment.isDataFileReplaceable(in: path))
      // Without what the journal says, and without the wish for one: the mark decides.
      try removeJournal(of: path)
      try withStore(at: path) { (store) throws in
        #expect(try titles(in: store) == ["Ada"])
        #expect(try store.information().journal?.isClean == true)
        #expect(try header(of: store).requiredFeatures.contains(.journal))
      }
    }
  }

  @Test func anExistingStoreGetsAJournalWhenItIsOpenedForWritingAlone() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try withStore(at: path) { (store) throws in
        try store.writeAndWait { _ = try $0.add("Ada", to: .inbox) }
        #expect(try store.information().journal == nil)
      }
      var reading = Self.configuration
      reading.isReadOnly = true
      try withStore(at: path, reading) { (store) throws in #expect(try store.information().journal == nil) }
      // Somebody else has it open: that one might go on writing without a journal.
      let access = try FileLock(opening: path.appending(StoreAccess.fileName))
      try access.acquire(.shared)
      try withStore(at: path, Self.configuration) { (store) throws in
        try store.writeAndWait { _ = try $0.add("Grace", to: .inbox) }
        #expect(try !header(of: store).requiredFeatures.contains(.journal))
      }
      access.release()
      try withStore(at: path, Self.configuration) { (store) throws in
        #expect(try header(of: store).requiredFeatures.contains(.journal))
        try store.writeAndWait { _ = try $0.add("Barbara", to: .inbox) }
        #expect(try store.information().journal?.isClean == false)
        #expect(try titles(in: store) == ["Ada", "Barbara", "Grace"])
      }
    }
  }

  @Test func aJournalWithoutTheMarkIsNotUsed() throws {
    try withTemporaryDirectory { directory in
      let (path, other) = (directory.appending("store"), directory.appending("other"))
      try withStore(at: path) { try $0.writeAndWait { _ = try $0.add("Ada", to: .inbox) } }
      try withStore(at: other, Self.configuration) { _ in }
      // As a crash leaves it between the making of the journal and the mark.
      try FileManager.default.copyItem(
        atPath: other.appending("journal").string, toPath: path.appending("journal").string)
      try withStore(at: path) { (store) throws in
        try store.writeAndWait { _ = try $0.add("Grace", to: .inbox) }
        #expect(try store.information().journal == nil)
        #expect(try !header(of: store).requiredFeatures.contains(.journal))
      }
      #expect(try LMDBEnvironment.isDataFileReplaceable(in: path))
      try withStore(at: path, Self.configuration) { (store) throws in
        #expect(try header(of: store).requiredFeatures.contains(.journal))
      }
    }
  }

  @Test func theFirstCommitsOfAProcessNeedNoJournal() throws {
    var configuration = Self.configuration
    configuration.journal.directCommitCount = 2
    try withStore(configuration) { (store) throws in
      for title in ["a", "b"] { try store.writeAndWait { _ = try $0.add(title, to: .inbox) } }
      #expect(try store.information().journal?.isClean == true)
      try store.writeAndWait { _ = try $0.add("c", to: .inbox) }
      #expect(try store.information().journal?.isClean == false)
    }
  }

  /// Uses of a store that was not closed before the power failed.
  enum Door: CaseIterable {
    case opening, reading, verifying, compacting, repairing, backingUp, restoring
  }

  @Test(arguments: Door.allCases) func everyDoorLeadsToTheLastCommit(door: Door) throws {
    try withCrashedStore { path in
      let file = path.removingLastComponent().appending("backup.mdb")
      switch door {
      case .opening: break
      case .reading:
        var configuration = Self.configuration
        configuration.isReadOnly = true
        try withStore(at: path, configuration) { (store) throws in
          #expect(try titles(in: store) == ["Barbara", "Grace"])
        }
      case .verifying:
        let report = try TaskStore.verify(at: path, configuration: Self.configuration)
        #expect(report.isSound && report.taskCount == 2)
      case .compacting: try TaskStore.compact(at: path, configuration: .testing())
      case .repairing: #expect(try TaskStore.repair(at: path, configuration: .testing()).before.isSound)
      case .backingUp:
        try withStore(at: path, Self.configuration) { _ = try $0.backup(to: file) }
        try TaskStore.restore(from: file, to: path, configuration: .testing())
      case .restoring:
        // The old file is kept as it should have been.
        try withStore(at: path.removingLastComponent().appending("other")) { _ = try $0.backup(to: file) }
        let kept = try #require(try TaskStore.restore(from: file, to: path, configuration: .testing()).safetyCopy)
        try withStore(at: path) { (store) throws in #expect(try titles(in: store).isEmpty) }
        try TaskStore.restore(from: kept, to: path, configuration: .testing())
      }
      try withStore(at: path, Self.configuration) { (store) throws in
        #expect(try titles(in: store) == ["Barbara", "Grace"])
        try store.writeAndWait { _ = try $0.add("Edith", to: .inbox) }
      }
      try withStore(at: path) { (store) throws in #expect(try titles(in: store) == ["Barbara", "Edith", "Grace"]) }
    }
  }

  @Test func aStoreThatCannotBeRecoveredCanBeReplacedOrRemoved() throws {
    try withCrashedStore { path in
      let file = path.removingLastComponent().appending("backup.mdb")
      try withStore(at: path.removingLastComponent().appending("other")) { _ = try $0.backup(to: file) }
      let journal = try bytes(of: path.appending("journal"))
      // Neither header is whole.
      try write([UInt8](repeating: 0xA5, count: 8_192) + journal.dropFirst(8_192), to: path.appending("journal"))
      expect(.damagedStore) { try withStore(at: path, Self.configuration) { _ in } }
      try TaskStore.restore(from: file, to: path, configuration: .testing())
      try withStore(at: path, Self.configuration) { try $0.writeAndWait { _ = try $0.add("Edith", to: .inbox) } }
      try TaskStore.remove(at: path)
      #expect(!FileManager.default.fileExists(atPath: path.string))
    }
  }

  @Test func aSuspendedStoreIsAPlainFile() throws {
    try withStore(Self.configuration) { (store) throws in
      try store.writeAndWait { _ = try $0.add("Ada", to: .inbox) }
      try store.suspend()
      #expect(try LMDBEnvironment.isDataFileReplaceable(in: store.directory))
      try TaskStore.compact(at: store.directory, configuration: .testing())
      try store.resume()
      try store.writeAndWait { _ = try $0.add("Grace", to: .inbox) }
      #expect(try titles(in: store) == ["Ada", "Grace"])
    }
  }

  @Test func callersShareOneRecord() async throws {
    var configuration = Self.configuration
    configuration.journal.ringSizeInBytes = 4 << 20
    try await withStore(configuration) { store in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<128 { group.addTask { try await store.write { _ = try $0.add("\(number)", to: .inbox) } } }
        try await group.waitForAll()
      }
      #expect(try titles(in: store).count == 128)
      let journal = try #require(try store.information().journal)
      #expect(journal.pendingCommitCount < 128)
    }
  }

  @Test func aRelaxedStoreLosesNothingToAKilledProcess() throws {
    var configuration = Self.configuration
    configuration.durability = .relaxed
    try withStore(configuration) { (store) throws in
      try store.writeAndWait { _ = try $0.add("Ada", to: .inbox) }
      let copy = store.directory.removingLastComponent().appending("copy")
      try copyStore(store.directory, to: copy)
      try withStore(at: copy, configuration) { (store) throws in #expect(try titles(in: store) == ["Ada"]) }
      try store.flush()
    }
  }

  @Test func aStoreWrittenAgainAndAgainStaysSmall() throws {
    var configuration = Self.configuration
    configuration.journal.checkpointSizeInBytes = 1 << 20
    configuration.journal.ringSizeInBytes = 4 << 20
    try withStore(configuration) { (store) throws in
      let task = try store.writeAndWait { try $0.add("0", to: .inbox) }
      let size = try store.information().usedMapSizeInBytes
      for number in 1...600 {
        try store.writeAndWait { transaction in
          _ = try transaction.update(task.id) { $0.title = "\(number)" }
        }
      }
      let growth = try store.information().usedMapSizeInBytes - size
      #expect(growth < 3 << 20, "grown by \(growth) bytes")
    }
  }

  /// A store whose data file has only the steady commit: the rest must come from the journal.
  private func withCrashedStore(_ body: (FilePath) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      let (path, crashed) = (directory.appending("before").appending("store"), directory.appending("store"))
      try withStore(at: path, Self.configuration) { (store) throws in
        let task = try store.writeAndWait { try $0.add("Ada", to: .inbox) }
        try store.connection.current.environment.makeCheckpoint()
        try FileManager.default.createDirectory(atPath: crashed.string, withIntermediateDirectories: true)
        try write(bytes(of: path.appending("data.mdb")), to: crashed.appending("data.mdb"))
        for title in ["Grace", "Barbara"] { try store.writeAndWait { _ = try $0.add(title, to: .inbox) } }
        try store.writeAndWait { _ = try $0.delete(task.id) }
        #expect(try store.information().journal?.pendingCommitCount == 3)
        try write(bytes(of: path.appending("journal")), to: crashed.appending("journal"))
      }
      try body(crashed)
    }
  }

  private func copyStore(_ path: FilePath, to copy: FilePath) throws {
    try FileManager.default.createDirectory(atPath: copy.string, withIntermediateDirectories: true)
    for name in ["data.mdb", "journal"] { try write(bytes(of: path.appending(name)), to: copy.appending(name)) }
  }

  private func removeJournal(of path: FilePath) throws {
    try FileManager.default.removeItem(atPath: path.appending("journal").string)
  }

  private func titles(in store: TaskStore) throws -> [String] {
    try store.read { try $0.view(.all).tasks.map(\.title).sorted() }
  }

  private func header(of store: TaskStore) throws -> StoreHeader {
    try store.read { try $0.header() }
  }
}
