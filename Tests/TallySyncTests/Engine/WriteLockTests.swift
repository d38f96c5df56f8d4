import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

@testable import TallySync

/// Synchronisation takes the lock of all writers only to write.
struct WriteLockTests {
  @Test func whatOnlyReadsBeginsNoWrite() async throws {
    try await withFolderSpace { space in
      try await space.stores[0].write { _ = try $0.add("deleted", to: .inbox) }
      try await space.synchronizeAll()
      // Changes of a task and a saved filter wait, and something is in the trash.
      try await space.stores[0].write { transaction in
        try transaction.delete(transaction.view(.inbox).tasks[0].id)
        try transaction.add("waits", to: .inbox)
        _ = try transaction.saveFilter(TaskFilter(text: "is:open"), as: "mine")
      }
      let (store, sync) = (space.stores[0], space.sync(0))
      let writes = try await store.writes { () async throws in
        #expect(try await sync.status().pending == 3)
        #expect(try await sync.members().count == 2)
        #expect(try await sync.trash().count == 1)
        #expect(try await sync.conflicts() == [])
        #expect(try await sync.verify() == [])
        #expect(try await sync.isSetUp)
        #expect(try await !sync.invite().isEmpty)
        #expect(try await !sync.place().isHub)
        await #expect(throws: TallyError.self) { try await sync.setUp(in: space.folder, deviceName: "again") }
      }
      #expect(writes == 0)
    }
  }

  @Test func anIdleExchangeBeginsNoWrite() async throws {
    try await withFolderSpace(3) { space in
      for store in space.stores { try await store.write { _ = try $0.add("task", to: .inbox) } }
      try await space.synchronizeAll()
      for number in 0..<3 {
        let writes = try await space.stores[number].writes { try await space.sync(number).synchronize() }
        #expect(writes == 0, "store \(number)")
      }
      // The cards of a device that was revoked and has left stay.
      _ = try await space.sync(0).revoke(space.sync(2).status().replica)
      _ = try? await space.sync(2).synchronize()
      try await space.sync(2).leave()
      for _ in 0..<2 { for number in 0..<2 { try await space.sync(number).synchronize() } }
      for number in 0..<2 {
        let writes = try await space.stores[number].writes { try await space.sync(number).synchronize() }
        #expect(writes == 0, "store \(number) after the revocation")
      }
    }
  }

  @Test func anExchangeWritesAboutAsOftenAsItStoresSomething() async throws {
    try await withFolderSpace { space in
      try await space.synchronizeAll()
      try await space.stores[0].write { _ = try $0.add("task", to: .inbox) }
      // Three writes: sealing the segment, acknowledging it, and noting the mark of the files.
      let sending = try await space.stores[0].writes { try await space.sync(0).synchronize() }
      #expect(sending == 3)
      let receiving = try await space.stores[1].writes { try await space.sync(1).synchronize() }
      #expect(receiving == 1)
      for title in ["a", "b", "c", "d"] {
        try await space.stores[0].write { _ = try $0.add(title, to: .inbox) }
        try await space.sync(0).synchronize()
      }
      // Four segments of one stream are merged at once.
      let many = try await space.stores[1].writes { try await space.sync(1).synchronize() }
      #expect(many == 1)
      try await space.expectEqualStores()
    }
  }

  @Test func aStreamThatIsBlockedIsWrittenDownOnce() async throws {
    try await withFolderSpace { space in
      try await space.stores[0].write { _ = try $0.add("task", to: .inbox) }
      try await space.sync(0).synchronize()
      let transport = try #require(try await space.sync(0).connect().transport as? FolderTransport)
      let replica = try await space.sync(0).status().replica
      let file = try #require(try transport.segmentFiles(of: replica).files.last).entry.path.string
      var bytes = try Data(contentsOf: URL(filePath: file))
      bytes[bytes.count - 100] ^= 1
      try bytes.write(to: URL(filePath: file))
      #expect(try await space.sync(1).synchronize().blocked.count == 1)
      let repeated = try await space.stores[1].writes { try await space.sync(1).synchronize() }
      #expect(repeated == 0)
    }
  }
}

extension TaskStore {
  /// The number of write transactions that a body begins.
  fileprivate func writes(_ body: () async throws -> Void) async throws -> Int {
    let before = try begunWriteCount
    try await body()
    return try begunWriteCount - before
  }
}

/// What a store reports about changes that wait.
struct WaitingChangesTests {
  @Test func theHashIsNotKnownWhileChangesAreInNoState() async throws {
    try await withFolderSpace { space in
      try await space.synchronizeAll()
      let hash = try #require(try await space.sync(0).status().stateHash)
      try await space.stores[0].write { _ = try $0.add("task", to: .inbox) }
      #expect(try await space.sync(0).status().stateHash == nil)
      try await space.synchronizeAll()
      let later = try #require(try await space.sync(0).status().stateHash)
      let other = try await space.sync(1).status().stateHash
      #expect(later != hash && later == other)
    }
  }

  @Test func theOldestIsTheFirstThatWaits() async throws {
    try await withFolderSpace { space in
      try await space.synchronizeAll()
      let start = space.clock.now
      let ids = try await space.stores[0].write { transaction in
        try ["first", "second"].map { try transaction.add($0, to: .inbox).id }
      }
      space.clock.now = start.adding(seconds: 60)
      try await space.stores[0].write { _ = try $0.add("later", to: .inbox) }
      try await space.expect(3, since: start)
      // Later changes overtake the first changes of both titles, but not the first changes of their other fields.
      try await space.stores[0].write { transaction in
        for id in ids { try transaction.update(id) { $0.title += "!" } }
      }
      try await space.expect(3, since: start)
      // A version that does not know the row of the first change has left it as it was, or never wrote it.
      for row in [nil, [1, 2], Array(repeating: 9, count: 25)] as [[UInt8]?] {
        try await space.stores[0].write { try $0.setSyncValue(row, forKey: [18]) }
        try await space.expect(3, since: start)
      }
      try await space.synchronizeAll()
      try await space.expect(0, since: nil)
    }
  }

  @Test func sealedChangesAreCountedWithoutReadingThemAll() async throws {
    try await withFolderSpace { space in
      try await space.synchronizeAll()
      let start = space.clock.now
      for (number, title) in ["a", "b", "c"].enumerated() {
        space.clock.now = start.adding(seconds: 60 * Int64(number))
        try await space.stores[0].write { _ = try $0.add(title, to: .inbox) }
        // Seals the change without sending it.
        try await space.sync(0).writeDifference(to: space.directory.appending("difference"))
      }
      try await space.stores[0].write { _ = try $0.add("d", to: .inbox) }
      try await space.expect(4, since: start)
      // As after an older version has sealed or sent some.
      try await space.stores[0].write { try $0.changeSyncSettings { $0.sealedChangeCount = nil } }
      try await space.expect(4, since: start)
      try await space.synchronizeAll()
      try await space.expect(0, since: nil)
      try await space.stores[0].write { _ = try $0.add("e", to: .inbox) }
      try await space.sync(0).writeDifference(to: space.directory.appending("difference"))
      #expect(try await space.stores[0].write { try $0.requireSyncSettings().sealedChangeCount } == 1)
      try await space.expect(1, since: space.clock.now)
    }
  }
}

extension FolderSpace {
  fileprivate func expect(
    _ count: Int, since time: Timestamp?, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let status = try await sync(0).status()
    #expect(status.pending == count && status.oldestPending == time, sourceLocation: sourceLocation)
  }
}
