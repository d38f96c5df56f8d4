import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TestSupport
import Testing

/// Backups, snapshots, compaction and repair of a store of collections.
struct EngineUpkeepTests {
  private static let start = Date(timeIntervalSince1970: 1_700_000_000)
  private let schema = Schema(Workout.collection)

  private func workouts(_ count: Int) -> [Workout] {
    (0..<count).map {
      Workout(sport: Workout.sports[$0 % 4], start: Self.start + Double($0) * 7_000, minutes: $0, tags: ["a", "b"])
    }
  }

  private func contents(_ store: Store) throws -> Set<Workout> {
    Set(try store.read { try $0.records(in: Workout.newest) })
  }

  @Test func aBackupBringsBackWhatWasThere() throws {
    let temporary = try TemporaryStore()
    let (first, later) = (workouts(50), Workout(sport: "row", start: Self.start, minutes: 1))
    try temporary.store.writeAndWait { try $0.insert(contentsOf: first) }
    let file = temporary.directory.appending(path: "..").standardized.appending(path: "\(UUID()).backup")
    defer { try? FileManager.default.removeItem(at: file) }
    let backup = try temporary.store.backup(to: file)
    #expect(backup.recordCount == 50 && backup.sizeInBytes > 0 && backup.safetyCopy == nil)
    try temporary.store.writeAndWait { try $0.save(later) }
    let position = try temporary.store.read { try $0.position }
    #expect(throws: TallyError.self) { try Store.restore(from: file, to: temporary.directory, schema: schema) }
    try temporary.store.close()
    let restored = try Store.restore(from: file, to: temporary.directory, schema: schema)
    #expect(restored.recordCount == 50 && restored.sequence > position.sequence)
    try temporary.reopen()
    #expect(try contents(temporary.store) == Set(first))
    #expect(try !temporary.store.read { try $0.changes(since: position) }.isComplete)
    #expect(try temporary.store.verify().isSound)
    try temporary.store.close()
    // The old file is a backup in turn.
    let kept = try #require(restored.safetyCopy)
    try Store.restore(from: kept, to: temporary.directory, schema: schema)
    try temporary.reopen()
    #expect(try contents(temporary.store) == Set(first + [later]))
  }

  @Test func whatIsNoBackupLeavesTheStoreAsItWas() throws {
    let temporary = try TemporaryStore()
    try temporary.store.writeAndWait { try $0.insert(contentsOf: workouts(300)) }
    let file = URL(filePath: temporary.directory.path(percentEncoded: false) + ".backup")
    defer { try? FileManager.default.removeItem(at: file) }
    try temporary.store.backup(to: file)
    try temporary.store.close()
    let whole = try Data(contentsOf: file)
    var damaged = whole
    for offset in stride(from: 8_192, to: damaged.count, by: 97) { damaged[offset] ^= 0x5a }
    for bytes in [Data(), Data("no store".utf8), whole.prefix(whole.count / 2), damaged] {
      try bytes.write(to: file)
      let error = #expect(throws: TallyError.self) {
        try Store.restore(from: file, to: temporary.directory, schema: schema)
      }
      #expect(error?.code == .damagedStore)
    }
    #expect(throws: TallyError.self) {
      try Store.restore(from: URL(string: "https://example.org/a") ?? file, to: temporary.directory, schema: schema)
    }
    try temporary.reopen()
    #expect(try contents(temporary.store).count == 300)
    #expect(throws: TallyError.self) {
      try temporary.store.backup(to: temporary.directory.appending(path: "data.mdb"))
    }
    #expect(try temporary.store.verify().isSound)
  }

  @Test func aCompactionShrinksTheFileAndKeepsTheRest() throws {
    let temporary = try TemporaryStore()
    let all = workouts(3_000)
    try temporary.store.writeAndWait { try $0.insert(contentsOf: all) }
    try temporary.store.writeAndWait { writer in
      for workout in all.dropFirst(100) { try writer.delete(Workout.self, workout.id) }
    }
    try temporary.store.close()
    let sizes = try Store.compact(at: temporary.directory, schema: schema)
    #expect(sizes.sizeInBytes < sizes.sizeBeforeInBytes)
    try temporary.reopen()
    #expect(try contents(temporary.store) == Set(all.prefix(100)))
    try temporary.store.writeAndWait { try $0.undo() }
    #expect(try contents(temporary.store) == Set(all))
    #expect(try temporary.store.verify().isSound)
  }

  @Test func aSnapshotIsReadWithoutALock() throws {
    let temporary = try TemporaryStore()
    let file = URL(filePath: temporary.directory.path(percentEncoded: false) + ".snapshot")
    defer { try? FileManager.default.removeItem(at: file) }
    try temporary.store.writeAndWait { try $0.insert(contentsOf: workouts(3)) }
    try temporary.store.publishSnapshot(to: file)
    let snapshot = try Store(snapshotAt: file, schema: schema)
    try temporary.store.writeAndWait { try $0.save(workouts(1)[0]) }
    try temporary.store.publishSnapshot(to: file)
    #expect(try contents(snapshot).count == 3)
    let error = #expect(throws: TallyError.self) { try snapshot.writeAndWait { try $0.save(workouts(1)[0]) } }
    #expect(error?.code == .permissionDenied)
    try snapshot.suspend()
    try snapshot.resume()
    #expect(try contents(snapshot).count == 4)
    try snapshot.close()
  }

  @Test func aStoreIsRemovedAsAWhole() throws {
    let temporary = try TemporaryStore()
    #expect(throws: TallyError.self) { try Store.remove(at: temporary.directory) }
    try temporary.store.close()
    try Store.remove(at: temporary.directory)
    #expect(!FileManager.default.fileExists(atPath: temporary.directory.path(percentEncoded: false)))
  }
}

