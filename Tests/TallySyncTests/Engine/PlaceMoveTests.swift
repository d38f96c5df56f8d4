import Foundation
import SystemPackage
import Tally
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
      try await space.synchroniseAll()
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
    try await space.synchroniseAll()
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
    try await StoreSync(newcomer).synchronise()
    let (own, others) = try (newcomer.read { try $0.taskCount }, space.stores[0].read { try $0.taskCount })
    #expect(own == others && own >= 4, sourceLocation: sourceLocation)
    try newcomer.close()
  }

  @Test(arguments: [true, false]) func aRenamedFolderGoesOn(namesSpaceFolder: Bool) async throws {
    try await withMoves { space, folder, replicas in
      try FileManager.default.moveItem(atPath: space.folder.string, toPath: folder.string)
      // A change waits, sealed by an exchange that failed.
      try await space.stores[0].write { _ = try $0.add("waits", to: .inbox) }
      _ = try? await space.sync(0).synchronise()
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
        #expect(move.copied == nil && move.lacksOwnSegments)
        // Exchanges that find nothing to do leave the stream as it is.
        for _ in 0..<2 { try await space.sync(number).synchronise() }
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
      try await space.synchroniseAll()
      for number in 0...1 { #expect(try await !space.sync(number).move(to: folder).lacksOwnSegments) }
      try await expectExchange(space, in: folder, as: replicas)
    }
  }

  /// The stream cannot continue where a piece in its middle is missing, so the store becomes a new replica with all its data.
  @Test func aFolderThatLacksPiecesLosesNothingWithoutTheOldOne() async throws {
    try await withMoves { space, folder, replicas in
      try FileManager.default.copyItem(atPath: space.folder.string, toPath: folder.string)
      try await space.stores[0].write { _ = try $0.add("later", to: .inbox) }
      try await space.synchroniseAll()
      try FileManager.default.removeItem(atPath: space.folder.string)
      #expect(try await space.sync(0).move(to: folder).lacksOwnSegments)
      try await space.sync(1).move(to: folder)
      for _ in 0..<2 { try await space.synchroniseAll() }
      #expect(try await space.sync(0).status().replica != replicas[0])
      #expect(try await space.sync(1).status().replica == replicas[1])
      try await space.expectEqualStores()
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
      try await space.synchroniseAll()
      try other.close()
    }
  }

  @Test func aFolderThatIsNotThereIsRefused() async throws {
    try await withMoves { space, folder, replicas in
      let error = await #expect(throws: TallyError.self) { try await space.sync(0).move(to: folder) }
      #expect(error?.code == .syncUnreachable)
      #expect(try await space.sync(0).status().place == space.folder.string)
      try await space.sync(0).synchronise()
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
      try await space.sync(0).synchronise()
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
