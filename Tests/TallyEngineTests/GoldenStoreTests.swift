import Foundation
import LMDB
import SystemPackage
import TallyEngine
import Testing

/// The bytes of a store of collections do not change unless its format does.
@Suite(.serialized) struct EngineGoldenStoreTests {
  private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("golden-collections.txt")
  private static let start = Date(timeIntervalSince1970: 1_700_000_000)
  private static let tableNames = [
    "meta", "catalogue", "changes", "deleted", "history", "@workouts", "@workouts.", "@workouts.bySport",
    "@workouts.newest", "@workouts.byTag", "@readings", "@readings.", "@readings.byTime", "@readings.byPlace",
  ]
  /// The place of the store's identity in the header, which is random.
  private static let identity = 8..<24

  private let schema = Schema(Workout.collection, Reading.collection)
  private let workouts = [
    EngineGoldenStoreTests.workout(0, "run", minutes: 30),
    EngineGoldenStoreTests.workout(1, "swim", minutes: -5, notes: "felt good ü"),
    EngineGoldenStoreTests.workout(2, "row", minutes: 1_000_000, tags: ["x", "y"]),
    EngineGoldenStoreTests.workout(3, "a\0ü", minutes: 45, rating: 4.5),
  ]

  private static func workout(
    _ number: UInt8, _ sport: String, minutes: Int, notes: String = "", tags: [String] = [], rating: Double? = nil
  ) -> Workout {
    Workout(
      id: UUID(uuid: (1, 0x93, 0xf1, 0xc2, 0x89, 0xab, 0x7d, 0xef, 0x80, 0, 0, 0, 0, 0, 0, number)), sport: sport,
      start: start + Double(number) * 100_000, minutes: minutes, notes: notes, tags: tags, rating: rating)
  }

  /// Every kind of write once.
  private func fill(_ store: Store) throws {
    try store.writeAndWait { writer in
      try writer.setActionName("Add")
      try writer.insert(contentsOf: workouts.prefix(3))
    }
    try store.writeAndWait { try $0.save(Reading(id: 7, value: -1.5, at: Self.start, place: "roof")) }
    try store.writeAndWait { try $0.save(Reading(id: -7, value: 2, at: Self.start + 1)) }
    try store.writeAndWait { try $0.update(Workout.self, workouts[0].id) { $0.minutes = 31 } }
    try store.writeAndWait { try $0.delete(Workout.self, workouts[1].id) }
    try store.writeAndWait { try $0.undo() }
    try store.writeAndWait { try $0.delete(Workout.self, workouts[2].id) }
    try store.writeAndWait(undoable: false) { try $0.save(workouts[3]) }
  }

  private func checkContents(_ store: Store) throws {
    var first = workouts[0]
    first.minutes = 31
    #expect(
      try store.read { try $0.records(in: Workout.newest) } == [workouts[3], workouts[1], first])
    #expect(try store.read { try $0.total(Workout.trained) } == 31 - 5 + 45)
    #expect(try store.read { try $0.records(in: Reading.byTime) }.map(\.id) == [7, -7])
    #expect(try store.verify().isSound)
  }

  private func environment(_ directory: URL) throws -> LMDBEnvironment {
    var options = LMDBEnvironment.Options()
    options.maxDatabases = 32
    return try LMDBEnvironment(path: FilePath(directory.path(percentEncoded: false)), options: options)
  }

  private func lines(of directory: URL) throws -> [String] {
    let environment = try environment(directory)
    defer { try? environment.close() }
    var lines: [String] = []
    for name in Self.tableNames {
      let table = try Database<[UInt8], [UInt8]>(opening: name, in: environment)
      try environment.read { transaction in
        try table.forEach(in: transaction) { key, value in
          var value = value.bytes(from: 0)
          if name == "meta" { for offset in Self.identity { value[offset] = 0 } }
          // It is random, too.
          if name == "catalogue", key.text == "generation" { value = Array(repeating: 1, count: 8) }
          lines.append(
            ([name] + [key.bytes(from: 0), value].map(hexadecimal).filter { !$0.isEmpty }).joined(separator: " "))
          return true
        }
      }
    }
    return lines
  }

  private func temporaryDirectory() -> URL {
    FileManager.default.temporaryDirectory.appending(path: "tally-golden-\(UUID().uuidString)")
  }

  private func open(_ directory: URL) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.durability = .relaxed
    let now = try Timestamp(microsecondsSince1970: 1_700_000_000_000_000)
    configuration.now = { now }
    return try Store(at: directory, schema: schema, configuration: configuration)
  }

  /// `TALLY_RECORD=1` rewrites the file: a change of the format, which needs a feature bit and a migration.
  @Test func theBytesAreThoseWrittenDown() throws {
    let directory = temporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let store = try open(directory)
    try fill(store)
    try checkContents(store)
    try store.close()
    let lines = try lines(of: directory)
    if ProcessInfo.processInfo.environment["TALLY_RECORD"] == "1" {
      try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: Self.file)
    }
    let golden = try String(contentsOf: Self.file, encoding: .utf8).split(separator: "\n").map(String.init)
    #expect(lines == golden)
  }

  @Test func aStoreOfTheseBytesIsReadAndWritten() throws {
    let directory = temporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let golden = try environment(directory)
    try golden.write { transaction in
      for name in Self.tableNames {
        _ = try Database<[UInt8], [UInt8]>(opening: name, creating: true, in: &transaction)
      }
      for line in try String(contentsOf: Self.file, encoding: .utf8).split(separator: "\n") {
        let parts = line.split(separator: " ").map(String.init)
        let table = try Database<[UInt8], [UInt8]>(opening: parts[0], creating: false, in: &transaction)
        try table.put(parts.count > 2 ? bytes(parts[2]) : [], forKey: bytes(parts[1]), in: &transaction)
      }
    }
    try golden.close()
    let store = try open(directory)
    try checkContents(store)
    // What a person did before still can be undone.
    try store.writeAndWait { try $0.undo() }
    #expect(try store.read { try $0.record(Workout.self, workouts[2].id) } == workouts[2])
    try store.writeAndWait { try $0.save(Reading(id: 8, value: 0, at: Self.start, place: "cellar")) }
    #expect(try store.verify().isSound)
    try store.close()
  }

  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { String(format: "%02x", $0) }.joined()
  }

  private func bytes(_ hexadecimal: String) -> [UInt8] {
    stride(from: 0, to: hexadecimal.utf8.count, by: 2).compactMap { offset in
      UInt8(hexadecimal.dropFirst(offset).prefix(2), radix: 16)
    }
  }
}
