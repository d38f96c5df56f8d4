import Foundation
import TallyTestSupport
import Testing

@testable import Tally

struct PendingChangeTests {
  @Test func aWriteNotesThePartsThatItChanges() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let task = try store.writeAndWait { try $0.add("one", to: .inbox) }
      try store.writeAndWait { try $0.beginSynchronizing() }
      #expect(try pending(store).isEmpty, "earlier writes are not changes")
      try store.writeAndWait { try $0.update(task.id) { $0.title = "two" } }
      let first = clock.now.microsecondsSince1970
      clock.now = clock.now.adding(seconds: 5)
      try store.writeAndWait { transaction in
        try transaction.update(task.id) { $0.dueDay = CalendarDay(clamping: 20_000) }
        try transaction.complete(task.id)
      }
      let second = clock.now.microsecondsSince1970
      let noted = try #require(try pending(store).first)
      #expect(
        noted
          == PendingObject(
            kind: .task, id: task.id, times: [.title: first, .due: second, .completion: second], detached: []))
    }
  }

  @Test func creationAndDeletionAreNoted() throws {
    try withStore { store in
      try store.writeAndWait { try $0.beginSynchronizing() }
      let list = try store.writeAndWait { try $0.addList(name: "Home") }
      let task = try store.writeAndWait { try $0.add("one", to: .inbox) { $0.listID = list.id } }
      // Nobody has chosen the default colour.
      #expect(try parts(store, of: list.id) == [.life, .title, .order, .created])
      #expect(try parts(store, of: task.id) == [.life, .title, .order, .created, .list])
      _ = try store.writeAndWait { try $0.takePending(limit: 10) }
      try store.writeAndWait { try $0.delete(task.id) }
      #expect(try parts(store, of: task.id) == .life)
      try store.writeAndWait { _ = try $0.undo() }
      #expect(try parts(store, of: task.id) == .updated, "nothing was handed over")
      try store.writeAndWait { try $0.delete(task.id) }
      _ = try store.writeAndWait { try $0.takePending(limit: 10) }
      try store.writeAndWait { _ = try $0.undo() }
      #expect(try parts(store, of: task.id) == .life, "it comes back as it was")
    }
  }

  @Test func makingRoomIsNotAMoveOfTheUser() throws {
    try withStore { store in
      let tasks = try store.writeAndWait { transaction in
        try (0..<3).map { number in try transaction.add("\(number)", to: .inbox) { $0.sortOrder = Int64(number) } }
      }
      try store.writeAndWait { try $0.beginSynchronizing() }
      try store.writeAndWait { _ = try $0.move(tasks[2].id, before: tasks[1].id) }
      let noted = try tasks.map { try parts(store, of: $0.id) }
      #expect(noted.contains(.renumbering) && noted[2]?.contains(.order) == true, "\(noted)")
    }
  }

  @Test func aStoreThatDoesNotSynchroniseNotesNothing() throws {
    try withStore { store in
      _ = try store.writeAndWait { try $0.add("one", to: .inbox) }
      #expect(try pending(store).isEmpty)
      #expect(try store.read { try $0.header().writerFeatures } == [])
    }
  }

  /// Every difference between two commits is noted with the time of the later one.
  @Test func randomTransactionsAreNoted() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "randomTransactionsAreNoted"))
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      var history = RandomHistory(store: store, clock: clock)
      for _ in 0..<50 { try history.step(using: &generator) }
      try store.writeAndWait { try $0.beginSynchronizing() }
      var (expected, kept): ([UUID: [SyncFields: Int64]], [UUID: TaskItem]) = ([:], [:])
      var (writes, cameOrWent): (Set<Int64>, [UUID: SyncFields]) = ([], [:])
      for _ in 0..<200 {
        let before = history.model.tasks
        try history.step(using: &generator)
        let now = clock.now.microsecondsSince1970
        writes.insert(now)
        for id in Set(before.keys).union(history.model.tasks.keys) {
          let (old, new) = (before[id], history.model.tasks[id])
          guard old != nil || new != nil, old != new else { continue }
          var (changed, time) = (TaskItem.changes(from: old, to: new), now)
          if let old, new == nil { kept[id] = old }
          if old == nil, let new {
            if let kept = kept[id] {
              // It comes back: unchanged parts are not written.
              changed = TaskItem.differences(kept, new).subtracting(TaskItem.places(kept, shownAs: new)).union(.life)
            } else {
              time = min(now, new.updatedAt.microsecondsSince1970)
            }
          }
          for part in changed.parts { expected[id, default: [:]][part] = time }
          let comesOrGoes = old == nil || new == nil
          if comesOrGoes { cameOrWent[id, default: []].formUnion(changed) } else { cameOrWent[id]?.subtract(changed) }
        }
      }
      let noted = Dictionary(
        try pending(store).filter { $0.kind != .series }.map { ($0.id, $0.times) }
      ) { first, _ in first }
      for (id, times) in expected {
        // What is gone has no time of change.
        for (part, time) in times where part != .updated || history.model.tasks[id] != nil {
          // A write may change a part and change it back. A comparison shows the time of change alone, and the part is noted.
          let known = part == .updated ? noted[id]?.values.max() : noted[id]?[part]
          let noted = try #require(known, "\(part) of \(id)")
          // The program makes the parts of the next task of a series, whose id is derived (version 8), and the first day of a
          // series, and takes that task back. What an earlier write changed counts in their place, even if that write made the
          // task and took it back at once. A change of a task that stays counts by itself.
          let mayBeGenerated = id.uuid.6 >> 4 == 8 || part == .scheduledDate
          let mayBeOfProgram = part == .scheduledDate || cameOrWent[id]?.contains(part) == true
          let isOfProgram = GeneratedTime.contains(noted) || mayBeOfProgram && writes.contains(noted)
          #expect(noted >= time || mayBeGenerated && isOfProgram, "\(part) of \(id)")
        }
      }
      let changed = Set(expected.keys)
      #expect(changed.count > 20)
    }
  }

  private func pending(_ store: TaskStore) throws -> [PendingObject] {
    struct RolledBack: Error {}
    var found: [PendingObject] = []
    do {
      try store.writeAndWait { transaction in
        found = try transaction.takePending(limit: .max)
        throw RolledBack()
      }
    } catch is RolledBack {}
    return found
  }

  private func parts(_ store: TaskStore, of id: UUID) throws -> SyncFields? {
    try pending(store).first { $0.id == id }.map { SyncFields($0.times.keys) }
  }
}

extension SyncFields {
  fileprivate var parts: [SyncFields] { (0..<32).map { SyncFields(rawValue: 1 << $0) }.filter(contains) }
}
