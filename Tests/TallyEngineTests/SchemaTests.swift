import Foundation
import LMDB
import SystemPackage
import Testing

@testable import TallyEngine

/// A record that writes its fields itself.
struct Reading: BinaryRecord, Hashable {
  var id: Int
  var value: Double
  var at: Date
  var place: String?

  func encode(to fields: inout FieldOutput) {
    fields.append(value, as: 1)
    fields.append(at, as: 2)
    if let place { fields.append(place, as: 3) }
  }

  init(id: Int, value: Double, at: Date, place: String? = nil) {
    (self.id, self.value, self.at, self.place) = (id, value, at, place)
  }

  init(id: Int, fields: inout FieldInput) throws {
    self.id = id
    value = try fields.double(1)
    at = try fields.date(2)
    place = try fields.stringIfPresent(3)
  }
}

extension Reading {
  static let byTime = index("byTime", \.at)
  static let byPlace = index("byPlace", unique: true, each: { $0.place.map { [$0] } ?? [] })
  static let collection = Collection<Reading>("readings", isEventLog: true) {
    byTime
    byPlace
  }
}

/// What an application has declared changes from version to version.
struct SchemaTests {
  private static let start = Date(timeIntervalSince1970: 1_700_000_000)

  private func workouts(_ count: Int) -> [Workout] {
    (0..<count).map {
      Workout(
        sport: $0 % 3 == 0 ? "swim" : "run", start: Self.start + Double($0) * 3_600, minutes: 10 + $0, tags: ["a"])
    }
  }

