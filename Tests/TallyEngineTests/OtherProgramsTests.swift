import Foundation
import SystemPackage
import TallyEngine
import TestSupport
import Testing

@testable import TallyEngineTestHelper

/// What programs with other schemas do to a store, and what an undo of several records does.
struct OtherProgramsTests {
  private static let start = Date(timeIntervalSince1970: 1_700_000_000)
  private static let byNotes = Workout.index("byNotes", unique: true, \.notes)

  private func workout(_ sport: String, _ minutes: Int, notes: String = "") -> Workout {
    Workout(sport: sport, start: Self.start, minutes: minutes, notes: notes)
  }

  @Test func anUndoByAnotherProgramLeavesNoStaleAnswer() throws {
    let temporary = try TemporaryStore()
    let run = workout("run", 30)
    try temporary.store.writeAndWait { try $0.save(run) }
    try temporary.store.writeAndWait { try $0.update(Workout.self, run.id) { $0.sport = "swim" } }
    // This program knows neither the sums nor the index.
    try temporary.reopen(Schema(Collection<Workout>("workouts") { Workout.newest }))
    try temporary.store.writeAndWait { try $0.undo() }
    try temporary.reopen(Schema(Workout.collection))
    #expect(try temporary.store.verify().isSound)
    #expect(try temporary.store.read { try $0.records(in: Workout.bySport, "run") }.count == 1)
    #expect(try temporary.store.read { try $0.total(Workout.trained, for: "run") } == 30)
  }

  @Test func anUndoOfACollectionThatTheSchemaLacksIsRefused() throws {
    let temporary = try TemporaryStore(Schema(Workout.collection, Reading.collection))
    let run = workout("run", 30)
    try temporary.store.writeAndWait { try $0.save(run) }
    try temporary.store.writeAndWait { writer in
      try writer.save(Reading(id: 1, value: 1, at: Self.start))
      try writer.update(Workout.self, run.id) { $0.minutes = 31 }
    }
    try temporary.reopen(Schema(Workout.collection))
    let error = #expect(throws: TallyError.self) { try temporary.store.writeAndWait { try $0.undo() } }
    #expect(error?.code == .undoConflict)
    #expect(try temporary.store.read { try $0.record(Workout.self, run.id) }?.minutes == 31)
    try temporary.reopen()
    try temporary.store.writeAndWait { try $0.undo() }
    #expect(try temporary.store.read { try $0.count(Reading.self) } == 0)
    #expect(try temporary.store.read { try $0.record(Workout.self, run.id) } == run)
  }

  @Test func aWriteThatPassesUniqueKeysOnIsUndone() throws {
    let temporary = try TemporaryStore(Schema(Collection<Workout>("workouts") { Self.byNotes }))
    let (one, other, late) = (
      workout("run", 1, notes: "a"), workout("swim", 2, notes: "b"), workout("row", 3, notes: "a")
    )
    try temporary.store.writeAndWait { try $0.insert(contentsOf: [one, other]) }
    // One after the other, two records exchange their keys; then a third one takes a key over.
    try temporary.store.writeAndWait { writer in
      try writer.update(Workout.self, one.id) { $0.notes = "c" }
      try writer.update(Workout.self, other.id) { $0.notes = "a" }
      try writer.update(Workout.self, one.id) { $0.notes = "b" }
    }
    try temporary.store.writeAndWait { writer in
      try writer.delete(Workout.self, other.id)
      try writer.save(late)
    }
    for _ in 0..<2 { try temporary.store.writeAndWait { try $0.undo() } }
    #expect(try temporary.store.read { try $0.record(in: Self.byNotes, "a") } == one)
    #expect(try temporary.store.read { try $0.record(in: Self.byNotes, "b") } == other)
    for _ in 0..<2 { try temporary.store.writeAndWait { try $0.redo() } }
    #expect(try temporary.store.read { try $0.record(in: Self.byNotes, "a") } == late)
    #expect(try temporary.store.verify().isSound)
  }

  @Test func anUndoThatFailsRestoresNothingOfTheWrite() throws {
    let temporary = try TemporaryStore(Schema(Collection<Workout>("workouts") { Self.byNotes }))
    let some = (0..<6).map { workout("run", $0, notes: "\($0)") }
    try temporary.store.writeAndWait { try $0.insert(contentsOf: some) }
    try temporary.store.writeAndWait { writer in
      for workout in some { try writer.update(Workout.self, workout.id) { $0.notes += "!" } }
    }
    // Nobody can undo this, and it has a key that an undo would need.
    let taker = workout("swim", 9, notes: "5")
    try temporary.store.writeAndWait(undoable: false) { try $0.save(taker) }
    try temporary.store.writeAndWait { writer in
      let error = #expect(throws: TallyError.self) { try writer.undo() }
      #expect(error?.code == .undoConflict)
      try writer.save(workout("ride", 10, notes: "last"))
    }
    let notes = try temporary.store.read { try $0.records(in: Self.byNotes) }.map(\.notes)
    #expect(notes == ["0!", "1!", "2!", "3!", "4!", "5", "5!", "last"])
    #expect(try temporary.store.verify().isSound)
  }

