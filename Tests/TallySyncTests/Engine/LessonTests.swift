import Foundation
import Tally
import TallySyncConformance
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Failures that programs of this kind are known for, each as the case in which it shows.
///
/// `TALLY_SYNC_CHANGES` sets how many changes one instant has, 5,000 without it; `make test-long` sets more.
struct LessonTests {
  private static let changeCount = ProcessInfo.processInfo.environment["TALLY_SYNC_CHANGES"].flatMap(Int.init) ?? 5_000

  @Test func ofEqualTimesOnThreeReplicasOneValueWins() async throws {
    try await withPlace(of: 3) { space, place in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox).id }
      try await space.synchronizeAll(through: place)
      // The clock stands still: the times are equal.
      for (number, store) in space.stores.enumerated() {
        try await store.write { _ = try $0.update(id) { $0.title = "by \(number)" } }
      }
      try await space.synchronizeAll(through: place)
      try await space.expectEqualStores()
    }
  }

  @Test func aTaskThatIsDeletedAndCreatedAgainIsAliveEverywhere() async throws {
    try await withPlace { space, place in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox).id }
      try await space.synchronizeAll(through: place)
      try await space.stores[0].write { try $0.delete(id) }
      try await space.synchronizeAll(through: place)
      try await space.stores[0].write { _ = try $0.undo() }
      try await space.synchronizeAll(through: place)
      for store in space.stores { #expect(try store.read { try $0.task(id) } != nil) }
      try await space.expectEqualStores()
    }
  }

  @Test func aWriteThatIsEqualToAnothersReachesTheThirdReplica() async throws {
    try await withPlace(of: 3) { space, place in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox).id }
      try await space.synchronizeAll(through: place)
      for number in 0...1 { try await space.stores[number].write { _ = try $0.update(id) { $0.title = "same" } } }
      try await space.sync(0).synchronize(through: MemoryTransport(place))
      try await space.sync(1).synchronize(through: MemoryTransport(place))
      try await space.sync(2).synchronize(through: MemoryTransport(place))
      #expect(try space.stores[2].read { try $0.task(id) }?.title == "same")
      for number in 0...2 { #expect(try await space.sync(number).conflicts() == []) }
    }
  }

  @Test func aPlaceThatLosesEverythingIsFilledAgain() async throws {
    try await withPlace { space, place in
      try await space.stores[0].write { _ = try $0.add("one", to: .inbox) }
      try await space.synchronizeAll(through: place)
      await place.loseEverything()
      try await space.stores[1].write { _ = try $0.add("two", to: .inbox) }
      try await space.synchronizeAll(through: place)
      for store in space.stores { #expect(try store.read { try $0.view(.inbox).tasks.count } == 2) }
      try await space.expectEqualStores()
    }
  }

  @Test func aPlaceThatGoesBackInTimeGetsWhatItHasLost() async throws {
    try await withPlace { space, place in
      try await space.synchronizeAll(through: place)
      let early = await place.save()
      try await space.stores[0].write { _ = try $0.add("lost", to: .inbox) }
      try await space.sync(0).synchronize(through: MemoryTransport(place))
      await place.restore(early)
      try await space.synchronizeAll(through: place)
      #expect(try space.stores[1].read { try $0.view(.inbox).tasks.map(\.title) } == ["lost"])
      try await space.expectEqualStores()
    }
  }

  @Test func changesThatAPlaceRefusesAreSentWhenItTakesThem() async throws {
    try await withPlace { space, place in
      try await space.stores[0].write { _ = try $0.add("one", to: .inbox) }
      await place.refuseSegments("The account is full")
      let error = await #expect(throws: TallyError.self) {
        try await space.sync(0).synchronize(through: MemoryTransport(place))
      }
      #expect(error?.code == .syncRefused && error?.message.contains("The account is full") == true)
      #expect(try await space.sync(0).status().pending == 1)
      await place.refuseSegments(nil)
      try await space.synchronizeAll(through: place)
      #expect(try space.stores[1].read { try $0.view(.inbox).tasks.count } == 1)
    }
  }

  @Test(arguments: [3_600, -31_557_600, 73 * 31_557_600] as [Int64])
  func aClockThatIsWrongIsNotRefusedAndDoesNotSpread(seconds: Int64) async throws {
    try await withPlace { space, place in
      let (touched, other) = try await space.stores[0].write { transaction in
        (try transaction.add("touched", to: .inbox).id, try transaction.add("other", to: .inbox).id)
      }
      try await space.synchronizeAll(through: place)
      let noon = space.clock.now
      space.clock.now = noon.adding(seconds: seconds)
      try await space.stores[1].write { _ = try $0.update(touched) { $0.title = "by the wrong clock" } }
      try await space.synchronizeAll(through: place)
      space.clock.now = noon.adding(seconds: 60)
      try await space.stores[0].write { transaction in
        // It has seen the value, so that it wins whatever the clocks say.
        try transaction.update(touched) { $0.title = "seen and changed" }
        try transaction.update(other) { $0.title = "changed" }
      }
      try await space.synchronizeAll(through: place)
      let states = try await space.states(of: [touched, other], in: 1)
      #expect(states[0].registers[.title]?.value == Array("seen and changed".utf8))
      #expect(states[1].registers[.title]?.time == space.clock.now.microsecondsSince1970)
      try await space.expectEqualStores()
    }
  }

  @Test func aBadSegmentAfterGoodOnesIsNotCountedAndTheGoodOnesAre() async throws {
    try await withFolderSpace { space in
      try await space.stores[0].write { _ = try $0.add("good", to: .inbox) }
      try await space.sync(0).synchronize()
      try await space.sync(0).sealImpossibleTask()
      try await space.sync(0).synchronize()
      let report = try await space.sync(1).synchronize()
      #expect(report.received == 1 && report.blocked.count == 1)
      #expect(try space.stores[1].read { try $0.view(.inbox).tasks.map(\.title) } == ["good"])
      // It stays so, and says so, every time.
      #expect(try await space.sync(1).synchronize().blocked.count == 1)
    }
  }

  @Test func thousandsOfChangesInOneInstantArrive() async throws {
    try await withPlace { space, place in
      try await space.stores[0].write { transaction in
        for number in 0..<Self.changeCount { _ = try transaction.add("task \(number)", to: .inbox) }
      }
      try await space.synchronizeAll(through: place)
      for store in space.stores { #expect(try store.read { try $0.view(.inbox).tasks.count } == Self.changeCount) }
    }
  }

  @Test func aCompletionIsNotLostToALaterEdit() async throws {
    try await withPlace { space, place in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox).id }
      try await space.synchronizeAll(through: place)
      try await space.stores[0].write { _ = try $0.complete(id) }
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[1].write { _ = try $0.update(id) { $0.state = .active } }
      try await space.synchronizeAll(through: place)
      for store in space.stores { #expect(try store.read { try $0.task(id) }?.isCompleted == true) }
      try await space.expectEqualStores()
    }
  }

  /// Nothing that names replicas has room for some of them only.
  @Test func fiveHundredReplicasOfOneTaskAreAllCounted() async throws {
    try await withPlace { space, place in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox).id }
      try await space.synchronizeAll(through: place)
      let replicas = (0..<500).map { _ in ReplicaID(UUID()) }
      try await space.sync(0).sealCompletions(of: id, by: replicas)
      try await space.synchronizeAll(through: place)
      let state = try await space.states(of: [id], in: 1)[0]
      #expect(state.sets[.completions]?[[]]?.additions.count == 500)
      for store in space.stores { #expect(try store.read { try $0.statistics().completed.allTime } == 1) }
      // A reopening that has seen 500 completions leaves none.
      try await space.stores[1].write { _ = try $0.reopen(id) }
      try await space.synchronizeAll(through: place)
      for store in space.stores { #expect(try store.read { try $0.task(id) }?.isCompleted == false) }
      try await space.expectEqualStores()
    }
  }

  private func withPlace(
    of count: Int = 2, _ body: (FolderSpace, MemoryPlace) async throws -> Void
  ) async throws {
    try await withFolderSpace(count) { try await body($0, MemoryPlace()) }
  }
}

