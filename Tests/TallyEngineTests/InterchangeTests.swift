import Foundation
import TestSupport
import Testing

@testable import TallyEngine

/// A record with every kind of value.
struct Assorted: StoredRecord, Codable, Hashable {
  enum Shape: Codable, Hashable {
    case point
    case circle(radius: Double)
    case box(Int, height: Int)
  }
  struct Place: Codable, Hashable {
    var street: String
    var city: String?
    var floors: [Int8] = []
  }

  var id: Int
  var text = ""
  var isTrue = false
  var small: Int8 = 0
  var large: UInt64 = 0
  var signed: Int64 = 0
  var double = 0.0
  var float: Float = 0
  var date = Date(timeIntervalSinceReferenceDate: 0)
  var data = Data()
  var link = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF") ?? UUID()
  var shape = Shape.point
  var places: [Place] = []
  var counts: [String: Int] = [:]
  var byNumber: [Int: Bool] = [:]
  var missing: String?
  var nested: [[Int?]] = []
}

extension Assorted {
  static let byLarge = index("byLarge", unique: true, each: { $0.large == 0 ? [] : [$0.large] })
  static let collection = Collection<Assorted>("assorted") { byLarge }

  static func random(_ id: Int, using generator: inout some RandomNumberGenerator) -> Assorted {
    let texts = [
      "", "plain", "\"\\/\u{8}\u{C}\n\r\t\u{0}\u{1F}", "é水😀\u{7F}\u{2028}", String(repeating: "long ", count: 99),
    ]
    func double() -> Double {
      let bits = Double(bitPattern: .random(in: 0 ... .max, using: &generator))
      return bits.isFinite ? bits : Double(Int.random(in: -5...5, using: &generator)) / 4
    }
    func text() -> String { texts.randomElement(using: &generator) ?? "" }
    return Assorted(
      id: id, text: text(), isTrue: .random(using: &generator), small: .random(in: -128...127, using: &generator),
      large: .random(in: 1 ... .max, using: &generator), signed: .random(in: .min ... .max, using: &generator),
      double: double(), float: Float(Int.random(in: -999...999, using: &generator)) / 7,
      date: Self.randomDate(using: &generator),
      data: Data((0..<Int.random(in: 0...9, using: &generator)).map { UInt8(truncatingIfNeeded: $0 * 37) }),
      link: UUID(),
      shape: [.point, .circle(radius: double()), .box(.min, height: .max)].randomElement(using: &generator) ?? .point,
      places: (0..<Int.random(in: 0...2, using: &generator)).map {
        Place(street: text(), city: $0 == 0 ? nil : text(), floors: [-1, 127])
      }, counts: ["b": 1, "a": 2, text(): 3], byNumber: [-1: true, 7: false],
      missing: Bool.random(using: &generator) ? nil : text(), nested: [[], [nil, 1], [2]])
  }

  /// A date of any fineness: near the present, near 2001, before it, and at the ends.
  static func randomDate(using generator: inout some RandomNumberGenerator) -> Date {
    let scale = pow(10, Double(Int.random(in: -6...10, using: &generator)))
    let seconds = Double.random(in: -6...6, using: &generator) * scale
    return Date(timeIntervalSinceReferenceDate: Bool.random(using: &generator) ? seconds : seconds.rounded())
  }
}

/// Records as lines of JSON, out and in.
struct InterchangeTests {
  private static let start = Date(timeIntervalSince1970: 1_700_000_000.25)

  /// A file in the directory of a store's test.
  private func file(_ temporary: TemporaryStore, _ text: String? = nil) throws -> URL {
    let file = temporary.directory.appending(path: "\(UUID().uuidString).ndjson")
    if let text { try Data(text.utf8).write(to: file) }
    return file
  }

  private func stored<Record: StoredRecord>(_ type: Record.Type, _ store: Store) throws -> [Record] {
    var records: [Record] = []
    try store.read { try $0.forEach(type) { records.append($0) == () } }
    return records
  }

