import Foundation
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Rules that the first version of the program cannot read travel in a register of their own.
struct RuleTests {
  private static let plain = "FREQ=WEEKLY;BYDAY=MO"
  private static let new = "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1;EXDATE=20270130"

  /// Runs a body with two devices that have a task which repeats.
  private func withTask(
    repeating rule: String, _ body: (FolderSpace, UUID) async throws -> Void
  ) async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { transaction in
        try transaction.add("rent", to: .today) { $0.recurrence = try Recurrence(text: rule) }.id
      }
      try await space.synchronizeAll()
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await body(space, id)
      try await space.expectEqualStores()
    }
  }

  private func registers(_ id: UUID, in store: TaskStore) throws -> (old: Register?, new: Register?) {
    let key = ObjectKey(isList: false, id: id)
    let state = try store.readSynchronization { try StateTable(in: $0).state(of: key, in: $0) }
    return (state.registers[.recurrence], state.registers[.rule])
  }

  private func rules(_ id: UUID, in space: FolderSpace) throws -> [String?] {
    try space.stores.map { store in try store.read { try $0.task(id)?.recurrence?.text } }
  }

  @Test func aRuleThatEveryVersionReadsHasNoNewRegister() async throws {
    try await withTask(repeating: Self.plain) { space, id in
      try await space.stores[1].write { _ = try $0.update(id) { $0.recurrence = try Recurrence(text: "FREQ=DAILY") } }
      try await space.synchronizeAll()
      for store in space.stores {
        let (old, new) = try registers(id, in: store)
        #expect(new == nil && old?.value.isEmpty == false)
      }
      #expect(try rules(id, in: space) == ["FREQ=DAILY", "FREQ=DAILY"])
    }
  }

  @Test func aNewRuleLeavesTheOldRegisterEmpty() async throws {
    try await withTask(repeating: Self.new) { space, id in
      let (old, new) = try registers(id, in: space.stores[1])
      #expect(old?.value.isEmpty ?? true)
      #expect(new?.value.isEmpty == false)
      #expect(try rules(id, in: space) == [Self.new, Self.new])
      let places = try space.stores.map { store in try store.read { try $0.task(id)?.series } }
      #expect(places[0] == places[1] && places[0] != nil)
    }
  }

  @Test(
    arguments: [(plain, new), (new, plain), (new, "FREQ=YEARLY;BYMONTH=3,9;BYMONTHDAY=1"), (new, nil)]
      as [(String, String?)])
  func aRuleIsReplaced(first: String, second: String?) async throws {
    try await withTask(repeating: first) { space, id in
      let recurrence = try second.map { try Recurrence(text: $0) }
      try await space.stores[1].write { _ = try $0.update(id) { $0.recurrence = recurrence } }
      try await space.synchronizeAll()
      #expect(try rules(id, in: space) == [second, second])
      // Only one of the registers says something.
      let (old, new) = try registers(id, in: space.stores[0])
      #expect([old, new].count { $0.map { !$0.value.isEmpty } ?? false } == (second == nil ? 0 : 1))
    }
  }

  /// The former register of a task that did not repeat is emptied, too, since another device may have set it meanwhile.
  @Test func aNewRuleReplacesAnEarlierOneOfATaskThatDidNotRepeat() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("rent", to: .today).id }
      try await space.synchronizeAll()
      for (store, rule) in zip(space.stores, [Self.plain, Self.new]) {
        space.clock.now = space.clock.now.adding(seconds: 60)
        try await store.write { _ = try $0.update(id) { $0.recurrence = try Recurrence(text: rule) } }
      }
      for _ in 0..<2 { try await space.synchronizeAll() }
      try await space.expectEqualStores()
      #expect(try rules(id, in: space) == [Self.new, Self.new])
      for store in space.stores { #expect(try registers(id, in: store).old?.value == []) }
    }
  }

  /// A device of the first version, which knows one register only, sets a rule where a newer one has set one that it
  /// cannot see.
  @Test func theLaterRuleOfAnOldDeviceWins() async throws {
    try await withFolderSpace(3) { space in
      let task = try await space.stores[0].write { transaction in
        try transaction.add("rent", to: .today) { $0.recurrence = try Recurrence(text: Self.new) }
      }
      try await space.synchronizeAll()
      space.clock.now = space.clock.now.adding(seconds: 60)
      var written = task
      written.recurrence = try Recurrence(text: Self.plain)
      let (value, time) = (written.value(of: .recurrence), space.clock.now.microsecondsSince1970)
      try await space.stores[2].write { transaction in
        var settings = try transaction.requireSyncSettings()
        let key = ObjectKey(isList: false, id: task.id)
        let known = try StateTable(in: transaction).state(of: key, in: transaction)
        let state = known.setting(.recurrence, to: value, at: time, by: settings.replicaID)
        try Outbox.seal([ObjectChange(object: key, state: state)], &settings, in: &transaction)
        try transaction.setSyncSettings(settings)
      }
      try await space.sync(2).synchronize()
      let others = Array(space.stores.prefix(2))
      func rules() throws -> [String?] {
        try others.map { store in try store.read { try $0.task(task.id)?.recurrence?.text } }
      }
      for index in others.indices { try await space.sync(index).synchronize() }
      #expect(try rules() == [Self.plain, Self.plain])
      // A rule that a person sets after that wins again.
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[0].write { _ = try $0.update(task.id) { $0.recurrence = try Recurrence(text: Self.new) } }
      for index in others.indices { try await space.sync(index).synchronize() }
      #expect(try rules() == [Self.new, Self.new])
    }
  }

  /// Of two rules that are set at once on two devices, the later one wins, and the other is among the conflicts.
  @Test(arguments: [(plain, new), (new, plain), (new, "FREQ=YEARLY;BYMONTH=3,9;BYMONTHDAY=1")])
  func theRuleThatLosesIsAConflict(earlier: String, later: String) async throws {
    try await withTask(repeating: "FREQ=DAILY") { space, id in
      let texts = [earlier, later]
      for (store, text) in zip(space.stores, texts) {
        try await store.write { _ = try $0.update(id) { $0.recurrence = try Recurrence(text: text) } }
        space.clock.now = space.clock.now.adding(seconds: 60)
      }
      try await space.synchronizeAll()
      #expect(try rules(id, in: space) == [later, later])
      let conflicts = try await space.sync(0).conflicts().filter { $0.field == "recurrence" }
      #expect(conflicts.count == 1)
      #expect(conflicts.first?.lost == earlier, "\(conflicts)")
      let first = try #require(conflicts.first)
      _ = try await space.sync(0).restoreConflict(first.id)
      try await space.synchronizeAll()
      #expect(try rules(id, in: space) == [earlier, earlier])
    }
  }

  /// The next task of such a series is generated by both devices, and is one task.
  @Test func twoDevicesMakeOneNextTask() async throws {
    try await withTask(repeating: Self.new) { space, id in
      for store in space.stores { try await store.write { _ = try $0.complete(id) } }
      try await space.synchronizeAll()
      for store in space.stores {
        let next = try store.read { transaction in
          try transaction.task(id).flatMap { try transaction.successor(of: $0) }
        }
        #expect(next?.recurrence?.text == Self.new && next?.series?.index == 1 && next?.isCompleted == false)
        #expect(try store.read { try $0.taskCount } == 2)
      }
    }
  }
}