  // MARK: Versions

  private func renaming(_ version: Int) -> Schema {
    Schema(
      Collection<Workout>("workouts", version: version) {
        Workout.bySport
        Workout.trained
      } upgrade: { fields, old in
        guard old < version else { return }
        try fields.set("sport", to: "new \(fields.value("sport", as: String.self) ?? "")")
      })
  }

  @Test func membersFollowFromUpgradedRecords() throws {
    let temporary = try TemporaryStore(renaming(1))
    let run = workout("run", 30)
    try temporary.store.writeAndWait { try $0.save(run) }
    try temporary.store.close()
    // Before a program that may write has built them, the answers follow from the records.
    #expect(try Store.verify(at: temporary.directory, schema: renaming(2)).isSound)
    var configuration = StoreConfiguration()
    configuration.isReadOnly = true
    let reading = try Store(at: temporary.directory, schema: renaming(2), configuration: configuration)
    #expect(try reading.read { try $0.records(in: Workout.bySport, "new run") }.count == 1)
    #expect(try reading.read { try $0.total(Workout.trained, for: "new run") } == 30)
    try reading.close()
    try temporary.reopen(renaming(2))
    #expect(try temporary.store.read { try $0.records(in: Workout.bySport, "new run") }.count == 1)
    #expect(try temporary.store.read { try $0.total(Workout.trained, for: "run") } == 0)
    try temporary.store.writeAndWait { try $0.delete(Workout.self, run.id) }
    #expect(try temporary.store.read { try $0.records(in: Workout.bySport) }.isEmpty)
    #expect(try temporary.store.verify().isSound)
  }

  /// The first schema in which parcels have a version and a member.
  private func schema(_ versions: [Int], _ name: String, _ version: Int) throws -> RandomSchema {
    for seed in 1..<10_000 {
      let schema = RandomSchema(seed: seed, versions: versions, uniques: [0, 0, 0])
      if schema.parcels?.choices.contains(where: { $0.name == name && $0.version == version }) == true { return schema }
    }
    throw Difference("no schema has the version \(version) of \(name)")
  }

  /// Opens the store with a schema in another process, and closes it there.
  private func openElsewhere(_ temporary: TemporaryStore, _ schema: RandomSchema) throws {
    let path = FilePath(temporary.directory.path(percentEncoded: false))
    let lines = try HelperProcess("TallyEngineTestHelper", "write", path, schema.numbers + [1, 0, 0]).lines()
    #expect(lines == ["open"])
  }

  @Test func aMemberThatAnotherProgramHasBuiltInAnotherVersionIsNotRead() throws {
    for name in ["byTime", "count", "byTags"] {
      let own = try schema([1, 1, 1], name, 1)
      let temporary = try TemporaryStore(own.schema)
      var generator = SeededGenerator(seed: 7)
      let parcels = (0..<20).map { Parcel(number: $0, content: .random(isHuge: false, using: &generator)) }
      try temporary.store.writeAndWait { try $0.insert(contentsOf: parcels) }
      try openElsewhere(temporary, try schema([1, 1, 1], name, 2))
      for _ in 0..<2 {
        for choice in own.parcels?.choices ?? [] {
          let date = Date.now
          try temporary.store.read { try choice.check(Asked(snapshot: $0.snapshot, date: date), parcels, &generator) }
        }
        #expect(try temporary.store.verify().isSound)
        // The next write builds the member that this program has.
        try temporary.store.writeAndWait { try $0.delete(Parcel.self, 100) }
      }
    }
  }

  @Test func aProgramThatHasTheStoreOpenSeesANewerVersion() throws {
    let own = try schema([1, 1, 1], "byName", 1)
    let temporary = try TemporaryStore(own.schema)
    var generator = SeededGenerator(seed: 7)
    let parcel = Parcel(number: 1, content: .random(isHuge: false, using: &generator))
    try temporary.store.writeAndWait { try $0.save(parcel) }
    try openElsewhere(temporary, try schema([2, 1, 1], "byName", 1))
    let error = #expect(throws: TallyError.self) { try temporary.store.writeAndWait { try $0.save(parcel) } }
    #expect(error?.code == .newerFormat)
    // A second try in the same write does not get past the check.
    let other = Parcel(number: 2, content: .random(isHuge: false, using: &generator))
    try temporary.store.writeAndWait { writer in
      for _ in 0..<2 { #expect(throws: TallyError.self) { try writer.save(other) } }
    }
    #expect(try temporary.store.read { try $0.count(Parcel.self) } == 1)
    #expect(try temporary.store.read { try $0.record(Parcel.self, parcel.id) } == parcel)
    #expect(try temporary.store.verify().isSound)
  }
}
