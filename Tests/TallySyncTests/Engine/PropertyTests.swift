import Foundation
import SystemPackage
import TallySyncConformance
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally
@testable import TallySync

/// What must hold whatever happens, over random histories; each prints its seed.
struct PropertyTests {
  /// Replicas are silent for months and are copied; the place loses everything, goes back in time, refuses or cannot be reached:
  /// nothing that was written is lost, and nothing that was deleted returns.
  @Test func longSilenceAndLossesOfThePlaceLoseNothing() async throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "longSilenceAndLosses"))
    for _ in 0..<2 {
      try await withFolderSpace(3) { space in
        let place = MemoryPlace()
        var (kept, deleted): (Set<UUID>, Set<UUID>) = ([], [])
        for _ in 0..<40 {
          space.clock.now = space.clock.now.adding(seconds: Int64.random(in: 0...60 * 86_400, using: &random))
          let store = space.stores[Int.random(in: 0..<space.stores.count, using: &random)]
          try await Self.write(to: store, &kept, &deleted, using: &random)
          if random.oneIn(12) { await place.loseEverything() }
          if random.oneIn(20) { try space.copyStore(Int.random(in: 0..<space.stores.count, using: &random)) }
          await place.refuseSegments(random.oneIn(6) ? "The account is full" : nil)
          await place.setReachable(!random.oneIn(6))
          let saved = random.oneIn(8) ? await place.save() : nil
          if random.oneIn(2), let store = space.stores.randomElement(using: &random) {
            do {
              try await StoreSync(store).synchronize(through: MemoryTransport(place))
            } catch let error as TallyError where [.syncUnreachable, .syncRefused].contains(error.code) {}
          }
          if let saved { await place.restore(saved) }
        }
        await place.refuseSegments(nil)
        await place.setReachable(true)
        for _ in 0..<4 {
          for store in space.stores { try await StoreSync(store).synchronize(through: MemoryTransport(place)) }
        }
        try await space.expectEqualStores()
        for store in space.stores {
          let ids = Set(try store.read { try $0.view(.all).tasks.map(\.id) })
          #expect(ids == kept)
          #expect(ids.isDisjoint(with: deleted))
          #expect(try await StoreSync(store).verify() == [])
        }
      }
    }
  }

  /// Adds tasks, edits those that are never deleted, and deletes those that are never edited.
  private static func write(
    to store: TaskStore, _ kept: inout Set<UUID>, _ deleted: inout Set<UUID>, using random: inout SeededGenerator
  ) async throws {
    let (value, stays) = (Int.random(in: 0..<100, using: &random), random.oneIn(2))
    let id = random.uuid()
    let tasks = try store.read { try $0.view(.all).tasks }
    let victim = tasks.first {
      $0.title == "goes" && $0.id.uuidString.utf8.reduce(0, { $0 &+ Int($1) }) % 3 == value % 3
    }
    let edited = tasks.filter { $0.title != "goes" }.randomElement(using: &random)?.id
    try await store.write { transaction in
      try transaction.add(stays ? "stays" : "goes", to: .inbox, id: id)
      if let edited { try transaction.update(edited) { ($0.title, $0.notes) = ("stays", "notes \(value)") } }
      if let victim { try transaction.delete(victim.id) }
    }
    kept.insert(id)
    if let victim {
      kept.remove(victim.id)
      deleted.insert(victim.id)
    }
  }

  /// Two replicas write the same fields, neither knowing of the other: the value that loses is kept on both.
  @Test func everyValueThatLosesARaceIsInTheJournalOfBoth() async throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "everyValueThatLosesARace"))
    try await withFolderSpace(2) { space in
      let ids = try await space.stores[0].write { transaction in
        try (0..<4).map { try transaction.add("task \($0)", to: .inbox).id }
      }
      try await space.synchronizeAll()
      var (expected, number): (Set<String>, Int) = ([], 0)
      for _ in 0..<8 {
        var written: [[String: String]] = [[:], [:]]
        for _ in 0..<8 {
          let (author, id) = (Int.random(in: 0...1, using: &random), ids[Int.random(in: 0..<4, using: &random)])
          let (isTitle, value) = (random.oneIn(2), "value \(number)")
          number += 1
          if random.oneIn(2) { space.clock.now = space.clock.now.adding(seconds: 1) }
          try await space.stores[author].write { transaction in
            _ = try transaction.update(id) { if isTitle { $0.title = value } else { $0.notes = value } }
          }
          written[author]["\(id) \(isTitle ? "title" : "notes")"] = value
        }
        try await space.synchronizeAll()
        for (field, first) in written[0] {
          guard let second = written[1][field], let id = UUID(uuidString: String(field.prefix(36))) else { continue }
          let task = try #require(try space.stores[0].read { try $0.task(id) })
          let winner = field.hasSuffix("title") ? task.title : task.notes
          expected.insert(winner == first ? second : first)
        }
      }
      #expect(!expected.isEmpty)
      for number in 0...1 {
        let lost = Set(try await space.sync(number).conflicts().map(\.lost))
        #expect(expected.subtracting(lost) == [])
      }
    }
  }

  /// What a newer version writes is carried on by this one, over three hops and a snapshot.
  @Test func fieldsAndKindsOfANewerVersionSurviveThreeHopsAndASnapshot() async throws {
    try await withFolderSpace(4) { space in
      let (id, list) = try await space.stores[0].write { transaction in
        (try transaction.add("one", to: .inbox).id, try transaction.addList(name: "Home").id)
      }
      let objects = [
        ObjectKey(isList: false, id: id), ObjectKey(isList: true, id: list), ObjectKey(kind: 77, id: UUID()),
      ]
      try await space.synchronizeAll()
      let unknown = try await space.sync(0).sealFieldsOfANewerVersion(of: objects)
      try await space.sync(0).synchronize()
      try await space.stores[1].write { _ = try $0.update(id) { $0.title = "two" } }
      try await space.sync(1).synchronize()
      try FileManager.default.removeItem(atPath: space.folder.string)
      try FileManager.default.createDirectory(atPath: space.folder.string, withIntermediateDirectories: true)
      // The folder has only what the second replica publishes again.
      try await space.sync(1).synchronize()
      try await space.sync(2).synchronize()
      try await space.stores[2].write { _ = try $0.complete(id) }
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      for store in space.stores {
        let states = try await store.write { transaction in
          let table = try StateTable(in: transaction)
          return try objects.map { try table.state(of: $0, in: transaction) }
        }
        for (state, unknown) in zip(states, unknown) {
          for (field, register) in unknown.registers { #expect(state.registers[field] == register) }
          for (field, elements) in unknown.sets { #expect(state.sets[field] == elements) }
        }
        #expect(try await StoreSync(store).verify() == [])
      }
    }
  }

  /// A view that is followed by differences is the view that is read, also where others have made the changes.
  @Test func viewsFollowTheChangesOfOthers() async throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "viewsFollowTheChangesOfOthers"))
    try await withFolderSpace(3) { space in
      let views: [TaskView] = [.all, .inbox, .today, .upcoming, .completed(nil)]
      var followers = try views.map { try RemoteFollower($0, in: space.stores[0]) }
      for _ in 0..<45 {
        try StoreSpace.write(to: space.stores, space.clock, using: &random)
        guard random.oneIn(3), let store = space.stores.randomElement(using: &random) else { continue }
        try await StoreSync(store).synchronize()
        for index in followers.indices { try followers[index].follow(space.stores[0]) }
      }
      try await space.synchronizeAll()
      for index in followers.indices { try followers[index].follow(space.stores[0]) }
    }
  }
}

