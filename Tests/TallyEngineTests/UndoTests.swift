import Foundation
import Synchronization
import TallyEngine
import Testing

/// A record with a key that no other one has.
private struct Slot: StoredRecord, Codable, Hashable {
  let id: Int
  var number: Int

  static let byNumber = index("byNumber", unique: true) { $0.number }
  static let collection = Collection<Slot>("slots") { byNumber }
}

struct EngineUndoTests {
  private static let start = Date(timeIntervalSince1970: 1_700_000_000)
  private let workout = Workout(sport: "run", start: start, minutes: 30)

  @Test func undoAndRedoWorkAcrossRestarts() async throws {
    let temporary = try TemporaryStore()
    let workout = workout
    try await temporary.store.write { writer in
      try writer.setActionName("Add")
      try writer.save(workout)
    }
    try await temporary.store.write { try $0.update(Workout.self, workout.id) { $0.minutes = 60 } }
    #expect(try temporary.store.read { try $0.history() }.map(\.actionName) == [nil, "Add"])
    try temporary.reopen()
    #expect(try await temporary.store.undo().recordCount == 1)
    #expect(try temporary.store.read { try $0.record(Workout.self, workout.id) }?.minutes == 30)
    #expect(try temporary.store.read { try $0.total(Workout.trained, for: "run") } == 30)
    #expect(try await temporary.store.undo().actionName == "Add")
    #expect(try temporary.store.read { try $0.count(Workout.self) } == 0)
    await #expect(throws: TallyError.self) { try await temporary.store.undo() }
    try temporary.reopen()
    try await temporary.store.redo()
    try await temporary.store.redo()
    #expect(try temporary.store.read { try $0.record(Workout.self, workout.id) }?.minutes == 60)
    await #expect(throws: TallyError.self) { try await temporary.store.redo() }
    #expect(try temporary.store.verify().isSound)
  }

  @Test func anEarlierWriteIsUndoneUnlessALaterOneConcernsTheSameRecord() throws {
    let temporary = try TemporaryStore()
    let other = Workout(sport: "swim", start: Self.start, minutes: 5)
    try temporary.store.writeAndWait { try $0.save(workout) }
    try temporary.store.writeAndWait { try $0.save(other) }
    let first = try #require(try temporary.store.read { try $0.history() }.last?.id)
    try temporary.store.writeAndWait { try $0.undo(first) }
    #expect(try temporary.store.read { try $0.count(Workout.self) } == 1)
    try temporary.store.writeAndWait { try $0.redo() }
    try temporary.store.writeAndWait { try $0.update(Workout.self, workout.id) { $0.minutes = 1 } }
    let error = #expect(throws: TallyError.self) { try temporary.store.writeAndWait { try $0.undo(first) } }
    #expect(error?.code == .undoConflict)
    #expect(error?.message.contains("workouts") == true)
  }

  @Test func whatNobodyDidIsSkipped() throws {
    let temporary = try TemporaryStore()
    let position = Workout(sport: "position", start: Self.start, minutes: 0)
    try temporary.store.writeAndWait { try $0.save(workout) }
    for minute in 1...1_100 {
      try temporary.store.writeAndWait(undoable: false) { writer in
        var position = position
        position.minutes = minute
        try writer.save(position)
      }
    }
    #expect(try temporary.store.read { try $0.history() }.count == 1)
    try temporary.store.writeAndWait { try $0.undo() }
    #expect(try temporary.store.read { try $0.record(Workout.self, workout.id) } == nil)
    #expect(try temporary.store.read { try $0.record(Workout.self, position.id) }?.minutes == 1_100)
  }

  @Test func anUndoNeverLosesWhatAnotherWriteHasChanged() throws {
    let temporary = try TemporaryStore()
    try temporary.store.writeAndWait { try $0.save(workout) }
    try temporary.store.writeAndWait { try $0.update(Workout.self, workout.id) { $0.minutes = 60 } }
    try temporary.store.writeAndWait(undoable: false) {
      try $0.update(Workout.self, workout.id) { $0.notes = "synced" }
    }
    let error = #expect(throws: TallyError.self) { try temporary.store.writeAndWait { try $0.undo() } }
    #expect(error?.code == .undoConflict)
    // With a merge, the undo restores what it must.
    try temporary.reopen(
      Schema(
        Collection<Workout>("workouts") {
          Workout.bySport
          Workout.trained
        } merge: { restored, current in
          var merged = restored
          merged.notes = current.notes
          return merged
        }))
    try temporary.store.writeAndWait { try $0.undo() }
    let merged = try #require(try temporary.store.read { try $0.record(Workout.self, workout.id) })
    #expect(merged.minutes == 30 && merged.notes == "synced")
    #expect(try temporary.store.verify().isSound)
  }

