import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

/// A record that an application keeps beside the tasks.
private struct Meeting: StoredRecord, Codable, Hashable {
  var id = UUID()
  var room: String
  var start: Date
  var minutes: Int

  static let byRoom = index("byRoom") { ($0.room, $0.start) }
  static let byStart = index("byStart", unique: true) { $0.start }
  static let booked = sum("booked", of: \.minutes, over: byRoom, totals: true)
  static let collection = Collection<Meeting>("meetings") {
    byRoom
    byStart
    booked
  }
}

extension TaskStore.Configuration {
  fileprivate static var withMeetings: Self {
    var configuration = TaskStore.Configuration.testing()
    configuration.schema = Schema(Meeting.collection)
    return configuration
  }
}

private let noon = Date(timeIntervalSince1970: 1_795_255_200)

private func meeting(_ room: String, hour: Int = 0, minutes: Int = 30) -> Meeting {
  Meeting(room: room, start: noon.addingTimeInterval(Double(hour) * 3_600), minutes: minutes)
}

/// What a store has of meetings.
private struct Meetings: Equatable {
  var all: Set<Meeting> = []
  var inOrder: [Meeting] = []
  var total: Int64 = 0

  init(of store: TaskStore) throws {
    self = try store.read { try Meetings(of: $0) }
  }

  init(of transaction: borrowing StoreReadTransaction) throws {
    try transaction.forEach(Meeting.self) {
      all.insert($0)
      return true
    }
    inOrder = try transaction.records(in: Meeting.byStart)
    total = try transaction.total(Meeting.booked)
  }
}

/// Collections of an application in a store of tasks.
@Suite struct CollectionTests {
  @Test func aTaskAndARecordAreWrittenUndoneAndRedoneTogether() throws {
    try withStore(.withMeetings) { store in
      let empty = try Meetings(of: store)
      let (task, kept) = try store.writeAndWait { transaction in
        let kept = meeting("red")
        #expect(try transaction.save(kept))
        #expect(try transaction.records(in: Meeting.byRoom, "red") == [kept])
        return (try transaction.add("Prepare"), kept)
      }
      let full = try Meetings(of: store)
      #expect(full.inOrder == [kept] && full.total == 30)
      #expect(try store.read { try $0.history(limit: 1)[0].records } == ["meetings": 1])
      let undone = try store.writeAndWait { try $0.undo() }
      #expect(undone.records == ["meetings": 1] && undone.deletedTasks.map(\.id) == [task.id])
      #expect(try Meetings(of: store) == empty)
      #expect(try store.read { try $0.task(task.id) } == nil)
      #expect(try store.writeAndWait { try $0.redo() }.tasks.map(\.id) == [task.id])
      #expect(try Meetings(of: store) == full)
    }
  }

  @Test func aRefusedUndoChangesNeitherTasksNorRecords() throws {
    try withStore(.withMeetings) { store in
      var first = meeting("red")
      let change = try store.writeAndWait { [first] transaction in
        try transaction.save(first)
        try transaction.add("Prepare")
        return try transaction.changeID
      }
      first.minutes = 60
      try store.writeAndWait { [first] in _ = try $0.save(first) }
      let before = try (Meetings(of: store), contents(of: store))
      // The write goes on: what was refused has changed nothing.
      try store.writeAndWait { transaction in
        expect(.undoConflict) { _ = try transaction.undo(change) }
      }
      #expect(try Meetings(of: store) == before.0)
      #expect(try contents(of: store) == before.1)
    }
  }

  @Test func anUndoThatNeedsATakenKeyIsRefusedAsAWhole() throws {
    try withStore(.withMeetings) { store in
      let (first, other) = (meeting("red"), meeting("blue"))
      let change = try store.writeAndWait { transaction in
        try transaction.save(first)
        return try transaction.changeID
      }
      let deletion = try store.writeAndWait { transaction in
        try transaction.delete(Meeting.self, first.id)
        try transaction.add("Cancelled the meeting")
        return try transaction.changeID
      }
      #expect(change != deletion)
      try store.writeAndWait { _ = try $0.save(other) }
      let before = try (Meetings(of: store), contents(of: store))
      // Both meetings would begin at noon.
      try store.writeAndWait { transaction in
        expect(.undoConflict) { _ = try transaction.undo(deletion) }
      }
      #expect(try Meetings(of: store) == before.0)
      #expect(try contents(of: store) == before.1)
    }
  }

