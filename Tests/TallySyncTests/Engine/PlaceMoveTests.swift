import Foundation
import SystemPackage
import Tally
import TallySyncConformance
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Stores that continue with their space in another folder.
struct PlaceMoveTests {
  /// Two stores with a task each, a path beside the folder of the space, and the replicas.
  private func withMoves(
    _ body: (FolderSpace, _ folder: FilePath, _ replicas: [ReplicaID]) async throws -> Void
  ) async throws {
    try await withFolderSpace { space in
      for (number, store) in space.stores.enumerated() {
        try await store.write { _ = try $0.add("\(number)", to: .inbox) }
      }
      try await space.synchronizeAll()
      let folder = space.directory.appending("other folder")
      let replicas = [try await space.sync(0).status().replica, try await space.sync(1).status().replica]
      try await body(space, folder, replicas)
    }
  }

  private func create(_ folder: FilePath) throws {
    try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
  }

  /// Expects that both stores exchange changes as the same replicas as before, and that a newcomer gets everything.
  private func expectExchange(
    _ space: FolderSpace, in folder: FilePath, as replicas: [ReplicaID],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    for (number, store) in space.stores.enumerated() {
      try await store.write { _ = try $0.add("moved \(number)", to: .inbox) }
    }
    try await space.synchronizeAll()
    for number in 0...1 {
      let status = try await space.sync(number).status()
      #expect(status.replica == replicas[number], sourceLocation: sourceLocation)
      #expect(status.pending == 0 && status.blocked == [], sourceLocation: sourceLocation)
      #expect(status.place == folder.string, sourceLocation: sourceLocation)
    }
    try await space.expectEqualStores(sourceLocation: sourceLocation)
    let invitation = try await space.sync(0).invite()
    let newcomer = try space.open("newcomer")
    try await StoreSync(newcomer).join(invitation, in: folder, deviceName: "newcomer")
    try await StoreSync(newcomer).synchronize()
    let (own, others) = try (newcomer.read { try $0.taskCount }, space.stores[0].read { try $0.taskCount })
    #expect(own == others && own >= 4, sourceLocation: sourceLocation)
    try newcomer.close()
  }

  @Test(arguments: [true, false]) func aRenamedFolderGoesOn(namesSpaceFolder: Bool) async throws {
    try await withMoves { space, folder, replicas in
      try FileManager.default.moveItem(atPath: space.folder.string, toPath: folder.string)
      // A change waits, sealed by an exchange that failed.
      try await space.stores[0].write { _ = try $0.add("waits", to: .inbox) }
      _ = try? await space.sync(0).synchronize()
      let id = try await space.sync(0).status().space
      let place = namesSpaceFolder ? folder.appending("tally-\(id)") : folder
      for number in 0...1 {
        let move = try await space.sync(number).move(to: place)
        #expect(move.place == folder.string && !move.lacksOwnSegments)
      }
      try await expectExchange(space, in: folder, as: replicas)
    }
  }

  @Test func anEmptyFolderGetsWhatTheOldOneHas() async throws {
    try await withMoves { space, folder, replicas in
      try create(folder)
      let moves = [try await space.sync(0).move(to: folder), try await space.sync(1).move(to: folder)]
      #expect(try #require(moves[0].copied) > 0 && moves[1].copied == 0)
      #expect(moves.allSatisfy { !$0.lacksOwnSegments })
      try await expectExchange(space, in: folder, as: replicas)
    }
  }

  @Test(arguments: [true, false]) func anEmptyFolderGoesOnWithoutTheOldOne(hasChanges: Bool) async throws {
    try await withMoves { space, folder, replicas in
      try create(folder)
      if hasChanges { try await space.stores[1].write { _ = try $0.add("waits", to: .inbox) } }
      try FileManager.default.removeItem(atPath: space.folder.string)
      for number in 0...1 {
        let move = try await space.sync(number).move(to: folder)
        #expect(move.copied == nil && move.lacksOwnSegments && !move.hasExchanged)
        // Exchanges that find nothing to do leave the stream as it is.
        for _ in 0..<2 { try await space.sync(number).synchronize() }
      }
      try await expectExchange(space, in: folder, as: replicas)
    }
  }

