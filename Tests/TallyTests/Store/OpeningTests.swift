import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

/// From a path to an open store, and the paths that are refused.
@Suite struct OpeningTests {
  @Test(arguments: [0o000, 0o022, 0o077, 0o277, 0o777])
  func aNewStoreBelongsToItsOwnerWhateverTheMask(mask: Int) throws {
    try withTemporaryDirectory { (directory) throws in
      for path in [directory.appending("new"), directory.appending("made/on/the/way")] {
        #expect(try HelperProcess("open-with-mask", path, mask).lines() == ["none"])
        #expect(try path.stat().permissions == .ownerReadWriteExecute)
        for name in StoreOpening.fileNames {
          #expect(try path.appending(name).stat().permissions == .ownerReadWrite, "\(name)")
        }
      }
      #expect(try directory.appending("made").stat().permissions == .ownerReadWriteExecute)
      #expect(try leftovers(in: directory).isEmpty)
    }
  }

  @Test func anEmptyDirectoryBecomesAStoreAndStaysTheSameDirectory() throws {
    try withTemporaryDirectory { directory in
      let before = try directory.stat()
      try reopen(directory)
      #expect(try directory.stat().inode == before.inode, "it may be a mounted volume")
      #expect(try directory.stat().permissions == .ownerReadWriteExecute)
      #expect(try names(in: directory) == ["access.lock", "data.mdb", "lock.mdb"])
    }
  }

  @Test func aDirectoryWithOnlyALeftLockBecomesAStore() throws {
    try withTemporaryDirectory { directory in
      try write([], to: directory.appending("lock.mdb"))
      try reopen(directory)
    }
  }

  @Test func whatACrashedCreationLeftDoesNotBarTheWay() throws {
    try withTemporaryDirectory { directory in
      let staging = directory.appending("store.new-\(UUID().uuidString.lowercased())")
      try FileManager.default.createDirectory(atPath: staging.string, withIntermediateDirectories: false)
      try write([], to: staging.appending("data.mdb"))
      try reopen(directory)
      #expect(try leftovers(in: directory).isEmpty)
    }
  }

  @Test func linksRelativePathsAndTrailingSlashesLeadToTheSameStore() throws {
    try withTemporaryDirectory { directory in
      let link = directory.appending("link")
      let real = directory.appending("real")
      try FileManager.default.createDirectory(atPath: real.string, withIntermediateDirectories: false)
      try FileManager.default.createSymbolicLink(atPath: link.string, withDestinationPath: "real")
      try reopen(link)
      let task = try withStore(at: real) { store in try store.read { try $0.view(.all).tasks.first } }
      #expect(task?.title == "first")
      let here = FilePath(FileManager.default.currentDirectoryPath)
      let up = here.components.map { _ in ".." }.joined(separator: "/")
      for spelling in ["\(real)/", "\(directory)/./real", "\(directory)/real/../real", "\(up)\(real)"] {
        let count = try withStore(at: FilePath(spelling)) { store in try store.read { try $0.taskCount } }
        #expect(count == 1, "\(spelling)")
      }
    }
  }

  /// The bug: a resumed store looked its relative path up again, and created a second store elsewhere.
  @Test func aRelativePathIsThatOfTheMomentOfOpening() throws {
    try withTemporaryDirectory { (directory) throws in
      #expect(try HelperProcess("open-relative", directory).lines() == ["before after", "none"])
      #expect(try names(in: directory.appending("elsewhere")).isEmpty)
    }
  }

  @Test func aURLNamesTheDirectory() throws {
    try withTemporaryDirectory { directory in
      let url = URL(filePath: directory.string).appending(path: "a store & more")
      let store = try TaskStore(at: url, configuration: .testing())
      #expect(store.directory == directory.appending("a store & more"))
      try store.close()
      #expect(code { _ = try TaskStore(at: #require(URL(string: "https://example.org/store"))) } == .notAStore)
    }
  }

  @Test func anEmptyPathIsNoStore() throws {
    #expect(code { _ = try TaskStore(at: "" as FilePath, configuration: .testing()) } != nil)
    #expect(code { try TaskStore.remove(at: "") } == .storeMissing)
  }

  /// The bug: each store reserved 1 TiB, so that a process had no address space left after 158.
  @Test func aProcessOpensHundredsOfStores() throws {
    try withTemporaryDirectory { (directory) throws in
      #expect(try HelperProcess("open-many", directory, 200).lines() == ["none"])
    }
  }

  @Test func aStoreOpensOnlyOnceInAProcessUnderWhateverName() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let store = try TaskStore(at: path, configuration: .testing())
      let link = directory.appending("link")
      try FileManager.default.createSymbolicLink(atPath: link.string, withDestinationPath: path.string)
      #expect(code { _ = try TaskStore(at: path, configuration: .testing()) } == .alreadyOpen)
      #expect(code { _ = try TaskStore(at: link, configuration: .testing()) } == .alreadyOpen)
      try store.writeAndWait { _ = try $0.add("still works", to: .inbox) }
      try store.close()
      #expect(try taskCount(at: path) == 1)
    }
  }

  @Test func noStoreIsMadeWhereNoneIsWanted() throws {
    try withTemporaryDirectory { (directory) throws in
      var configuration = TaskStore.Configuration.testing()
      configuration.createsIfMissing = false
      let path = directory.appending("a/store")
      #expect(code { _ = try TaskStore(at: path, configuration: configuration) } == .storeMissing)
      #expect(code { _ = try TaskStore(at: directory, configuration: configuration) } == .storeMissing)
      configuration.createsIfMissing = true
      configuration.isReadOnly = true
      #expect(code { _ = try TaskStore(at: path, configuration: configuration) } == .storeMissing)
      #expect(try names(in: directory).isEmpty)
    }
  }

  @Test func aStoreOpenedForReadingIsReadAndRefusesWrites() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try reopen(path)
      for durability in [TaskStore.Durability.durable, .relaxed] {
        var configuration = TaskStore.Configuration.testing()
        configuration.isReadOnly = true
        configuration.durability = durability
        let store = try TaskStore(at: path, configuration: configuration)
        #expect(try store.read { try $0.taskCount } == 1)
        #expect(syncWriteCode(store) == .permissionDenied)
        let error = await #expect(throws: TallyError.self) { try await store.write { _ = try $0.add("x", to: .inbox) } }
        #expect(error?.code == .permissionDenied)
        try store.close()
      }
    }
  }

  @Test func aDirectoryOfAnotherUserIsRefused() throws {
    try withTemporaryDirectory { directory in
      let foreign = directory.appending("foreign")
      try reopen(foreign)
      #expect(try HelperProcess("open-unprivileged", foreign).lines() == ["permissionDenied"])
      #expect(try HelperProcess("open-unprivileged", directory.appending("new")).lines() == ["permissionDenied"])
      #expect(try HelperProcess("open-unprivileged", directory.appending("a/b")).lines() == ["permissionDenied"])
      #expect(try names(in: directory) == ["foreign"])
    }
  }

  private func syncWriteCode(_ store: TaskStore) -> TallyError.Code? {
    code { try store.writeAndWait { _ = try $0.add("x", to: .inbox) } }
  }
}