  @Test func aLineIsWhatTheTypeCodesInItsOrder() throws {
    let temporary = try TemporaryStore(Schema(Assorted.collection))
    let some = Assorted(
      id: -7, text: "a\"\\\n\u{1}é😀/", isTrue: true, small: -128, large: .max, signed: .min, double: 1e22, float: 0.5,
      date: Self.start, data: Data([0, 255, 1]), shape: .box(1, height: 2),
      places: [.init(street: "Ring", city: "Wien")], counts: ["b": 1, "a": 2], byNumber: [10: true, 9: false],
      nested: [[nil, 1], []])
    try temporary.store.writeAndWait { try $0.save(some) }
    let output = try file(temporary)
    let summary = try temporary.store.read { try $0.exportRecords(Assorted.self, to: output) }
    let expected =
      #"{"id":-7,"text":"a\"\\\n\u0001é😀/","isTrue":true,"small":-128,"large":18446744073709551615,"#
      + #""signed":-9223372036854775808,"double":1e+22,"float":0.5,"date":"2023-11-14T22:13:20.25Z","data":"AP8B","#
      + #""link":"00112233-4455-6677-8899-aabbccddeeff","shape":{"box":{"_0":1,"height":2}},"#
      + #""places":[{"city":"Wien","floors":[],"street":"Ring"}],"counts":{"a":2,"b":1},"#
      + #""byNumber":{"10":true,"9":false},"nested":[[null,1],[]]}"# + "\n"
    #expect(try String(contentsOf: output, encoding: .utf8) == expected)
    #expect(summary == RecordExportSummary(recordCount: 1, byteCount: Int64(expected.utf8.count)))
    try temporary.store.writeAndWait { try $0.delete(Assorted.self, -7) }
    try temporary.store.writeAndWait { try $0.importRecords(Assorted.self, from: output) }
    #expect(try stored(Assorted.self, temporary.store) == [some])
  }

  /// Some of a line's values, for another reader of JSON.
  private struct Probe: Decodable {
    var text: String
    var double: Double
    var large: UInt64
  }

