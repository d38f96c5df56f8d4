import LMDB
import SystemPackage
import TallyTestSupport

/// The rows that journalled transactions change, and what they must be.
///
/// Transaction `k` takes the number after the stored one. What it does follows from `k` and from its salt, a random number
/// that it stores under `k`; so the stored salts say what all rows must be, whichever process made which transaction.
struct JournalWorld {
  typealias Table = Database<[UInt8], [UInt8]>

  let salts: Database<UInt64, UInt64>
  let rows: Table
  /// Each row's value and key, without a value.
  let index: Table

  init(_ environment: LMDBEnvironment) throws {
    (salts, rows, index) = try environment.write { transaction in
      (
        try Database(opening: "salts", creating: true, in: &transaction),
        try Table(opening: "rows", creating: true, in: &transaction),
        try Table(opening: "index", creating: true, in: &transaction)
      )
    }
  }

  init(reading environment: LMDBEnvironment) throws {
    salts = try Database(opening: "salts", in: environment)
    rows = try Table(opening: "rows", in: environment)
    index = try Table(opening: "index", in: environment)
  }

  /// The number of the last transaction.
  func last(in transaction: borrowing some LMDBTransaction & ~Copyable) throws -> UInt64 {
    var cursor = try salts.cursor(in: transaction)
    return try cursor.moveToLast() ? cursor.key() : 0
  }

  /// A change of a row: a value, or its removal.
  typealias Change = (key: [UInt8], value: [UInt8]?)

  /// What a transaction changes.
  static func changes(number: UInt64, salt: UInt64) -> [Change] {
    var generator = generator(number, salt)
    let isLong = generator.oneIn(70)
    return (0..<(isLong ? 60 : Int.random(in: 1...5, using: &generator))).map { _ in
      let key = [UInt8.random(in: 0..<110, using: &generator)]
      if generator.oneIn(4) { return (key, nil) }
      let count = generator.oneIn(9) ? 5_000 : Int.random(in: 2..<200, using: &generator)
      let byte = UInt8.random(in: 0...255, using: &generator)
      return (key, [byte, UInt8(truncatingIfNeeded: number)] + [UInt8](repeating: byte, count: count - 2))
    }
  }

  /// Whether a transaction changes many rows.
  static func isLong(_ number: UInt64, salt: UInt64) -> Bool {
    var generator = generator(number, salt)
    return generator.oneIn(70)
  }

  private static func generator(_ number: UInt64, _ salt: UInt64) -> SeededGenerator {
    SeededGenerator(seed: salt &+ number &* 0x9E37_79B9)
  }

  /// Makes the transaction of a number.
  func make(_ number: UInt64, salt: UInt64, in transaction: inout WriteTransaction) throws {
    try salts.put(salt, forKey: number, in: &transaction)
    for (key, value) in Self.changes(number: number, salt: salt) {
      if let old = try rows.value(forKey: key, in: transaction) {
        try index.remove(forKey: Self.indexKey(key, old), in: &transaction)
      }
      if let value {
        try rows.put(value, forKey: key, in: &transaction)
        try index.put([], forKey: Self.indexKey(key, value), in: &transaction)
      } else {
        try rows.remove(forKey: key, in: &transaction)
      }
    }
  }

  static func indexKey(_ key: [UInt8], _ value: [UInt8]) -> [UInt8] {
    Array(value.prefix(2)) + key
  }

  /// The salts of a snapshot, if its rows and index are what they must be; otherwise the fault.
  func soundSalts(in environment: LMDBEnvironment) throws -> Result<[UInt64], Failure> {
    try environment.read { transaction in
      var found: [UInt64] = []
      try salts.forEach(in: transaction) { key, value in
        guard try UInt64(decoding: key) == UInt64(found.count + 1) else {
          throw Failure(description: "a gap in the salts")
        }
        found.append(try UInt64(decoding: value))
        return true
      }
      var model: [[UInt8]: [UInt8]] = [:]
      for (position, salt) in found.enumerated() {
        for (key, value) in Self.changes(number: UInt64(position + 1), salt: salt) { model[key] = value }
      }
      let rows = try contents(of: rows, in: transaction)
      guard rows == model else { return .failure(Failure(description: "the rows after \(found.count) are wrong")) }
      let index = Set(try contents(of: index, in: transaction).keys)
      guard index == Set(model.map { Self.indexKey($0.key, $0.value) }) else {
        return .failure(Failure(description: "the index after \(found.count) is wrong"))
      }
      return .success(found)
    }
  }

  private func contents(of table: Table, in transaction: borrowing ReadTransaction) throws -> [[UInt8]: [UInt8]] {
    var contents: [[UInt8]: [UInt8]] = [:]
    try table.forEach(in: transaction) { key, value in
      contents[try [UInt8](decoding: key)] = try [UInt8](decoding: value)
      return true
    }
    return contents
  }
}