  @Test func aFolderThatLacksPiecesGetsThemFromTheOldOne() async throws {
    try await withMoves { space, folder, replicas in
      try FileManager.default.copyItem(atPath: space.folder.string, toPath: folder.string)
      for (number, store) in space.stores.enumerated() {
        try await store.write { _ = try $0.add("later \(number)", to: .inbox) }
      }
      try await space.synchronizeAll()
      for number in 0...1 { #expect(try await !space.sync(number).move(to: folder).lacksOwnSegments) }
      try await expectExchange(space, in: folder, as: replicas)
    }
  }

  /// The stream cannot continue where a piece in its middle is missing, so the store becomes a new replica with all its data.
  @Test func aFolderThatLacksPiecesLosesNothingWithoutTheOldOne() async throws {
    try await withMoves { space, folder, replicas in
      try FileManager.default.copyItem(atPath: space.folder.string, toPath: folder.string)
      try await space.stores[0].write { _ = try $0.add("later", to: .inbox) }
      try await space.synchronizeAll()
      try FileManager.default.removeItem(atPath: space.folder.string)
      #expect(try await space.sync(0).move(to: folder).lacksOwnSegments)
      try await space.sync(1).move(to: folder)
      for _ in 0..<2 { try await space.synchronizeAll() }
      #expect(try await space.sync(0).status().replica != replicas[0])
      #expect(try await space.sync(1).status().replica == replicas[1])
      try await space.expectEqualStores()
    }
  }

  /// What another device has written and this one has not read comes along.
  @Test func unreadChangesOfOthersMoveAlong() async throws {
    try await withMoves { space, folder, replicas in
      try create(folder)
      try await space.stores[1].write { _ = try $0.add("unread", to: .inbox) }
      try await space.sync(1).synchronize()
      let move = try await space.sync(0).move(to: folder)
      #expect(move.hasExchanged && move.notCopied == 0 && move.incomplete == [])
      #expect(try space.stores[0].read { try $0.taskCount } == 3)
      try FileManager.default.removeItem(atPath: space.folder.string)
      try await space.sync(0).synchronize()
      try await space.sync(1).move(to: folder)
      try await expectExchange(space, in: folder, as: replicas)
    }
  }

  /// One file that cannot be read does not keep the others behind, and is counted.
  @Test(arguments: MissingChangesTests.Damage.possible.filter { $0 != .removed }, [2, 3] as [UInt64])
  func whatCannotBeCopiedIsCounted(damage: MissingChangesTests.Damage, number: UInt64) async throws {
    try await withMoves { space, folder, replicas in
      try create(folder)
      let transport = try #require(try await space.sync(0).connect().transport as? FolderTransport)
      let first = try #require(try transport.segmentFiles(of: replicas[1]).head).number
      for title in ["a", "b", "c"] {
        try await space.stores[1].write { _ = try $0.add(title, to: .inbox) }
        try await space.sync(1).synchronize()
      }
      let files = try transport.segmentFiles(of: replicas[1]).files
      let file = try #require(files.first { $0.range.last == first + number }).entry.path
      let (bytes, count) = (try Data(contentsOf: URL(filePath: file.string)), files.count)
      try damage.strike(file)
      let move = try await space.sync(0).move(to: folder)
      #expect(move.notCopied == 1 && move.hasExchanged && !move.lacksOwnSegments)
      #expect(move.incomplete.map(\.replica) == [replicas[1]])
      let id = try await space.sync(0).connect().space
      let target = try FolderTransport(at: folder, space: id.bytes)
      #expect(try target.segmentFiles(of: replicas[1]).files.count == count - 1)
      // Behind the last file that is there, the new place does not say what is missing.
      let missing = try await space.sync(0).synchronize().incomplete.map(\.replica)
      #expect(missing == (number == 2 ? [replicas[1]] : []))
      // When it is there again, the device that wrote it brings it along.
      if geteuid() != 0 {
        try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.string)
      }
      try bytes.write(to: URL(filePath: file.string))
      let later = try await space.sync(1).move(to: folder)
      #expect(later.notCopied == 0)
      try await expectExchange(space, in: folder, as: replicas)
    }
  }