  @Test func randomRecordsComeBack() async throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "randomRecordsComeBack"))
    let count = TestSize.of("TALLY_ENGINE_LINES", quick: 600, long: 20_000)
    let (source, target) = (
      try TemporaryStore(Schema(Assorted.collection, Workout.collection)),
      try TemporaryStore(Schema(Assorted.collection, Workout.collection))
    )
    let records = (0..<count).map { Assorted.random($0 * 3 - count, using: &generator) }
    let workouts = (0..<count).map { _ in Workout.random(using: &generator) }
    try await source.store.write { writer in
      try writer.insert(contentsOf: records)
      try writer.insert(contentsOf: workouts)
    }
    let (first, second) = (try file(source), try file(source))
    try await source.store.exportRecords(Assorted.self, to: first)
    try await source.store.exportRecords(Workout.self, to: second)
    let lines = try Data(contentsOf: first).split(separator: UInt8(ascii: "\n"))
    // Another reader of JSON agrees about what is in a line.
    for (line, record) in zip(lines, records.sorted { $0.id < $1.id }) {
      let probe = try JSONDecoder().decode(Probe.self, from: Data(line))
      #expect(probe.text == record.text && probe.double == record.double && probe.large == record.large)
    }
    let summary = try await target.store.importRecords(Assorted.self, from: first)
    #expect(summary.insertedCount == count && summary.refusedCount == 0)
    try await target.store.importRecords(Workout.self, from: second)
    #expect(try stored(Assorted.self, target.store) == stored(Assorted.self, source.store))
    #expect(try stored(Workout.self, target.store) == stored(Workout.self, source.store))
    #expect(try target.store.verify().isSound)
    // The same records give the same bytes, in whatever process they were read.
    let again = try file(source)
    try await target.store.exportRecords(Assorted.self, to: again)
    #expect(try Data(contentsOf: again) == Data(contentsOf: first))
    try await target.store.undo()
    try await target.store.undo()
    #expect(try stored(Assorted.self, target.store).isEmpty && stored(Workout.self, target.store).isEmpty)
  }

  @Test func everyDateComesBack() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "everyDateComesBack"))
    let named: [(Double, String)] = [
      (0, "2001-01-01T00:00:00Z"), (0.1, "2001-01-01T00:00:00.1Z"), (-0.1, "2000-12-31T23:59:59.9Z"),
      (-1, "2000-12-31T23:59:59Z"), (5e-7, "2001-01-01T00:00:00.0000005Z"),
      (-5e-7, "2000-12-31T23:59:59.9999995Z"), (-978_307_200, "1970-01-01T00:00:00Z"),
      (785_420_400.123456, "2025-11-21T12:20:00.123456Z"), (-63_113_904_000, "0001-01-01T00:00:00Z"),
      (252_423_993_599, "9999-12-31T23:59:59Z"),
    ]
    for (seconds, text) in named {
      var bytes: [UInt8] = []
      #expect(Date(timeIntervalSinceReferenceDate: seconds).appendText(to: &bytes))
      #expect(String(decoding: bytes, as: UTF8.self) == text)
    }
    for _ in 0..<TestSize.pick(quick: 3_000, long: 200_000) {
      let date = Assorted.randomDate(using: &generator)
      var bytes: [UInt8] = []
      #expect(date.appendText(to: &bytes))
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(Date(interchange: text) == date, "\(text) \(date.timeIntervalSinceReferenceDate)")
    }
    for seconds in [-63_113_904_001, 252_423_993_600, Double.nan, .infinity] {
      var bytes: [UInt8] = []
      #expect(!Date(timeIntervalSinceReferenceDate: seconds).appendText(to: &bytes) && bytes.isEmpty)
    }
    #expect(Date(interchange: "2025-11-21T14:00:00.123456789+03:00") != nil)
    for text in ["2025-11-21", "2025-11-21T11:00:00.5", "2025-11-21T11:00:00.Z", "2025-11-21T11:00:00.5X", ""] {
      #expect(Date(interchange: text) == nil, "\(text)")
    }
  }

  @Test(arguments: [
    // A line, the code of its error, and the column.
    (#"{"id":1"#, "malformedDocument", 8), (#"{"id":1]"#, "malformedDocument", 8), ("nonsense", "malformedDocument", 1),
    (#"{"id":1,"sport":"run"} {}"#, "malformedDocument", 24), (#"{"id":"\x"}"#, "malformedDocument", 8),
    (#"{"id":"\"#, "malformedDocument", 8),
    (#"{"id":01}"#, "malformedDocument", 7), (#"{"a":{"b":1,"b":2}}"#, "malformedDocument", 13),
    (#"{"sport":"run","sport":"ride"}"#, "malformedDocument", 16), (#"{"sport":"run"}"#, "malformedDocument", 1),
    ("[]", "malformedDocument", 1), ("3", "malformedDocument", 1),
    (Self.line(#""minutes":"5""#), "malformedDocument", 0), (Self.line(#""minutes":5.5"#), "malformedDocument", 0),
    (Self.line(#""minutes":null"#), "malformedDocument", 0), (Self.line(#""minutes":1e300"#), "malformedDocument", 0),
    (Self.line(#""minutes":5,"ünknown":1"#), "unknownKey", -1),
    (Self.line(#""minutes":5"#, start: "yesterday"), "malformedDocument", -2),
    ("{\"id\":\"\u{1}\"}", "malformedDocument", 8),
  ])
  func aLineThatDoesNotFitIsNamed(_ text: String, _ code: String, _ column: Int) throws {
    let temporary = try TemporaryStore()
    let good = (Self.line(#""minutes":5"#), Self.line(#""minutes":6"#))
    let input = try file(temporary, "\(good.0)\n\n\(text)\n\(good.1)\n")
    let error = #expect(throws: TallyError.self) {
      try temporary.store.writeAndWait { try $0.importRecords(Workout.self, from: input) }
    }
    #expect(error?.code.description == code, "\(text): \(error?.description ?? "")")
    let head = text.range(of: column == -1 ? "\"ünknown" : column == -2 ? "\"yesterday" : "\"minutes\":")
    let place = head.map { column == 0 ? $0.upperBound : $0.lowerBound } ?? text.startIndex
    let expected = column > 0 ? column : text[..<place].unicodeScalars.count + 1
    #expect(error?.position == TextPosition(line: 3, column: expected), "\(text): \(error?.description ?? "")")
    #expect(try temporary.store.read { try $0.count(Workout.self) } == 0)
    // A lenient import stores the others.
    let summary = try temporary.store.writeAndWait {
      try $0.importRecords(Workout.self, from: input, options: RecordImportOptions(existing: .skip, isLenient: true))
    }
    #expect(summary.insertedCount == 2 && summary.refusedCount == 1, "\(text)")
    #expect(summary.refusedLines.map(\.line) == [3] && summary.refusedLines[0].error.code == error?.code)
    #expect(summary.refusedLines[0].error.position == error?.position)
  }

  /// A line of a workout with a new id, some fields and the rest of them.
  static func line(_ fields: String, id: UUID = UUID(), start: String = "2026-11-21T12:00:00+01:00") -> String {
    #"{"id":"\#(id.uuidString)","start":"\#(start)",\#(fields),"sport":"run","notes":"","tags":[]}"#
  }

  @Test func textsOfOtherProgramsAreRead() throws {
    let temporary = try TemporaryStore()
    let id = UUID()
    // A byte order mark, another order, white space, upper case, whole numbers with a fraction, lines of Windows.
    let text =
      "\u{FEFF}\r\n" + Self.line(#""minutes" : 5.0 , "rating": 3"#, id: id) + "\r\n \t\r\n"
      + Self.line(#""minutes":1E2,"rating":null"#)
    let input = try file(temporary, text)
    let summary = try temporary.store.writeAndWait { try $0.importRecords(Workout.self, from: input) }
    #expect(summary.insertedCount == 2)
    let workout = try #require(try temporary.store.read { try $0.record(Workout.self, id) })
    #expect(workout.minutes == 5 && workout.rating == 3)
    #expect(workout.start == Date(timeIntervalSince1970: 1_795_258_800))
    #expect(try stored(Workout.self, temporary.store).map(\.minutes).sorted() == [5, 100])
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    let other = Workout(
      sport: "\u{1F3CA}/é", start: Date(timeIntervalSince1970: 1_700_000_000), minutes: 1, rating: 0.1)
    let foreign = try file(temporary, String(decoding: try encoder.encode(other), as: UTF8.self))
    try temporary.store.writeAndWait { try $0.importRecords(Workout.self, from: foreign) }
    #expect(try temporary.store.read { try $0.record(Workout.self, other.id) } == other)
  }

  @Test func unknownKeysAreIgnoredIfThatIsWanted() throws {
    let temporary = try TemporaryStore()
    let input = try file(temporary, Self.line(#""minutes":1,"extra":{"a":[1]}"#) + "\n" + Self.line(#""minutes":2"#))
    let summary = try temporary.store.writeAndWait {
      try $0.importRecords(Workout.self, from: input, options: RecordImportOptions(ignoresUnknownKeys: true))
    }
    #expect(summary.insertedCount == 2)
    #expect(try temporary.store.read { try $0.total(Workout.trained) } == 3)
  }

  @Test func recordsThatExistAreRefusedSkippedOrReplaced() throws {
    let temporary = try TemporaryStore()
    let (known, same, new) = (UUID(), UUID(), UUID())
    let lines = [
      Self.line(#""minutes":1"#, id: new), Self.line(#""minutes":2"#, id: known), Self.line(#""minutes":3"#, id: same),
      // The second line of an id is another one of a record that is there.
      Self.line(#""minutes":4"#, id: new),
    ]
    let input = try file(temporary, lines.joined(separator: "\n"))
    let date = try #require(Date(interchange: "2026-11-21T11:00:00Z"))
    let (old, equal) = (
      Workout(id: known, sport: "swim", start: date, minutes: 50),
      Workout(id: same, sport: "run", start: date, minutes: 3)
    )
    try temporary.store.writeAndWait { try $0.insert(contentsOf: [old, equal]) }
    func run(_ existing: RecordImportOptions.ExistingRecords, isLenient: Bool = false) throws -> RecordImportSummary {
      try temporary.store.writeAndWait {
        try $0.importRecords(
          Workout.self, from: input, options: RecordImportOptions(existing: existing, isLenient: isLenient))
      }
    }
    let error = #expect(throws: TallyError.self) { try run(.fail) }
    #expect(error?.code == .duplicateID && error?.position == TextPosition(line: 2, column: 1))
    #expect(try temporary.store.read { try $0.count(Workout.self) } == 2)

    let lenient = try run(.fail, isLenient: true)
    #expect(lenient.insertedCount == 1 && lenient.refusedLines.map(\.line) == [2, 3, 4])
    #expect(try temporary.store.read { try $0.total(Workout.trained) } == 54)
    try temporary.store.writeAndWait { try $0.undo() }

    let skipped = try run(.skip)
    #expect(skipped.insertedCount == 1 && skipped.skippedCount == 3)
    #expect(try temporary.store.read { try $0.record(Workout.self, known) } == old)
    try temporary.store.writeAndWait { try $0.undo() }

    let replaced = try run(.replace)
    #expect(replaced.insertedCount == 1 && replaced.replacedCount == 2 && replaced.unchangedCount == 1)
    #expect(try temporary.store.read { try $0.total(Workout.trained, for: "run") } == 9)
    #expect(try temporary.store.verify().isSound)
    try temporary.store.writeAndWait { try $0.undo() }
    #expect(try Set(stored(Workout.self, temporary.store)) == [old, equal])
  }

  @Test func aRecordThatTheStoreRefusesIsNamedInALargeFile() throws {
    let temporary = try TemporaryStore(Schema(Assorted.collection))
    let exported = try file(temporary)
    try temporary.store.writeAndWait { writer in
      try writer.insert(contentsOf: (1...6_000).map { Assorted(id: $0, large: UInt64($0)) })
    }
    _ = try temporary.store.read { try $0.exportRecords(Assorted.self, to: exported) }
    try temporary.store.writeAndWait { try $0.undo() }
    try temporary.store.writeAndWait { try $0.save(Assorted(id: 9_999, large: 5_000)) }
    let error = #expect(throws: TallyError.self) {
      try temporary.store.writeAndWait { try $0.importRecords(Assorted.self, from: exported) }
    }
    #expect(error?.code == .duplicateKey && error?.position?.line == 5_000)
    #expect(try temporary.store.read { try $0.count(Assorted.self) } == 1)
    let summary = try temporary.store.writeAndWait {
      try $0.importRecords(Assorted.self, from: exported, options: RecordImportOptions(isLenient: true))
    }
    #expect(summary.insertedCount == 5_999 && summary.refusedLines.map(\.line) == [5_000])
    #expect(try temporary.store.verify().isSound)
    // A write in which an import fails commits nothing, even if it goes on.
    let other = try file(temporary, "{\"id\":0}\n")
    let halfDone = #expect(throws: TallyError.self) {
      try temporary.store.writeAndWait { writer in
        try writer.delete(Assorted.self, 1)
        _ = try? writer.importRecords(Assorted.self, from: other)
      }
    }
    #expect(halfDone?.code == .storageFailed)
    #expect(try temporary.store.read { try $0.contains(Assorted.self, 1) })
  }

  @Test func whatJSONCannotHoldLeavesTheOldFile() throws {
    let temporary = try TemporaryStore(Schema(Assorted.collection))
    let output = try file(temporary, "old")
    for wrong in [
      Assorted(id: 1, double: .nan), Assorted(id: 1, float: .infinity),
      Assorted(id: 1, date: Date(timeIntervalSinceReferenceDate: 1e15)),
      Assorted(id: 1, shape: .circle(radius: -.infinity)),
    ] {
      try temporary.store.writeAndWait { try $0.save(wrong) }
      let error = #expect(throws: TallyError.self) {
        _ = try temporary.store.read { try $0.exportRecords(Assorted.self, to: output) }
      }
      #expect(error?.code == .invalidValue)
      #expect(try String(contentsOf: output, encoding: .utf8) == "old")
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: temporary.directory.path).allSatisfy {
        !$0.contains("export")
      })
  }

  @Test func whatIsNoFileIsRefused() async throws {
    let temporary = try TemporaryStore()
    for place in [temporary.directory, temporary.directory.appending(path: "none"), URL(filePath: "/dev/null")] {
      let error = await #expect(throws: TallyError.self) {
        try await temporary.store.importRecords(Workout.self, from: place)
      }
      #expect(error?.code == .inputUnreadable, "\(place)")
    }
    let data = temporary.directory.appending(path: "data.mdb")
    let error = await #expect(throws: TallyError.self) {
      try await temporary.store.exportRecords(Workout.self, to: data)
    }
    #expect(error?.code == .outputNotCreated)
    let empty = try file(temporary, "")
    #expect(try await temporary.store.importRecords(Workout.self, from: empty).insertedCount == 0)
  }

  @Test func severalFilesAreOneWriteAndOneUndo() async throws {
    let temporary = try TemporaryStore(Schema(Workout.collection, Assorted.collection))
    let (first, second) = (
      try file(temporary, Self.line(#""minutes":1"#)), try file(temporary, "{\"id\":1}")
    )
    await #expect(throws: TallyError.self) {
      try await temporary.store.write { writer in
        try writer.importRecords(Workout.self, from: first)
        try writer.importRecords(Assorted.self, from: second)
      }
    }
    #expect(try temporary.store.read { try $0.count(Workout.self) } == 0)
    try await temporary.store.importRecords(
      Workout.self, from: first, options: RecordImportOptions(actionName: "Import", mustBeUndoable: true))
    #expect(try temporary.store.read { try $0.history(limit: 1) }.first?.actionName == "Import")
    #expect(try await temporary.store.undo().recordCount == 1)
  }

  @Test func blocksOfLinesGoWhereTheyShould() throws {
    let temporary = try TemporaryStore()
    let many = (0..<3_000).map {
      Workout(sport: "run", start: Self.start, minutes: $0, notes: "some notes of some length")
    }
    try temporary.store.writeAndWait { try $0.insert(contentsOf: many) }
    var (blocks, bytes): (Int, [UInt8]) = (0, [])
    let summary = try temporary.store.read { reader in
      try reader.exportRecords(Workout.self) { block in
        (blocks, bytes) = (blocks + 1, bytes + block)
        #expect(block.last == UInt8(ascii: "\n"))
      }
    }
    #expect(blocks > 1 && summary.recordCount == 3_000 && summary.byteCount == Int64(bytes.count))
    #expect(bytes.count { $0 == UInt8(ascii: "\n") } == 3_000)
  }
}
