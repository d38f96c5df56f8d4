import Foundation
import TallyEngine
import Testing

/// Indexes of three parts, days, and ids that have more digits than their keys.
struct QueryTests {
  private let expenses = (0..<60).map { number in
    Expense(
      id: Date(timeIntervalSinceReferenceDate: 1_000.000_000_1 * Double(number + 1)),
      day: CalendarDay(clamping: 20_454 + Int64(number) * 3), account: number % 2 == 0 ? "bank" : "cash",
      category: ["food", "rent", "travel"][number % 3], cents: 100 + number)
  }

  private func filledStore() throws -> TemporaryStore {
    let temporary = try TemporaryStore(Schema(Expense.collection))
    try temporary.store.writeAndWait { try $0.insert(contentsOf: expenses) }
    return temporary
  }

  private func compare(_ reader: borrowing Reader, with food: [Expense]) throws {
    let (from, to) = (food[2].day, food[6].day)
    #expect(try reader.records(in: Expense.byAccount, "bank", "food") == food)
    #expect(try reader.count(in: Expense.byAccount, "bank", "food") == food.count)
    #expect(try reader.count(in: Expense.byAccount, "bank", "food", from: from, upTo: to) == 4)
    #expect(
      try reader.records(in: Expense.byAccount, reversed: true, limit: 1).first
        == expenses.last { $0.account == "cash" && $0.category == "travel" })
    #expect(try reader.record(in: Expense.byAccount, "bank", "food", food[3].day) == food[3])
    #expect(try reader.record(in: Expense.byAccount, "cash", "food", food[3].day) == nil)
    #expect(try reader.count(in: Expense.byAccount, "bank") == 30)
    #expect(try reader.records(in: Expense.byCategory, "food", food[3].day) == [food[3]])
    #expect(try reader.records(in: Expense.byCategory, "food", food[3].day, limit: 0) == [])
  }

  @Test func anIndexOfThreePartsAnswersByEachOfThem() throws {
    let temporary = try filledStore()
    let food = expenses.filter { $0.account == "bank" && $0.category == "food" }
    let (from, to) = (food[2].day, food[6].day)
    try temporary.store.read { try compare($0, with: food) }
    let deleted = try temporary.store.writeAndWait {
      try $0.deleteRecords(in: Expense.byAccount, "bank", "food", from: from, upTo: to)
    }
    #expect(deleted == 4)
    #expect(
      try temporary.store.read { try $0.records(in: Expense.byAccount, "bank", "food") }
        == food.filter { $0.day < from || $0.day >= to })
    #expect(try temporary.store.verify().isSound)
  }

  @Test func allRecordsAreReadAndDeletedByWhatTheyHaveInCommon() throws {
    let temporary = try filledStore()
    #expect(try temporary.store.read { try $0.records(Expense.self) } == expenses)
    #expect(try temporary.store.read { try $0.records(Expense.self, limit: 7) } == Array(expenses.prefix(7)))
    #expect(try temporary.store.read { try $0.records(Expense.self, limit: 0) } == [])
    #expect(try temporary.store.writeAndWait { try $0.deleteRecords(in: Expense.byAccount, "cash") } == 30)
    #expect(try temporary.store.writeAndWait { try $0.delete(expenses[0]) })
    #expect(try temporary.store.writeAndWait { try !$0.delete(expenses[1]) })
    #expect(
      try temporary.store.read { try $0.records(Expense.self) }
        == expenses.dropFirst().filter { $0.account == "bank" })
  }

  @Test func allPairsOfGroupsAreSummedUp() throws {
    let temporary = try filledStore()
    let days = expenses[7].day..<expenses[20].day
    let expected = expenses[7..<20].reduce(0) { $0 + Int64($1.cents) }
    let dates = days.dates(in: .gmt)
    #expect(try temporary.store.read { try $0.total(Expense.paid, over: dates) } == expected)
    let points = try temporary.store.read { try $0.series(Expense.paid, by: .week, over: dates, in: .gmt) }
    #expect(points.count > 5 && points.reduce(0) { $0 + $1.value } == expected)
    #expect(
      try temporary.store.read { try $0.total(Expense.paid) } == expenses.reduce(0) { $0 + Int64($1.cents) })
  }

  @Test(arguments: ["UTC", "Pacific/Honolulu", "Pacific/Apia"]) func aMeasureOfDaysIsAskedByDays(_ name: String) throws
  {
    let temporary = try filledStore()
    let zone = try #require(TimeZone(identifier: name))
    let first = expenses[7].day
    let days = first..<expenses[20].day
    let expected = expenses[7..<20].filter { $0.category == "food" }
    let (total, points) = try temporary.store.read { reader in
      (
        try reader.total(Expense.spent, for: "food", over: days.dates(in: .gmt)),
        // The zone is ignored.
        try reader.series(Expense.spent, for: "food", by: .day, over: days.dates(in: .gmt), in: zone)
      )
    }
    #expect(total == expected.reduce(0) { $0 + Int64($1.cents) })
    #expect(points.map { $0.day(in: .gmt) } == (0..<39).map { CalendarDay(clamping: Int64(first.dayNumber) + $0) })
    #expect(points.filter { $0.value != 0 }.map { $0.day(in: .gmt) } == expected.map(\.day))
    #expect(points.reduce(0) { $0 + $1.value } == total)
  }

  @Test func theDatesOfDaysAreThoseOfTheZone() throws {
    let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
    let days = try CalendarDay(iso8601: "2026-03-29")..<CalendarDay(iso8601: "2026-03-30")
    let dates = days.dates(in: berlin)
    #expect(dates.upperBound.timeIntervalSince(dates.lowerBound) == 23 * 3_600)
    #expect(CalendarDay(containing: Timestamp(clamping: dates.lowerBound), in: berlin) == days.lowerBound)
    // Apia had no such day.
    let apia = try #require(TimeZone(identifier: "Pacific/Apia"))
    #expect(try (CalendarDay(iso8601: "2011-12-30")..<CalendarDay(iso8601: "2011-12-31")).dates(in: apia).isEmpty)
  }

  @Test func anIDWithMoreDigitsThanItsKeyIsItsOwn() throws {
    let temporary = try filledStore()
    let some = expenses[5]
    #expect(Timestamp(clamping: some.id).date != some.id)
    #expect(try temporary.store.read { try $0.record(Expense.self, some.id) } == some)
    try temporary.store.writeAndWait { try $0.update(Expense.self, some.id) { $0.cents = 1 } }
    #expect(try temporary.store.read { try $0.record(Expense.self, some.id) }?.cents == 1)
    #expect(try temporary.store.verify().isSound)
  }

  /// A program that reads fewer fields than it writes.
  @Test func aFieldThatIsWrittenIsStoredOnce() throws {
    let temporary = try TemporaryStore(Schema(Sample.collection))
    try temporary.store.writeAndWait { try $0.save(Sample(id: 1, value: 1)) }
    let position = try temporary.store.read { try $0.position }
    // It is as it was stored, so nothing is written.
    #expect(try temporary.store.writeAndWait { try !$0.save(Sample(id: 1, value: 1)) })
    #expect(try temporary.store.read { try $0.position } == position)
  }
}

private struct Expense: StoredRecord, Codable, Hashable {
  var id: Date
  var day: CalendarDay
  var account: String
  var category: String
  var cents: Int

  static let byAccount = index("byAccount", unique: true) { ($0.account, $0.category, $0.day) }
  static let byCategory = index("byCategory") { ($0.category, $0.day) }
  static let spent = sum("spent", of: \.cents, over: byCategory)
  static let paid = sum("paid", of: \.cents, over: byAccount)
  static let collection = Collection<Expense>("expenses") {
    byAccount
    byCategory
    spent
    paid
  }
}

private struct Sample: BinaryRecord {
  let id: Int
  var value: Int

  init(id: Int, value: Int) {
    (self.id, self.value) = (id, value)
  }

  init(id: Int, fields: inout FieldInput) throws {
    self.id = id
    value = try fields.int(1)
  }

  func encode(to fields: inout FieldOutput) {
    fields.append(value, as: 1)
    fields.append("for other programs", as: 2)
  }

  static let collection = Collection<Sample>("samples")
}