/// What a repair does about damage of every table.
struct EngineRepairTests {
  private let schema = Schema(Workout.collection)
  private static let start = Date(timeIntervalSince1970: 1_700_000_000)

  /// Changes a closed store behind its back.
  private func tamper(_ temporary: TemporaryStore, _ body: (inout WriteTransaction) throws -> Void) throws {
    try temporary.store.close()
    var options = LMDBEnvironment.Options()
    options.maxDatabases = 32
    let environment = try LMDBEnvironment(
      path: FilePath(temporary.directory.path(percentEncoded: false)), options: options)
    defer { try? environment.close() }
    try environment.write { transaction in try body(&transaction) }
  }

  private func table(_ name: String, in transaction: inout WriteTransaction) throws -> Database<[UInt8], [UInt8]> {
    try Database(opening: name, creating: false, in: &transaction)
  }

  private func rows(_ table: Database<[UInt8], [UInt8]>, in transaction: inout WriteTransaction) throws -> [(
    key: [UInt8], value: [UInt8]
  )] {
    var rows: [(key: [UInt8], value: [UInt8])] = []
    try table.forEach(in: transaction) { key, value in
      rows.append((key.bytes(from: 0), value.bytes(from: 0)))
      return true
    }
    return rows
  }

  private static let derived = [
    "@workouts.bySport", "@workouts.newest", "@workouts.byTag", "@workouts.", "changes", "deleted",
  ]

  @Test func anyDamageOfWhatFollowsFromRecordsIsFoundAndRepaired() throws {
    var random = SeededGenerator(
      seed: SeededGenerator.chooseSeed(for: "anyDamageOfWhatFollowsFromRecordsIsFoundAndRepaired"))
    for name in Self.derived {
      for kind in 0..<3 { try damage(name, kind, &random) }
    }
  }

