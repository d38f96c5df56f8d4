import Foundation
import TallyEngine
import Testing

/// What a program does by mistake is an error that says what to do.
struct MistakeTests {
  private static let start = Date(timeIntervalSince1970: 1_700_000_000)

  private func refusal(_ body: () throws -> Void) -> TallyError? {
    #expect(throws: TallyError.self, performing: body)
  }

  @Test func anIDThatIsNotDecodedIsNamed() throws {
    let temporary = try TemporaryStore(Schema(Forgetful.collection))
    let record = Forgetful(id: UUID(), name: "a")
    try temporary.store.writeAndWait { try $0.save(record) }
    let error = refusal { _ = try temporary.store.read { try $0.record(Forgetful.self, record.id) } }
    #expect(error?.code == .invalidValue && error?.message.contains("Forgetful") == true)
    #expect(error?.remedy.contains("var") == true)
    try temporary.store.close()
    // The type is wrong and not the record, so a repair must not set it aside.
    let refused = refusal { try Store.repair(at: temporary.directory, schema: Schema(Forgetful.collection)) }
    #expect(refused?.code == .invalidValue)
  }

  @Test func aFieldIsNumberedFromOne() throws {
    let temporary = try TemporaryStore(Schema(Misnumbered.collection))
    for number in [0, -1, .min] {
      let error = refusal {
        try temporary.store.writeAndWait { try $0.insert(contentsOf: [Misnumbered(id: 1, number: number)]) }
      }
      #expect(error?.code == .invalidValue && error?.message.contains("number \(number)") == true)
    }
    // The next record of the same batch is not refused for it.
    try temporary.store.writeAndWait { writer in
      #expect(refusal { try writer.save(Misnumbered(id: 1, number: 0)) } != nil)
      try writer.save(Misnumbered(id: 1, number: 2))
    }
    #expect(try temporary.store.read { try $0.record(Misnumbered.self, 1) } == Misnumbered(id: 1, number: 2))
  }

  @Test func anIDHasALengthThatFits() throws {
    let temporary = try TemporaryStore(Schema(Note.collection))
    // Two bytes end a text.
    let longest = String(repeating: "x", count: 238)
    try temporary.store.writeAndWait { try $0.save(Note(id: longest)) }
    #expect(try temporary.store.read { try $0.contains(Note.self, longest) })
    for id in [longest + "x", longest + "\0"] {
      let error = refusal { _ = try temporary.store.writeAndWait { try $0.save(Note(id: id)) } }
      #expect(error?.code == .invalidKey && error?.message.contains("at most 240") == true)
      #expect(refusal { _ = try temporary.store.read { try $0.record(Note.self, id) } }?.code == .invalidKey)
    }
    #expect(try temporary.store.read { try $0.count(Note.self) } == 1)
  }

  @Test func anotherTypeOfIDsIsNamed() throws {
    let temporary = try TemporaryStore(Schema(Note.collection))
    try temporary.store.writeAndWait { try $0.save(Note(id: "a")) }
    try temporary.reopen(Schema(NumberedNote.collection))
    let error = refusal { _ = try temporary.store.read { try $0.records(NumberedNote.self) } }
    #expect(error?.code == .damagedStore && error?.message.contains("cannot be read as Int") == true)
  }

  @Test func aSeriesOfTooManyPointsIsRefused() throws {
    let temporary = try TemporaryStore()
    try temporary.store.writeAndWait { try $0.save(Workout(sport: "run", start: Self.start, minutes: 7)) }
    let all = Date.distantPast..<Date.distantFuture
    let utc = TimeZone.gmt
    for period in [Period.hour, .day] {
      let error = refusal {
        _ = try temporary.store.read { try $0.series(Workout.trained, by: period, over: all, in: utc) }
      }
      #expect(error?.code == .valueOutOfRange && error?.message.contains("by \(period.rawValue)") == true)
    }
    for period in [Period.month, .quarter, .year] {
      let points = try temporary.store.read { try $0.series(Workout.trained, by: period, over: all, in: utc) }
      #expect(points.reduce(0) { $0 + $1.value } == 7 && points.count <= SeriesPoint.maximumCount)
    }
    // What the engine asks for itself has no limit: it is of the time that has amounts.
    let profile = try temporary.store.read { try $0.profile(Workout.trained, over: all, in: utc) }
    #expect(profile.joined().reduce(0, +) == 7)
  }

  @Test func aNewRecordReplacesNone() throws {
    let temporary = try TemporaryStore(Schema(Note.collection))
    try temporary.store.writeAndWait { try $0.insert(Note(id: "a", text: "first")) }
    #expect(
      refusal { try temporary.store.writeAndWait { try $0.insert(Note(id: "a", text: "second")) } }?.code
        == .duplicateID)
    #expect(try temporary.store.read { try $0.record(Note.self, "a") }?.text == "first")
  }
}

/// Its id is not decoded, as that of a type with `let id = UUID()` is not.
private struct Forgetful: StoredRecord, Codable {
  var id = UUID()
  var name: String

  enum CodingKeys: CodingKey { case name }

  static let collection = Collection<Forgetful>("forgetful")
}

private struct Misnumbered: BinaryRecord, Hashable {
  let id: Int
  var number: Int

  init(id: Int, number: Int) {
    (self.id, self.number) = (id, number)
  }

  init(id: Int, fields: inout FieldInput) throws {
    self.id = id
    number = try fields.int(2)
  }

  func encode(to fields: inout FieldOutput) {
    fields.append(number, as: number)
  }

  static let collection = Collection<Misnumbered>("misnumbered")
}

private struct NumberedNote: StoredRecord, Codable {
  var id: Int
  var text = ""

  static let collection = Collection<NumberedNote>("notes")
}

private struct Note: StoredRecord, Codable {
  var id: String
  var text = ""

  static let collection = Collection<Note>("notes")
}