  /// A connector to places in memory, which stand for a hub.
  private struct MemoryConnector: SyncConnector {
    let place = MemoryPlace()
    func transport(to place: SyncPlace, space: SpaceID) throws -> any SyncTransport { MemoryTransport(self.place) }
  }

  /// The other device has not moved, but what it has written is in the snapshot of the one that has.
  @Test func aHubGetsWhatOthersHaveWritten() async throws {
    try await withMoves { space, _, replicas in
      // The snapshot in the folder covers everything, but the hub does not have it.
      try await space.stores[0].write { try $0.changeSyncSettings { $0.needsSnapshot = true } }
      try await space.sync(0).synchronize()
      try await space.stores[1].write { _ = try $0.add("unread", to: .inbox) }
      try await space.sync(1).synchronize()
      let (connector, hub) = (MemoryConnector(), SyncPlace("https://hub.example", token: "token"))
      let sync = StoreSync(space.stores[0], connector: connector)
      let move = try await sync.move(to: hub)
      #expect(move.hasExchanged && move.incomplete == [] && !move.lacksOwnSegments)
      #expect(try await sync.synchronize().blocked == [])
      let newcomer = try space.open("newcomer")
      let guest = StoreSync(newcomer, connector: connector)
      try await guest.join(sync.invite(), at: hub, deviceName: "newcomer")
      #expect(try await guest.synchronize().blocked == [])
      #expect(try newcomer.read { try $0.taskCount } == 3)
      try newcomer.close()
    }
  }

  @Test func aFolderOfAnotherSpaceIsRefused() async throws {
    try await withMoves { space, folder, replicas in
      try create(folder)
      let other = try space.open("other")
      _ = try await StoreSync(other).setUp(in: folder, deviceName: "other")
      for _ in 0..<2 {
        let error = await #expect(throws: TallyError.self) { try await space.sync(0).move(to: folder) }
        #expect(error?.code == .placeOfOtherSpace)
      }
      #expect(try await space.sync(0).status().place == space.folder.string)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.string).count == 1)
      try await space.synchronizeAll()
      try other.close()
    }
  }

  @Test func aFolderThatIsNotThereIsRefused() async throws {
    try await withMoves { space, folder, replicas in
      let error = await #expect(throws: TallyError.self) { try await space.sync(0).move(to: folder) }
      #expect(error?.code == .syncUnreachable)
      #expect(try await space.sync(0).status().place == space.folder.string)
      try await space.sync(0).synchronize()
    }
  }

  @Test func movingToTheSameFolderChangesNothing() async throws {
    try await withMoves { space, _, replicas in
      let move = try await space.sync(0).move(to: space.folder)
      #expect(move.copied == 0 && !move.lacksOwnSegments)
      try await expectExchange(space, in: space.folder, as: replicas)
    }
  }

  /// The agent follows to the new place by itself.
  @Test func anAgentFollowsTheMove() async throws {
    try await withMoves { space, folder, _ in
      try create(folder)
      let agent = Task { [store = space.stores[1]] in try await StoreSync(store).run { _ in } }
      try await space.sync(0).move(to: folder)
      try await space.sync(1).move(to: folder)
      try await space.stores[0].write { _ = try $0.add("after the move", to: .inbox) }
      try await space.sync(0).synchronize()
      // Wakes the agent, which would otherwise look only once a minute.
      try await space.stores[1].write { _ = try $0.add("wakes", to: .inbox) }
      var titles: Set<String> = []
      for try await _ in try space.stores[1].changes() {
        titles = Set(try space.stores[1].read { try $0.view(.inbox).tasks.map(\.title) })
        if titles.contains("after the move") { break }
      }
      agent.cancel()
      _ = await agent.result
      #expect(titles.contains("after the move"))
    }
  }
}