  @Test func keysThatTwoRecordsExchangeComeBack() throws {
    try withStore(.withMeetings) { store in
      let (first, second) = (meeting("red"), meeting("blue", hour: 1))
      try store.writeAndWait { try $0.insert(contentsOf: [first, second]) }
      let before = try Meetings(of: store)
      try store.writeAndWait { transaction in
        try transaction.delete(Meeting.self, [first.id, second.id])
        try transaction.insert(
          contentsOf: [
            Meeting(id: first.id, room: "red", start: second.start, minutes: 1),
            Meeting(id: second.id, room: "blue", start: first.start, minutes: 2),
          ])
      }
      try store.writeAndWait { try $0.undo() }
      #expect(try Meetings(of: store) == before)
    }
  }

  @Test func aWriteThatThrowsLeavesTheOthersOfItsCommit() async throws {
    try await withStore(.withMeetings) { store in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<24 {
          group.addTask {
            do {
              try await store.write { transaction in
                try transaction.save(meeting("red", hour: number, minutes: 1))
                _ = try transaction.add("\(number)")
                if number.isMultiple(of: 3) { throw CancellationError() }
              }
            } catch is CancellationError {
              // The others stay.
            }
          }
        }
        try await group.waitForAll()
      }
      let found = try Meetings(of: store)
      #expect(found.all.count == 16 && found.total == 16)
      #expect(try store.read { try $0.taskCount } == 16)
    }
  }

  @Test func anotherStoreOfTheSameFileKeepsWhatItDoesNotKnow() throws {
    try withTemporaryDirectory { directory in
      let place = directory.appending("store")
      let store = try TaskStore(at: place, configuration: .withMeetings)
      let kept = meeting("red")
      try store.writeAndWait { _ = try $0.save(kept) }
      try store.close()
      let plain = try TaskStore(at: place, configuration: .testing())
      expect(.invalidIndex) { try plain.writeAndWait { _ = try $0.save(kept) } }
      #expect(try plain.read { try $0.history()[0].records } == ["": 1])
      expect(.undoConflict) { try plain.writeAndWait { _ = try $0.undo() } }
      let report = try plain.verify()
      #expect(report.isSound && report.unknownCollections == ["meetings"])
      try plain.writeAndWait { _ = try $0.add("Another") }
      try plain.writeAndWait { _ = try $0.undo() }
      try plain.close()
      let again = try TaskStore(at: place, configuration: .withMeetings)
      #expect(try Meetings(of: again).all == [kept])
      #expect(try again.verify().recordCount == 1)
      try checkInvariants(of: again)
      try again.close()
    }
  }

  @Test func onlyAStoreWithASchemaHasTheFeature() throws {
    try withTemporaryDirectory { directory in
      let (place, url) = (directory.appending("store"), URL(filePath: directory.appending("store").string))
      func features() throws -> StoreFeatures {
        let environment = try LMDBEnvironment(path: place, options: .init())
        defer { try? environment.close() }
        return try #require(try StoreOpening.header(in: environment)).requiredFeatures
      }
      try TaskStore(at: place, configuration: .testing()).close()
      #expect(try features() == [.taggedRecords])
      var readOnly = TaskStore.Configuration.withMeetings
      readOnly.isReadOnly = true
      let reading = try TaskStore(at: place, configuration: readOnly)
      expect(.invalidIndex) { _ = try reading.read { try $0.count(Meeting.self) } }
      try reading.close()
      #expect(try features() == [.taggedRecords])
      try TaskStore(at: place, configuration: .withMeetings).close()
      #expect(try features() == [.taggedRecords, .ownCollections])
      expect(.notAStore) { _ = try Store(at: url, schema: Schema(Meeting.collection)) }
      let other = directory.appending("other")
      try Store(at: URL(filePath: other.string), schema: Schema(Meeting.collection)).close()
      expect(.notAStore) { _ = try TaskStore(at: other, configuration: .withMeetings) }
    }
  }

  @Test func aSumThatOverflowsFailsItsOwnWriteAlone() async throws {
    try await withStore(.withMeetings) { store in
      let large = Meeting(room: "red", start: noon, minutes: .max)
      _ = try await store.write { try $0.save(large) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<20 {
          group.addTask {
            if number == 7 {
              let other = Meeting(room: "red", start: noon.addingTimeInterval(1), minutes: 1)
              await #expect(throws: TallyError.self) { try await store.write { _ = try $0.save(other) } }
            } else {
              _ = try await store.write { try $0.add("\(number)") }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try store.read { try $0.taskCount } == 19)
      #expect(try Meetings(of: store).all == [large])
    }
  }

  @Test func aRepairRefusesWhatItCannotKnow() throws {
    try withTemporaryDirectory { directory in
      let place = directory.appending("store")
      let store = try TaskStore(at: place, configuration: .withMeetings)
      try store.writeAndWait { _ = try $0.save(meeting("red")) }
      try store.close()
      for table in ["@meetings", "catalogue"] {
        var options = LMDBEnvironment.Options()
        options.maxDatabases = 64
        let environment = try LMDBEnvironment(path: place, options: options)
        try environment.write { transaction in
          try Database<[UInt8], [UInt8]>(opening: table, creating: false, in: &transaction).drop(in: &transaction)
        }
        try environment.close()
        expect(.damagedStore) { _ = try TaskStore.repair(at: place, configuration: .withMeetings) }
      }
    }
  }

  @Test func aRepairOfALostHeaderGoesOnAfterTheRecords() throws {
    try withTemporaryDirectory { directory in
      let place = directory.appending("store")
      let store = try TaskStore(at: place, configuration: .withMeetings)
      try store.writeAndWait { _ = try $0.add("A task") }
      for hour in 0..<20 { try store.writeAndWait { _ = try $0.save(meeting("red", hour: hour)) } }
      let before = try Meetings(of: store)
      try store.close()
      do {
        let environment = try LMDBEnvironment(path: place, options: .init())
        try environment.write { transaction in
          let meta = try StoreHeader.table(creatingIn: &transaction)
          _ = try meta.remove(forKey: .header, in: &transaction)
        }
        try environment.close()
      }
      // The program that repairs the store does not know the collection.
      try TaskStore.repair(at: place, configuration: .testing())
      let repaired = try TaskStore(at: place, configuration: .withMeetings)
      #expect(try Meetings(of: repaired) == before)
      var changed = before.inOrder[19]
      changed.minutes = 1
      try repaired.writeAndWait { [changed] in _ = try $0.save(changed) }
      try checkInvariants(of: repaired)
      try repaired.close()
    }
  }

  @Test func damageIsFoundAndRepaired() throws {
    try withTemporaryDirectory { directory in
      let place = directory.appending("store")
      let store = try TaskStore(at: place, configuration: .withMeetings)
      try store.writeAndWait { try $0.insert(contentsOf: (0..<50).map { meeting("red", hour: $0) }) }
      try store.writeAndWait { _ = try $0.add("A task") }
      let before = try Meetings(of: store)
      try store.close()
      do {
        var options = LMDBEnvironment.Options()
        options.maxDatabases = 64
        let environment = try LMDBEnvironment(path: place, options: options)
        try environment.write { transaction in
          let rows = try Database<[UInt8], [UInt8]>(opening: "@meetings.byRoom", creating: false, in: &transaction)
          try rows.removeAll(in: &transaction)
        }
        try environment.close()
      }
      let found = try TaskStore.verify(at: place, configuration: .withMeetings)
      #expect(found.faultCount == 50 && found.faults.allSatisfy { $0.table == "meetings.byRoom" })
      #expect(try TaskStore.verify(at: place, configuration: .testing()).isSound)
      let repair = try TaskStore.repair(at: place, configuration: .withMeetings)
      #expect(!repair.before.isSound && repair.after.isSound)
      let repaired = try TaskStore(at: place, configuration: .withMeetings)
      #expect(try Meetings(of: repaired) == before)
      // Nothing was set aside, so the history still fits.
      try repaired.writeAndWait { _ = try $0.undo() }
      try repaired.writeAndWait { _ = try $0.undo() }
      #expect(try Meetings(of: repaired).all.isEmpty)
      try repaired.close()
    }
  }

  @Test func copiesHaveTheCollections() throws {
    try withTemporaryDirectory { directory in
      let place = directory.appending("store")
      let store = try TaskStore(at: place, configuration: .withMeetings)
      try store.writeAndWait { try $0.insert(contentsOf: (0..<50).map { meeting("red", hour: $0) }) }
      let before = try Meetings(of: store)
      let (backup, snapshot) = (directory.appending("backup"), directory.appending("snapshot"))
      try store.backup(to: backup)
      try store.publishSnapshot(to: snapshot)
      let reading = try TaskStore(snapshotAt: snapshot, configuration: .withMeetings)
      #expect(try Meetings(of: reading) == before)
      try reading.close()
      try store.writeAndWait { _ = try $0.delete(Meeting.self, before.inOrder.map(\.id)) }
      try store.close()
      try TaskStore.restore(from: backup, to: place, configuration: .withMeetings)
      try TaskStore.compact(at: place, configuration: .withMeetings)
      let restored = try TaskStore(at: place, configuration: .withMeetings)
      #expect(try Meetings(of: restored) == before)
      try checkInvariants(of: restored)
      try restored.close()
    }
  }

  @Test func observersSeeRecords() async throws {
    try await withStore(.withMeetings) { store in
      var seen = store.values { try $0.records(in: Meeting.byStart).map(\.room) }.makeAsyncIterator()
      #expect(try await seen.next() == [])
      let position = try store.read { try $0.position }
      let kept = meeting("red")
      try await store.write { _ = try $0.save(kept) }
      #expect(try await seen.next() == ["red"])
      let changes = try store.read { try $0.recordChanges(since: position) }
      #expect(try changes.isComplete && changes.changes(of: Meeting.self).inserted == [kept.id])
      #expect(try store.read { try $0.changes(since: position) }.tasks.isEmpty)
    }
  }

  @Test func randomWritesOfBothAreUndoneOneByOne() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "tasks and records"))
    try withStore(.withMeetings) { store in
      var states = [try (Meetings(of: store), contents(of: store))]
      for _ in 0..<40 {
        try Self.write(to: store, using: &generator)
        states.append(try (Meetings(of: store), contents(of: store)))
      }
      for state in states.dropLast().reversed() {
        try store.writeAndWait { _ = try $0.undo() }
        #expect(try Meetings(of: store) == state.0)
        #expect(try contents(of: store) == state.1)
      }
      for state in states.dropFirst() {
        try store.writeAndWait { _ = try $0.redo() }
        #expect(try Meetings(of: store) == state.0)
        #expect(try contents(of: store) == state.1)
      }
    }
  }

  /// Makes a write that changes at least one record, and perhaps tasks.
  private static func write(to store: TaskStore, using generator: inout SeededGenerator) throws {
    let known = try Meetings(of: store)
    let free = (0..<1_000).map { meeting("red", hour: $0).start }.filter { start in
      !known.all.contains { $0.start == start }
    }
    let start = free.randomElement(using: &generator) ?? noon
    let (choice, target) = (Int.random(in: 0..<4, using: &generator), known.inOrder.randomElement(using: &generator))
    let addsTask = Bool.random(using: &generator)
    let room = ["red", "blue"].randomElement(using: &generator) ?? ""
    try store.writeAndWait { transaction in
      if addsTask { _ = try transaction.add("Task \(choice)") }
      switch (choice, target) {
      case (0, let target?): _ = try transaction.delete(Meeting.self, target.id)
      case (1, let target?):
        _ = try transaction.update(Meeting.self, target.id) { ($0.start, $0.minutes) = (start, $0.minutes + 1) }
      default: _ = try transaction.save(Meeting(room: room, start: start, minutes: choice))
      }
    }
  }
}