  @Test func whatIsDeclaredLaterIsBuiltFromTheRecords() throws {
    let temporary = try TemporaryStore(Schema(Collection<Workout>("workouts") { Workout.newest }))
    try temporary.store.writeAndWait { try $0.insert(contentsOf: workouts(300)) }
    #expect(throws: TallyError.self) { try temporary.store.read { try $0.records(in: Workout.bySport, "run") } }
    try temporary.reopen(Schema(Workout.collection))
    #expect(try temporary.store.read { try $0.records(in: Workout.bySport, "swim") }.count == 100)
    #expect(
      try temporary.store.read { try $0.total(Workout.trained, for: "swim") }
        == (0..<100).reduce(0) { $0 + 10 + 3 * $1 })
    #expect(try temporary.store.verify().isSound)
  }

  @Test func anotherProgramLeavesNoStaleAnswer() throws {
    let temporary = try TemporaryStore()
    let some = workouts(30)
    try temporary.store.writeAndWait { try $0.insert(contentsOf: some) }
    // This program does not know most members.
    try temporary.reopen(Schema(Collection<Workout>("workouts") { Workout.newest }))
    try temporary.store.writeAndWait { writer in
      try writer.delete(Workout.self, some[0].id)
      try writer.update(Workout.self, some[1].id) { $0.sport = "row" }
    }
    #expect(try temporary.store.verify().isSound)
    try temporary.reopen(Schema(Workout.collection))
    #expect(try temporary.store.read { try $0.records(in: Workout.bySport, "row") }.map(\.id) == [some[1].id])
    #expect(
      try temporary.store.read { try $0.total(Workout.trained) }
        == some.dropFirst().reduce(0) { $0 + Int64($1.minutes) })
    #expect(try temporary.store.verify().isSound)
  }

  @Test func aCollectionThatTheSchemaLacksStays() throws {
    let temporary = try TemporaryStore(Schema(Workout.collection, Reading.collection))
    try temporary.store.writeAndWait { try $0.insert(contentsOf: [Reading(id: 1, value: 2.5, at: Self.start)]) }
    try temporary.reopen(Schema(Workout.collection))
    #expect(try temporary.store.verify().unknownCollections == ["readings"])
    try temporary.store.writeAndWait { try $0.insert(contentsOf: workouts(3)) }
    try temporary.reopen(Schema(Reading.collection))
    #expect(try temporary.store.read { try $0.record(Reading.self, 1) } == Reading(id: 1, value: 2.5, at: Self.start))
  }

  @Test func aUniqueKeyIsRefusedAndNothingIsWritten() throws {
    let temporary = try TemporaryStore(Schema(Reading.collection))
    try temporary.store.writeAndWait { writer in
      try writer.save(Reading(id: 1, value: 1, at: Self.start, place: "roof"))
      let error = #expect(throws: TallyError.self) {
        try writer.save(Reading(id: 2, value: 2, at: Self.start, place: "roof"))
      }
      #expect(error?.code == .duplicateKey)
      // The writer goes on: what was refused has changed nothing.
      try writer.save(Reading(id: 3, value: 3, at: Self.start, place: "cellar"))
    }
    #expect(try temporary.store.read { try $0.record(in: Reading.byPlace, "roof") }?.id == 1)
    #expect(try temporary.store.read { try $0.count(Reading.self) } == 2)
    let twins = [
      Reading(id: 7, value: 0, at: Self.start, place: "x"), Reading(id: 8, value: 0, at: Self.start, place: "x"),
    ]
    let error = #expect(throws: TallyError.self) {
      try temporary.store.writeAndWait { try $0.insert(contentsOf: twins) }
    }
    #expect(error?.code == .duplicateKey)
    #expect(try temporary.store.verify().isSound)
  }

  @Test func anEventIsNeverChanged() throws {
    let temporary = try TemporaryStore(Schema(Reading.collection))
    try temporary.store.writeAndWait { try $0.save(Reading(id: 1, value: 1, at: Self.start)) }
    let error = #expect(throws: TallyError.self) {
      try temporary.store.writeAndWait { try $0.save(Reading(id: 1, value: 2, at: Self.start)) }
    }
    #expect(error?.code == .unchangeableRecord)
    let old = (2..<100).map { Reading(id: $0, value: 0, at: Self.start + Double($0)) }
    try temporary.store.writeAndWait { try $0.insert(contentsOf: old) }
    #expect(try temporary.store.writeAndWait { try $0.deleteRecords(in: Reading.byTime, upTo: Self.start + 50) } == 49)
    #expect(try temporary.store.read { try $0.count(Reading.self) } == 50)
    #expect(try temporary.store.verify().isSound)
  }

  @Test func aKeyThatIsTooLongIsRefused() throws {
    let temporary = try TemporaryStore()
    var workout = workouts(1)[0]
    workout.sport = String(repeating: "ü", count: 300)
    let error = #expect(throws: TallyError.self) { try temporary.store.writeAndWait { try $0.save(workout) } }
    #expect(error?.code == .invalidKey)
    #expect(try temporary.store.read { try $0.count(Workout.self) } == 0)
  }

  @Test func aSumThatOverflowsIsRefused() throws {
    let temporary = try TemporaryStore()
    var some = workouts(2)
    (some[0].minutes, some[1].minutes) = (Int.max, 1)
    some[1].start = some[0].start
    try temporary.store.writeAndWait { try $0.save(some[0]) }
    let error = #expect(throws: TallyError.self) { try temporary.store.writeAndWait { try $0.save(some[1]) } }
    #expect(error?.code == .valueOutOfRange)
    #expect(try temporary.store.read { try $0.count(Workout.self) } == 1)
    #expect(try temporary.store.verify().isSound)
  }

  @Test(arguments: ["", "a/b", "a\u{1}", String(repeating: "x", count: 65)]) func aBadNameIsRefused(_ name: String) {
    let error = #expect(throws: TallyError.self) { try TemporaryStore(Schema(Collection<Workout>(name))) }
    #expect(error?.code == .invalidIndex)
  }
}

/// Two versions of one type.
private struct Old: StoredRecord, Codable, Hashable {
  var id = 1
  var kind: String
  var size: Int
}

private struct New: StoredRecord, Codable, Hashable {
  var id = 1
  var sort: String
  var size: Double
  var notes: String
}

private struct Wider: StoredRecord, Codable, Hashable {
  var id = 1
  var kind: String
  var size: Int
  var extra: [String: [Int]]
}

struct EvolutionTests {
  private static let old = Schema(Collection<Old>("things"))
  private static let new = Schema(
    Collection<New>(
      "things", version: 2,
      upgrade: { fields, version in
        guard version < 2 else { return }
        fields.rename("kind", to: "sort")
        try fields.set("notes", to: "upgraded from \(fields.value("size", as: Int.self) ?? 0)")
      }))