  /// Removes a row, adds a row or removes all rows of a table, and repairs the store.
  private func damage(_ name: String, _ kind: Int, _ random: inout SeededGenerator) throws {
    let temporary = try TemporaryStore()
    let all = (0..<60).map { _ in Workout.random(using: &random) }
    try temporary.store.writeAndWait { try $0.insert(contentsOf: all) }
    try temporary.store.writeAndWait { writer in
      for workout in all.prefix(10) { try writer.delete(Workout.self, workout.id) }
    }
    try tamper(temporary) { transaction in
      let table = try table(name, in: &transaction)
      let row = try #require(try rows(table, in: &transaction).randomElement(using: &random))
      switch kind {
      case 0: try table.remove(forKey: row.key, in: &transaction)
      case 1:
        var key = row.key
        key[key.count - 1] ^= 0x11
        try table.put(row.value, forKey: key, in: &transaction)
      default: try table.removeAll(in: &transaction)
      }
    }
    #expect(try !Store.verify(at: temporary.directory, schema: schema).isSound, "\(name), kind \(kind)")
    let report = try Store.repair(at: temporary.directory, schema: schema)
    #expect(report.after.isSound && report.safetyCopy != nil, "\(name), kind \(kind): \(report.after.faults)")
    try temporary.reopen()
    let remaining = all.dropFirst(10)
    #expect(Set(try temporary.store.read { try $0.records(in: Workout.newest) }) == Set(remaining))
    #expect(
      try temporary.store.read { try $0.total(Workout.trained) } == remaining.reduce(0) { $0 + Int64($1.minutes) })
    // The deletions can still be undone, because no record was lost.
    try temporary.store.writeAndWait { try $0.undo() }
    #expect(try temporary.store.read { try $0.count(Workout.self) } == 60)
    #expect(try temporary.store.verify().isSound)
  }

  @Test func aDamagedRecordIsSetAside() throws {
    let temporary = try TemporaryStore()
    let all = (0..<5).map { Workout(sport: "run", start: Self.start + Double($0), minutes: $0) }
    try temporary.store.writeAndWait { try $0.insert(contentsOf: all) }
    var damaged: [UInt8] = []
    try tamper(temporary) { transaction in
      let table = try table("@workouts", in: &transaction)
      let row = try rows(table, in: &transaction)[2]
      damaged = Array(row.value.prefix(12))
      try table.put(damaged, forKey: row.key, in: &transaction)
    }
    let report = try Store.repair(at: temporary.directory, schema: schema)
    #expect(report.before.faults.contains { $0.kind == .unreadableRecord })
    #expect(report.after.isSound && report.after.recordCount == 4 && report.after.setAsideCount == 1)
    try tamper(temporary) { transaction in
      let table = try table("setAside", in: &transaction)
      #expect(try rows(table, in: &transaction).map(\.value) == [damaged])
    }
    try temporary.reopen()
    #expect(try temporary.store.read { try $0.count(Workout.self) } == 4)
    // An undo could bring back a state that contradicts what was set aside.
    #expect(throws: TallyError.self) { try temporary.store.writeAndWait { try $0.undo() } }
    try temporary.store.writeAndWait { try $0.save(all[2]) }
    #expect(try temporary.store.verify().isSound)
  }

  @Test func lostTablesAndHeadersComeBackIfTheyFollowFromRecords() throws {
    for name in ["changes", "deleted", "history", "@workouts.bySport", "@workouts.", "meta"] {
      let temporary = try TemporaryStore()
      try temporary.store.writeAndWait {
        try $0.save(Workout(sport: "run", start: Self.start, minutes: 7, tags: ["a"]))
      }
      try tamper(temporary) { transaction in
        if name == "meta" {
          try table(name, in: &transaction).removeAll(in: &transaction)
        } else {
          try table(name, in: &transaction).drop(in: &transaction)
        }
      }
      #expect(throws: TallyError.self, "\(name)") { try temporary.reopen() }
      let report = try Store.repair(at: temporary.directory, schema: schema)
      #expect(report.before.faults.map(\.kind) == [name == "meta" ? .damagedHeader : .missingTable], "\(name)")
      #expect(report.after.isSound, "\(name): \(report.after.faults)")
      try temporary.reopen()
      #expect(try temporary.store.read { try $0.total(Workout.trained, for: "run") } == 7, "\(name)")
      #expect(try temporary.store.verify().isSound)
    }
  }

  @Test func whatIsLostForGoodIsSaid() throws {
    for name in ["catalogue", "@workouts"] {
      let temporary = try TemporaryStore()
      try temporary.store.writeAndWait { try $0.save(Workout(sport: "run", start: Self.start, minutes: 7)) }
      try tamper(temporary) { try table(name, in: &$0).drop(in: &$0) }
      let error = #expect(throws: TallyError.self) { try Store.repair(at: temporary.directory, schema: schema) }
      #expect(error?.code == .damagedStore && error?.message.contains(name) == true)
    }
  }

  /// The same records with a field that stored ones do not have.
  private struct OtherWorkout: StoredRecord, Codable {
    var id = UUID()
    var sport: String
    var start: Date
    var distance: Double

    static let collection = Collection<OtherWorkout>("workouts") { index("newest") { Descending($0.start) } }
  }

  @Test func aTypeThatDoesNotFitIsNoDamage() throws {
    let temporary = try TemporaryStore()
    try temporary.store.writeAndWait { try $0.save(Workout(sport: "run", start: Self.start, minutes: 7)) }
    try temporary.store.close()
    let other = Schema(OtherWorkout.collection)
    let error = #expect(throws: TallyError.self) { try Store.repair(at: temporary.directory, schema: other) }
    #expect(error?.code == .invalidValue && error?.message.contains("distance") == true)
    try temporary.reopen()
    #expect(try temporary.store.read { try $0.count(Workout.self) } == 1)
    #expect(try temporary.store.verify().isSound)
  }

  @Test func anUpgradeThatThrowsIsNoDamage() throws {
    struct Refused: Error {}
    let temporary = try TemporaryStore()
    try temporary.store.writeAndWait { try $0.save(Workout(sport: "run", start: Self.start, minutes: 7)) }
    try tamper(temporary) { try table("changes", in: &$0).removeAll(in: &$0) }
    let newer = Schema(
      Collection<Workout>("workouts", version: 2) {
        Workout.newest
      } upgrade: { _, _ in
        throw Refused()
      })
    #expect(throws: Refused.self) { try Store.repair(at: temporary.directory, schema: newer) }
    #expect(try Store.repair(at: temporary.directory, schema: schema).after.isSound)
    try temporary.reopen()
    #expect(try temporary.store.read { try $0.count(Workout.self) } == 1)
  }

  @Test func twoFaultsAtOnceAreRepairedLikeEachAlone() throws {
    let temporary = try TemporaryStore()
    let all = (0..<3).map { Workout(sport: "run", start: Self.start + Double($0), minutes: $0) }
    try temporary.store.writeAndWait { try $0.insert(contentsOf: all) }
    try tamper(temporary) { transaction in
      // The verification sees only that a table is missing.
      try table("@workouts.newest", in: &transaction).drop(in: &transaction)
      let table = try table("@workouts", in: &transaction)
      let key = try rows(table, in: &transaction)[0].key
      try table.put([1, 2, 3], forKey: key, in: &transaction)
    }
    let report = try Store.repair(at: temporary.directory, schema: schema)
    #expect(report.before.faults.map(\.kind) == [.missingTable])
    #expect(report.after.isSound && report.after.recordCount == 2 && report.after.setAsideCount == 1)
    try temporary.reopen()
    #expect(throws: TallyError.self) { try temporary.store.writeAndWait { try $0.undo() } }
  }

  @Test func anotherProgramsCollectionStaysAsItIs() throws {
    let temporary = try TemporaryStore(Schema(Workout.collection, Reading.collection))
    try temporary.store.writeAndWait { writer in
      try writer.save(Workout(sport: "run", start: Self.start, minutes: 7))
      try writer.save(Reading(id: 1, value: 2, at: Self.start, place: "x"))
    }
    let position = try temporary.store.read { try $0.position }
    try temporary.store.writeAndWait { try $0.delete(Reading.self, 1) }
    try tamper(temporary) { try table("@workouts.bySport", in: &$0).removeAll(in: &$0) }
    #expect(try Store.repair(at: temporary.directory, schema: schema).after.unknownCollections == ["readings"])
    try temporary.reopen()
    #expect(try temporary.store.verify().isSound)
    #expect(try temporary.store.read { try !$0.changes(since: position).isComplete })
    try temporary.store.writeAndWait { try $0.undo() }
    #expect(try temporary.store.read { try $0.record(Reading.self, 1) }?.place == "x")
    #expect(try temporary.store.verify().isSound)
  }
}