extension FolderSpace {
  /// Synchronises all stores through a place in memory until nothing is left.
  func synchronizeAll(through place: MemoryPlace) async throws {
    for _ in 0..<3 {
      for store in stores { try await StoreSync(store).synchronize(through: MemoryTransport(place)) }
    }
  }

  fileprivate func states(of ids: [UUID], in number: Int) async throws -> [ObjectState] {
    try await stores[number].write { transaction in
      let table = try StateTable(in: transaction)
      return try ids.map { try table.state(of: ObjectKey(isList: false, id: $0), in: transaction) }
    }
  }
}

extension StoreSync {
  /// Seals completions of a task by many replicas, as one that has merged theirs does in a snapshot.
  fileprivate func sealCompletions(of id: UUID, by replicas: [ReplicaID]) async throws {
    try await store.write { transaction in
      var (settings, merge) = (try transaction.requireSyncSettings(), try StateMerge(in: transaction))
      let task = try transaction.task(id)
      let object = ObjectKey(isList: false, id: id)
      try transaction.complete(id)
      let completed = try transaction.task(id)
      let value = try completed.flatMap { try transaction.storedCompletion(of: $0) }?.bytes ?? []
      try transaction.reopen(id)
      let own = try merge.applyPending(limit: .max, as: settings.replicaID, in: &transaction).changes
      var change = ObjectState()
      for replica in replicas {
        change.join(ObjectState().completing(with: value, at: task?.createdAt.microsecondsSince1970 ?? 0, by: replica))
      }
      try merge.join(change, to: object, in: transaction)
      try merge.finish(in: &transaction)
      try Outbox.seal(own + [ObjectChange(object: object, state: change)], &settings, in: &transaction)
      try transaction.setSyncSettings(settings)
    }
  }

  /// Seals a task with a blank title, as no version of Tally does.
  fileprivate func sealImpossibleTask() async throws {
    try await store.write { transaction in
      var settings = try transaction.requireSyncSettings()
      let replica = settings.replicaID
      let created = FieldValue.instant(transaction.now).storedBytes
      var state = ObjectState().setting(.title, to: [0x20], at: 1, by: replica)
      state.join(state.setting(.created, to: created, at: 1, by: replica))
      let object = ObjectKey(isList: false, id: UUID())
      try Outbox.seal([ObjectChange(object: object, state: state)], &settings, in: &transaction)
      try transaction.setSyncSettings(settings)
    }
  }
}