  @Test func anOldRecordIsUpgradedWhenItIsRead() throws {
    let temporary = try TemporaryStore(Self.old)
    try temporary.store.writeAndWait { try $0.save(Old(kind: "box", size: 3)) }
    try temporary.reopen(Self.new)
    let expected = New(sort: "box", size: 3, notes: "upgraded from 3")
    #expect(try temporary.store.read { try $0.record(New.self, 1) } == expected)
    #expect(try temporary.store.upgradeRecords() == 1)
    #expect(try temporary.store.upgradeRecords() == 0)
    #expect(try temporary.store.read { try $0.record(New.self, 1) } == expected)
    #expect(try temporary.store.verify().isSound)
  }

  @Test func aNewerVersionOpensForReadingOnly() throws {
    let temporary = try TemporaryStore(Self.new)
    try temporary.store.writeAndWait { try $0.save(New(sort: "box", size: 1, notes: "")) }
    try temporary.reopen(Self.old)
    let error = #expect(throws: TallyError.self) {
      try temporary.store.writeAndWait { try $0.save(Old(kind: "x", size: 1)) }
    }
    #expect(error?.code == .newerFormat)
  }

  @Test func fieldsOfANewerVersionComeBackWithAnUndo() throws {
    let temporary = try TemporaryStore(Schema(Collection<Wider>("things")))
    let wide = Wider(kind: "box", size: 1, extra: ["a": [1, 2]])
    try temporary.store.writeAndWait { try $0.save(wide) }
    try temporary.reopen(Self.old)
    try temporary.store.writeAndWait { _ = try $0.delete(Old.self, 1) }
    try temporary.store.writeAndWait { _ = try $0.undo() }
    try temporary.reopen(Schema(Collection<Wider>("things")))
    #expect(try temporary.store.read { try $0.record(Wider.self, 1) } == wide)
    #expect(try temporary.store.verify().isSound)
  }

  @Test func fieldsOfANewerVersionStay() throws {
    let temporary = try TemporaryStore(Schema(Collection<Wider>("things")))
    try temporary.store.writeAndWait { try $0.save(Wider(kind: "box", size: 1, extra: ["a": [1, 2], "b": []])) }
    try temporary.reopen(Self.old)
    try temporary.store.writeAndWait { try $0.update(Old.self, 1) { $0.size = 2 } }
    try temporary.reopen(Schema(Collection<Wider>("things")))
    #expect(
      try temporary.store.read { try $0.record(Wider.self, 1) }
        == Wider(kind: "box", size: 2, extra: ["a": [1, 2], "b": []]))
  }

  @Test func aMissingFieldIsNamed() throws {
    let temporary = try TemporaryStore(Self.old)
    try temporary.store.writeAndWait { try $0.save(Old(kind: "box", size: 1)) }
    try temporary.reopen(Schema(Collection<Wider>("things")))
    let error = #expect(throws: TallyError.self) { try temporary.store.read { try $0.record(Wider.self, 1) } }
    #expect(error?.code == .invalidValue)
    #expect(error?.message.contains("'extra'") == true)
    #expect(error?.cause is DecodingError)
  }
}

/// Values of every form that `Codable` has.
private struct Everything: StoredRecord, Codable, Hashable {
  enum Shape: Codable, Hashable { case circle(radius: Double), square, named(String, Int) }
  enum Color: String, Codable { case red, blue }
  struct Part: Codable, Hashable { var name: String, counts: [Int8], next: [Part] }

  var id: String
  var shape: Shape
  var color: Color?
  var parts: [Part]
  var words: [String: Color]
  var numbers: [UInt64]
  var data: Data
  var date: Date
  var small: Float
  var nothing: String?
  var matrix: [[Double]]
  var link: URL
}

struct CodingTests {
  @Test func everyFormOfValueComesBack() throws {
    let temporary = try TemporaryStore(Schema(Collection<Everything>("all")))
    let link = try #require(URL(string: "https://example.org/?q=1"))
    let values = [
      Everything(
        id: "a\u{0}b", shape: .circle(radius: -0.5), color: .red,
        parts: [.init(name: "x", counts: [-128, 127], next: [.init(name: "", counts: [], next: [])])],
        words: ["one": .blue, "": .red], numbers: [0, .max], data: Data([0, 255]),
        date: Date(timeIntervalSince1970: 0.1),
        small: 1.5, nothing: nil, matrix: [[], [.infinity, .leastNonzeroMagnitude]], link: link),
      Everything(
        id: "ü", shape: .named("n", .min), color: nil, parts: [], words: [:], numbers: [], data: Data(),
        date: .distantPast, small: -.zero, nothing: "no", matrix: [], link: link),
      Everything(
        id: "z", shape: .square, color: .blue, parts: [], words: [:], numbers: [1], data: Data(count: 70_000),
        date: .distantFuture, small: 0, nothing: "", matrix: [[1]], link: link),
    ]
    try temporary.store.writeAndWait { try $0.insert(contentsOf: values) }
    try temporary.reopen()
    for value in values { #expect(try temporary.store.read { try $0.record(Everything.self, value.id) } == value) }
    var order: [String] = []
    try temporary.store.read { reader in
      try reader.forEach(Everything.self) { record in
        order.append(record.id)
        return true
      }
    }
    #expect(order == ["a\u{0}b", "z", "ü"])
  }
}

/// Questions that a program may ask by mistake, or of all time.
struct MeasureLimitTests {
  private static let start = Date(timeIntervalSince1970: 1_700_000_000)

