import Foundation
import Tally
import TallyEngine

/// A record that the workload keeps beside the tasks, as an application does.
struct Entry: StoredRecord, Codable, Hashable {
  let id: Int
  var kind: String
  var at: Date
  var amount: Int

  static let byKind = index("byKind") { ($0.kind, $0.at) }
  static let byAmount = index("byAmount") { Descending($0.amount) }
  static let spent = sum("spent", of: \.amount, over: byKind, totals: true)
  static let collection = Collection<Entry>("entries") {
    byKind
    byAmount
    spent
  }
}

/// The records of a workload after some of its transactions.
struct RecordModel {
  private var entries: [Int: Entry] = [:]

  /// A change of one record.
  enum Change {
    case save(Entry)
    case delete(Int)

    func apply(to transaction: inout StoreWriteTransaction) throws {
      switch self {
      case .save(let entry): _ = try transaction.save(entry)
      case .delete(let id): _ = try transaction.delete(Entry.self, id)
      }
    }
  }

  private static let (idCount, bulkCount) = (61, 40)

  /// Applies a transaction; what it changes follows from its number.
  ///
  /// - Returns: the changes, of which there is at least one.
  mutating func advance(to number: UInt64) -> [Change] {
    let number = Int(number)
    var changes = [Change.save(Self.entry(number % Self.idCount, number))]
    if number.isMultiple(of: 3) { changes.append(.delete(number * 31 % Self.idCount)) }
    if number % 10 == 4 { changes += (0..<Self.bulkCount).map { .save(Self.entry(1_000 + $0, number)) } }
    if number % 10 == 8 { changes += (0..<Self.bulkCount).filter { $0 % 7 != 0 }.map { .delete(1_000 + $0) } }
    for change in changes {
      switch change {
      case .save(let entry): entries[entry.id] = entry
      case .delete(let id): entries[id] = nil
      }
    }
    return changes
  }

  private static func entry(_ id: Int, _ number: Int) -> Entry {
    Entry(
      id: id, kind: ["food", "rent", "ü"][(id + number) % 3],
      at: Date(timeIntervalSince1970: 1_790_000_000 + Double(number * 5_003 + id)), amount: id * 7 - number % 200)
  }

  /// The difference between the records of a snapshot and these; `nil` if there is none.
  func fault(in transaction: borrowing StoreReadTransaction) throws -> String? {
    var found: [Int: Entry] = [:]
    try transaction.forEach(Entry.self) {
      found[$0.id] = $0
      return true
    }
    if found != entries { return "\(found.count) records differ from the \(entries.count) of the model" }
    let byKind = entries.values.sorted { ($0.kind, $0.at, $0.id) < ($1.kind, $1.at, $1.id) }
    if try transaction.records(in: Entry.byKind) != byKind { return "the records differ in the order of their kinds" }
    let byAmount = entries.values.sorted { ($1.amount, $0.id) < ($0.amount, $1.id) }
    if try transaction.records(in: Entry.byAmount) != byAmount { return "the records differ in the order of amounts" }
    for kind in Set(entries.values.map(\.kind)) {
      let sum = entries.values.filter { $0.kind == kind }.reduce(0) { $0 + Int64($1.amount) }
      if try transaction.total(Entry.spent, for: kind) != sum { return "the sum of \(kind) differs" }
    }
    let sum = entries.values.reduce(0) { $0 + Int64($1.amount) }
    return try transaction.total(Entry.spent) == sum ? nil : "the sum of all records differs"
  }
}