  @Test func anUndoGivesExchangedKeysBack() throws {
    let temporary = try TemporaryStore(Schema(Slot.collection))
    let (first, second) = (Slot(id: 1, number: 10), Slot(id: 2, number: 20))
    try temporary.store.writeAndWait { try $0.insert(contentsOf: [first, second]) }
    try temporary.store.writeAndWait { writer in
      try writer.delete(Slot.self, [1, 2])
      try writer.insert(contentsOf: [Slot(id: 1, number: 20), Slot(id: 2, number: 10)])
    }
    try temporary.store.writeAndWait { try $0.undo() }
    #expect(try temporary.store.read { try $0.records(in: Slot.byNumber) } == [first, second])
    #expect(try temporary.store.verify().isSound)
  }

  @Test func anUndoThatNeedsATakenKeyIsRefusedAsAWhole() throws {
    let temporary = try TemporaryStore(Schema(Workout.collection, Slot.collection))
    try temporary.store.writeAndWait { writer in
      try writer.save(workout)
      try writer.save(Slot(id: 1, number: 10))
    }
    try temporary.store.writeAndWait { writer in
      try writer.delete(Workout.self, workout.id)
      try writer.delete(Slot.self, 1)
    }
    let deletion = try #require(try temporary.store.read { try $0.undoableChange })
    try temporary.store.writeAndWait { try $0.save(Slot(id: 2, number: 10)) }
    try temporary.store.writeAndWait { writer in
      let error = #expect(throws: TallyError.self) { try writer.undo(deletion) }
      #expect(error?.code == .undoConflict)
      // The writer goes on: what was refused has changed nothing.
      try writer.save(Slot(id: 3, number: 30))
    }
    #expect(try temporary.store.read { try $0.count(Workout.self) } == 0)
    #expect(try temporary.store.read { try $0.records(in: Slot.byNumber).map(\.id) } == [2, 3])
    #expect(try temporary.store.verify().isSound)
  }

  @Test func concurrentWritesShareCommitsAndFailAlone() async throws {
    let temporary = try TemporaryStore()
    let store = temporary.store
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          _ = try? await store.write { writer in
            try writer.save(Workout(sport: "run", start: Self.start + Double(number), minutes: number))
            if number.isMultiple(of: 5) { throw CancellationError() }
          }
        }
      }
    }
    #expect(try store.read { try $0.count(Workout.self) } == 160)
    #expect(
      try store.read { try $0.total(Workout.trained) } == (0..<200).filter { $0 % 5 != 0 }.reduce(0) { $0 + Int64($1) })
    #expect(try store.verify().isSound)
  }
}

struct EngineObservationTests {
  private static let start = Date(timeIntervalSince1970: 1_700_000_000)

  @Test(.timeLimit(.minutes(30))) func aClosureRunsOnlyForWhatItHasRead() async throws {
    let temporary = try TemporaryStore()
    let store = temporary.store
    let runCount = Mutex(0)
    let observation = store.values { reader in
      runCount.withLock { $0 += 1 }
      return try reader.records(in: Workout.bySport, "run").map(\.minutes)
    }
    var iterator = observation.makeAsyncIterator()
    #expect(try await iterator.next() == [])
    for number in 0..<50 {
      try await store.write { try $0.save(Workout(sport: "swim", start: Self.start, minutes: number)) }
    }
    try await store.write { try $0.save(Workout(sport: "run", start: Self.start, minutes: 7)) }
    #expect(try await iterator.next() == [7])
    #expect(runCount.withLock { $0 } == 2)
  }

  @Test(.timeLimit(.minutes(30))) func theFirstRecordIsSeenWithItsNewFields() async throws {
    let temporary = try TemporaryStore()
    let store = temporary.store
    var iterator = store.observe(Workout.bySport, "run").makeAsyncIterator()
    #expect(try await iterator.next() == [])
    let workout = Workout(sport: "run", start: Self.start, minutes: 7, rating: 4)
    try await store.write { _ = try $0.save(workout) }
    #expect(try await iterator.next() == [workout])
  }

  @Test(.timeLimit(.minutes(30))) func noChangeIsLost() async throws {
    let temporary = try TemporaryStore()
    let store = temporary.store
    let start = try store.read { try $0.position }
    let some = (0..<10).map { Workout(sport: "run", start: Self.start, minutes: $0) }
    for workout in some { try await store.write { try $0.save(workout) } }
    try await store.write { try $0.delete(Workout.self, some[0].id) }
    var iterator = try store.changes(since: start).makeAsyncIterator()
    let changes = try #require(try await iterator.next())
    #expect(changes.isComplete)
    #expect(try changes.changes(of: Workout.self).inserted == Set(some.dropFirst().map(\.id)))
    try await store.write { try $0.delete(Workout.self, some[1].id) }
    let more = try #require(try await iterator.next())
    #expect(try more.changes(of: Workout.self).deleted == [some[1].id])
  }
}