  @Test func aQuantileOfNoFractionIsRefused() throws {
    let temporary = try TemporaryStore()
    try temporary.store.writeAndWait { try $0.save(Workout(sport: "run", start: Self.start, minutes: 7)) }
    for fraction in [Double.nan, .infinity, -0.1, 1.1] {
      let error = #expect(throws: TallyError.self) {
        try temporary.store.read { try $0.quantile(fraction, of: Workout.length) }
      }
      #expect(error?.code == .valueOutOfRange, "\(fraction)")
    }
    for fraction in [0, 0.5, 1] {
      #expect(try temporary.store.read { try $0.quantile(fraction, of: Workout.length) } == 7)
    }
  }

  @Test func aProfileOfAllTimeIsThatOfTheRecords() throws {
    let temporary = try TemporaryStore()
    try temporary.store.writeAndWait { writer in
      for number in 0..<40 {
        try writer.save(Workout(sport: "run", start: Self.start + Double(number) * 40_000, minutes: number))
      }
    }
    let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
    let (some, all) = try temporary.store.read { reader in
      (
        try reader.profile(
          Workout.trained, over: Self.start.addingTimeInterval(-86_400)..<Self.start + 2_000_000, in: berlin),
        try reader.profile(Workout.trained, over: Date.distantPast..<Date.distantFuture, in: berlin)
      )
    }
    #expect(some == all && all.joined().reduce(0, +) == (0..<40).reduce(0, +))
    let none = try temporary.store.read {
      try $0.profile(Workout.trained, for: "swim", over: Date.distantPast..<Date.distantFuture, in: berlin)
    }
    #expect(none.joined().allSatisfy { $0 == 0 })
  }

  @Test func aSumOfGroupsBeyond64BitsIsRefused() throws {
    let trained = Workout.byMinutesAlone
    let temporary = try TemporaryStore(
      Schema(
        Collection<Workout>("workouts") {
          Workout.bySport; trained
        }))
    try temporary.store.writeAndWait { writer in
      for sport in ["run", "swim"] {
        try writer.save(Workout(sport: sport, start: Self.start, minutes: .max - 1))
      }
    }
    #expect(try temporary.store.read { try $0.total(trained, for: "run") } == .max - 1)
    let error = #expect(throws: TallyError.self) { try temporary.store.read { try $0.total(trained) } }
    #expect(error?.code == .valueOutOfRange)
  }
}

extension Workout {
  /// Without a sum over all groups, which a write would refuse.
  fileprivate static let byMinutesAlone = sum("alone", of: \.minutes, over: bySport)
}

/// What an open store remembers of the catalogue.
struct CatalogueTests {
  @Test func theGenerationOfAnAbortedChangeNeverComesAgain() throws {
    let temporary = try TemporaryStore()
    try temporary.store.close()
    var options = LMDBEnvironment.Options()
    options.maxDatabases = 32
    let environment = try LMDBEnvironment(
      path: FilePath(temporary.directory.path(percentEncoded: false)), options: options)
    defer { try? environment.close() }
    let catalogue = Catalogue(table: try Database(opening: Catalogue.tableName, in: environment))
    var seen: Set<UInt64> = []
    for number in 0..<8 {
      try? environment.write { transaction in
        try catalogue.put(Catalogue.Entry(number: 1, version: number), "i/x/y", in: &transaction)
        #expect(seen.insert(try catalogue.generation(in: transaction)).inserted)
        if number.isMultiple(of: 2) { throw CancellationError() }
      }
    }
    #expect(seen.count == 8)
  }
}
