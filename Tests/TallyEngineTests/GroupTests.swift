import Foundation
import TallyEngine
import TestSupport
import Testing

/// A record with groups of one byte, between whose rows those of all groups lie.
private struct Visit: StoredRecord, Codable, Hashable {
  var id = UUID()
  var level: Int8
  var at: Date
  var pages: Int
}

extension Visit {
  static let byLevel = index("byLevel") { ($0.level, $0.at) }
  static let pages = sum("pages", of: \.pages, over: byLevel, totals: true)
  static let visits = count("visits", over: byLevel)
  static let collection = Collection<Visit>("visits") {
    byLevel
    visits
    pages
  }
}

/// A record that asks for its fields from the last one to the first.
private struct Backwards: StoredRecord, Codable, Hashable {
  var id: Int
  var first: String
  var second: Double
  var third: Bool

  init(id: Int, first: String, second: Double, third: Bool) {
    (self.id, self.first, self.second, self.third) = (id, first, second, third)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    third = try container.decode(Bool.self, forKey: .third)
    second = try container.decode(Double.self, forKey: .second)
    first = try container.decode(String.self, forKey: .first)
    id = try container.decode(Int.self, forKey: .id)
  }

  static let collection = TallyEngine.Collection<Backwards>("backwards")
}

/// The same collection in a program in which a field has become a text.
private struct Reworded: StoredRecord, Codable {
  var id: Int
  var second: String
}

struct GroupTests {
  private static let start = Date(timeIntervalSince1970: 1_600_000_000)
  private static let days = 400

  private func totals(_ visits: some Sequence<Visit>, in range: Range<Date>? = nil) -> [Int8: Int64] {
    visits.reduce(into: [:]) { sums, visit in
      if range?.contains(visit.at) ?? true { sums[visit.level, default: 0] += Int64(visit.pages) }
    }
  }

  private func compare(_ queries: borrowing some StoreQueries & ~Copyable, with model: [UUID: Visit]) throws {
    let quarterHour = 900.0
    let range = Self.start..<Self.start.addingTimeInterval(quarterHour * 96 * 100)
    for range in [nil, range] {
      let expected = totals(model.values, in: range).sorted { $0.key < $1.key }
      let found = try queries.totals(Visit.pages, over: range)
      #expect(found.map(\.group) == expected.map(\.key))
      #expect(found.map(\.value) == expected.map(\.value))
      #expect(try queries.total(Visit.pages, over: range) == expected.reduce(0) { $0 + $1.value })
    }
    #expect(try queries.totals(Visit.visits).reduce(0) { $0 + $1.value } == Int64(model.count))
  }

  @Test func everyGroupHasItsTotal() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "everyGroupHasItsTotal"))
    let temporary = try TemporaryStore(Schema(Visit.collection))
    var model: [UUID: Visit] = [:]
    try temporary.store.read { try compare($0, with: model) }
    for round in 0..<4 {
      let visits = (0..<200).map { _ in
        // Whole quarter hours from that of the beginning on.
        Visit(
          level: Int8.random(in: .min ... .max, using: &generator),
          at: Self.start.addingTimeInterval(900 * Double(Int.random(in: 0..<96 * Self.days, using: &generator))),
          pages: Int.random(in: 1...9, using: &generator))
      }
      let removed = model.values.filter { $0.level.isMultiple(of: 2) == round.isMultiple(of: 2) }.map(\.id)
      for visit in visits { model[visit.id] = visit }
      for id in removed { model[id] = nil }
      let expected = model
      try temporary.store.writeAndWait { writer in
        try writer.insert(contentsOf: visits)
        try writer.delete(Visit.self, removed)
        try compare(writer, with: expected)
      }
      try temporary.store.read { try compare($0, with: model) }
    }
  }

  @Test func fieldsAreFoundInAnyOrder() throws {
    let temporary = try TemporaryStore(Schema(Backwards.collection))
    let records = (0..<20).map {
      Backwards(id: $0, first: String(repeating: "ü", count: $0 * 20), second: Double($0) / 3, third: $0 % 3 == 0)
    }
    try temporary.store.writeAndWait { try $0.insert(contentsOf: records) }
    for record in records { #expect(try temporary.store.read { try $0.record(Backwards.self, record.id) } == record) }
  }

  @Test func aFieldOfAnotherFormIsNamed() throws {
    let temporary = try TemporaryStore(Schema(Backwards.collection))
    try temporary.store.writeAndWait { try $0.save(Backwards(id: 1, first: "a", second: 0.5, third: true)) }
    try temporary.reopen(Schema(TallyEngine.Collection<Reworded>("backwards")))
    let error = #expect(throws: TallyError.self) { try temporary.store.read { try $0.record(Reworded.self, 1) } }
    #expect(error?.description.contains("another form of the field 'second'") == true)
  }
}