/// Follows a view by its differences, and compares it with the view that is read.
private struct RemoteFollower {
  let view: TaskView
  private var observed: ObservedView
  private var tasks: [TaskItem]

  init(_ view: TaskView, in store: TaskStore) throws {
    self.view = view
    (observed, tasks) = try store.read { transaction in
      let result = try transaction.view(view)
      return (try ObservedView(result, in: transaction), result.tasks)
    }
  }

  mutating func follow(_ store: TaskStore) throws {
    let (difference, fresh) = try store.read { transaction in
      (try observed.follow(transaction), try transaction.view(view).tasks)
    }
    tasks = difference.applied(to: tasks)
    #expect(tasks == fresh, "\(view.name)")
  }
}

extension StoreSync {
  /// Seals a register and a set that no field of this version has, and texts for objects that have none in this version.
  fileprivate func sealFieldsOfANewerVersion(of objects: [ObjectKey]) async throws -> [ObjectState] {
    try await store.write { transaction in
      var settings = try transaction.requireSyncSettings()
      var merge = try StateMerge(in: transaction)
      let (replica, time) = (settings.replicaID, transaction.now.microsecondsSince1970)
      var state = ObjectState().setting(.init(900), to: [1, 2, 3], at: time, by: replica)
      state.join(state.adding([7], to: .init(901), at: time, by: replica))
      let text = Array("longer than a digest".utf8)
      let states = objects.map { object in
        var all = object.isTask ? state : state.joined(with: state.setting(.notes, to: text, at: time, by: replica))
        if !object.isTask, !object.isList {
          all.join(all.setting(.title, to: text, at: time, by: replica))
          all.join(all.setting(.created, to: text, at: time, by: replica))
        }
        return all
      }
      for (object, state) in zip(objects, states) {
        merge.apply(state, of: object, replacing: try merge.state(of: object, in: transaction))
      }
      try merge.finish(in: &transaction)
      let changes = zip(objects, states).map { ObjectChange(object: $0, state: $1) }
      try Outbox.seal(changes, &settings, in: &transaction)
      try transaction.setSyncSettings(settings)
      return states
    }
  }
}
