// Money: sums by category and month, the newest payments page by page, and references that occur once.
//
//   swift run --package-path Examples/Records Money FOLDER

import Foundation
import TallyEngine

enum Category: String, Codable, KeyComponent, CaseIterable { case food, rent, travel }

struct Payment: StoredRecord, Codable {
  var id = UUID()
  var reference: String
  /// A day and no instant: it is the same in every time zone.
  var day: CalendarDay
  var category: Category
  /// Whole numbers only, as everywhere where money is added up.
  var cents: Int
}

extension Payment {
  static let byReference = index("byReference", unique: true, \.reference)
  static let newest = index("newest") { (Descending($0.day), $0.reference) }
  static let byCategory = index("byCategory") { ($0.category, $0.day) }
  static let spent = sum("spent", of: \.cents, over: byCategory, totals: true)
  static let collection = Collection<Payment>("payments") {
    byReference
    newest
    byCategory
    spent
  }

  /// The rent on the first of each month, food every six days, and one journey.
  static func ofAQuarter() throws -> [Payment] {
    let first = try CalendarDay(year: 2026, month: 1, day: 1)
    var payments: [Payment] = []
    for number in 0..<90 {
      let day = try first.adding(days: number)
      func add(_ category: Category, _ cents: Int) {
        payments.append(
          Payment(reference: "R\(payments.count + 101)", day: day, category: category, cents: cents))
      }
      if day.day == 1 { add(.rent, 84_000) }
      if number % 6 == 5 { add(.food, 4_250 + number * 13) }
      if number == 50 { add(.travel, 12_999) }
    }
    return payments
  }
}

/// Cents as people write them.
func euros(_ cents: Int64) -> String {
  let text = String(cents.magnitude)
  let digits = String(repeating: "0", count: max(0, 3 - text.count)) + text
  return "\(cents < 0 ? "-" : "")\(digits.dropLast(2)).\(digits.suffix(2))"
}

func open(_ folder: String) throws -> Store {
  try Store(at: URL(filePath: folder), schema: Schema(Payment.collection))
}

@main
struct Money {
  static func main() async throws {
    guard let folder = CommandLine.arguments.dropFirst().first else {
      FileHandle.standardError.write(Data("usage: Money FOLDER\n".utf8))
      exit(64)
    }
    var store = try open(folder)
    try await store.write { try $0.insert(contentsOf: Payment.ofAQuarter()) }
    try store.read { try printTable($0) }

    // A reference that is in use is refused before anything is written.
    let twice = Payment(
      reference: "R105", day: try CalendarDay(year: 2026, month: 3, day: 31), category: .food, cents: 1)
    do {
      try await store.write { try $0.save(twice) }
    } catch let error as TallyError where error.code == .duplicateKey {
      print(error.message)
    }

    // A position is `Codable`, and stays valid when payments come and go and the program is started again.
    let first = try store.read { try $0.page(in: Payment.newest, limit: 3) }
    let token = try JSONEncoder().encode(first.next)
    let refund = Payment(
      reference: "R900", day: try CalendarDay(year: 2026, month: 3, day: 31), category: .travel, cents: -2_000)
    try await store.write { try $0.save(refund) }
    try store.close()
    store = try open(folder)
    let second = try store.read {
      try $0.page(in: Payment.newest, after: JSONDecoder().decode(Position?.self, from: token), limit: 3)
    }
    print("The newest payments: \(first.records.map(\.reference).joined(separator: " "))")
    print("Those before them: \(second.records.map(\.reference).joined(separator: " "))")

    // A correction finds its record by the reference; the sums follow in the same transaction.
    try await store.write { writer in
      guard let payment = try writer.record(in: Payment.byReference, "R105") else { return }
      try writer.update(Payment.self, payment.id) { $0.category = .travel }
    }
    try store.read { try printTable($0) }
    try store.close()
  }

  /// A row for each category, a column for each month.
  static func printTable(_ reader: borrowing Reader) throws {
    let quarter = try (CalendarDay(year: 2026, month: 1, day: 1)..<CalendarDay(year: 2026, month: 4, day: 1)).dates(
      in: .gmt)
    for category in Category.allCases {
      let months = try reader.series(Payment.spent, for: category, by: .month, over: quarter, in: .gmt)
      print(category.rawValue, months.map { euros($0.value) }.joined(separator: " "), separator: ": ")
    }
    print("all: \(euros(try reader.total(Payment.spent, over: quarter)))")
  }
}
