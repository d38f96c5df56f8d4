import Foundation
import LMDB
import SystemPackage
import TallySystem
import TallyTestSupport

/// Accounts in an environment with a log, which several programs move.
///
/// Each commit moves an amount between two accounts, counts itself for its program, and writes notes that follow from its
/// number. So a snapshot can be checked by itself: the accounts have one sum, the programs' counts add up to the number of
/// commits, and each note is that of the last commit that wrote it.
struct LogBank {
  private typealias Table = Database<[UInt8], [UInt8]>

  /// The programs; the last one repairs and audits.
  static let programCount = 4
  static let auditor = programCount - 1
  private static let accountCount = 50
  private static let amount = 1_000
  private static let noteCount = 20
  /// More than a quarter of the ring, so that its commit goes into the tree directly.
  private static let largeByteCount = 18_000
  private static let largeInterval = 11

  let environment: LMDBEnvironment
  private let accounts: Table
  private let counts: Table
  private let notes: Table

  /// What a snapshot has.
  struct State: Equatable {
    /// The number of commits of each program.
    var counts = [Int](repeating: 0, count: programCount)
    /// The number of all commits.
    var number: Int { counts.reduce(0, +) }
  }

  /// A commit of a program.
  struct Move {
    var program: Int
    /// The number of this program's commits, this one included.
    var count: Int
    /// The number of all commits, this one included.
    var number: Int
  }

  /// Opens the accounts with a short log, or without one.
  init(in directory: FilePath, isDurable: Bool = true, isReadOnly: Bool = false, hasLog: Bool = true) throws {
    var options = LMDBEnvironment.Options()
    options.writeWaitLimit = .seconds(60)
    options.durability = isDurable ? .full : .noMetaSync
    options.isReadOnly = isReadOnly
    if hasLog {
      var log = LogStore.Options()
      (log.ringByteCount, log.commitsPerPart) = (1 << 16, 8)
      options.log = log
    }
    environment = try LMDBEnvironment(path: directory, options: options)
    do {
      accounts = try Self.table("accounts", in: environment)
      counts = try Self.table("counts", in: environment)
      notes = try Self.table("notes", in: environment)
    } catch {
      try? environment.close()
      throw error
    }
  }

  /// Makes the accounts in a directory, without a log.
  static func create(in directory: FilePath) throws {
    let environment = try LMDBEnvironment(path: directory)
    try environment.write { transaction in
      let accounts = try Table(opening: "accounts", creating: true, in: &transaction)
      for key in 0..<UInt8(accountCount) { try accounts.put(bytes(amount), forKey: [key], in: &transaction) }
      for name in ["counts", "notes"] { _ = try Table(opening: name, creating: true, in: &transaction) }
    }
    try environment.close()
    try SystemCalls.flushDirectory(directory)
  }

  private static func table(_ name: String, in environment: LMDBEnvironment) throws -> Table {
    do { return try Table(opening: name, in: environment) } catch { throw Failure(description: "\(name): \(error)") }
  }

  func close() throws { try environment.close(waitingAtMost: .seconds(60)) }

  private static func number(_ bytes: [UInt8]?) -> Int {
    (bytes ?? []).prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  private static func bytes(_ number: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

  // MARK: Notes

  /// What a commit writes as its note; nothing if it removes the one that is there.
  private static func note(of number: Int) -> [UInt8]? {
    guard number % 7 != 0 else { return nil }
    return bytes(number) + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number &* 0x9E37_79B1 % 9_001)
  }

  private static func isLarge(_ number: Int) -> Bool { number % largeInterval == 0 }

  /// All notes after a number of commits.
  private static func notes(after number: Int) -> [[UInt8]: [UInt8]] {
    var notes: [[UInt8]: [UInt8]] = [:]
    for commit in max(1, number - noteCount + 1)..<number + 1 { notes[[UInt8(commit % noteCount)]] = note(of: commit) }
    let large = number / largeInterval * largeInterval
    if large > 0 { notes[[255]] = bytes(large) + [UInt8](repeating: 1, count: largeByteCount) }
    return notes
  }

  // MARK: Reading and writing

  /// Every table's entries.
  func contents() throws -> [String: [[UInt8]: [UInt8]]] {
    try environment.read { snapshot in
      var all: [String: [[UInt8]: [UInt8]]] = [:]
      for (name, table) in [("accounts", accounts), ("counts", counts), ("notes", notes)] {
        all[name] = try Self.entries(of: table, in: snapshot)
      }
      return all
    }
  }

  private static func entries<T: LMDBTransaction & ~Copyable>(
    of table: Table, in transaction: borrowing T
  ) throws -> [[UInt8]: [UInt8]] {
    var entries: [[UInt8]: [UInt8]] = [:]
    try table.forEach(in: transaction) { key, value in
      entries[try [UInt8](decoding: key)] = try [UInt8](decoding: value)
      return true
    }
    return entries
  }

  /// Reads a snapshot, slowly if a pause is given; throws a `Failure` if it contradicts itself.
  func state(pausing microseconds: UInt32 = 0) throws -> State {
    try environment.read { snapshot in
      var state = State()
      for program in 0..<Self.programCount {
        state.counts[program] = Self.number(try counts.value(forKey: [UInt8(program)], in: snapshot))
      }
      if microseconds > 0 { usleep(microseconds) }
      let amounts = try Self.entries(of: accounts, in: snapshot).values.map { Self.number($0) }
      if microseconds > 0 { usleep(microseconds) }
      let sum = amounts.reduce(0) { $0 &+ $1 }
      guard sum == Self.accountCount * Self.amount, amounts.count == Self.accountCount else {
        throw Failure(description: "\(state.counts): \(amounts.count) accounts with the sum \(sum)")
      }
      let found = try Self.entries(of: notes, in: snapshot)
      guard found == Self.notes(after: state.number) else {
        let numbers = found.map { ($0.key.first ?? 0, Self.number($0.value)) }.sorted { $0.0 < $1.0 }
        throw Failure(description: "\(state.counts): the notes are \(numbers.map { "\($0.0): \($0.1)" })")
      }
      return state
    }
  }

  /// Moves an amount; a body is called before the commit.
  func move(
    as program: Int, using random: inout SeededGenerator, _ willCommit: (Move) throws -> Void = { _ in }
  ) throws -> Move {
    struct Stop: Error {}
    let giver = UInt8.random(in: 0..<UInt8(Self.accountCount), using: &random)
    let receiver = UInt8.random(in: 0..<UInt8(Self.accountCount), using: &random)
    let (part, isNested) = (Int.random(in: 1...50, using: &random), random.oneIn(2))
    return try environment.write { transaction in
      var move = Move(program: program, count: 0, number: 1)
      for index in 0..<Self.programCount {
        let count = Self.number(try counts.value(forKey: [UInt8(index)], in: transaction))
        move.number += count
        if index == program { move.count = count + 1 }
      }
      try counts.put(Self.bytes(move.count), forKey: [UInt8(program)], in: &transaction)
      if isNested {
        do {
          try transaction.nested { nested in
            try accounts.removeAll(withPrefix: [giver], in: &nested)
            throw Stop()
          }
        } catch is Stop {}
        try transaction.nested { try transfer(part, from: giver, to: receiver, move.number, in: &$0) }
      } else {
        try transfer(part, from: giver, to: receiver, move.number, in: &transaction)
      }
      try willCommit(move)
      return move
    }
  }

  private func transfer(
    _ part: Int, from giver: UInt8, to receiver: UInt8, _ number: Int, in transaction: inout WriteTransaction
  ) throws {
    let given = Self.number(try accounts.value(forKey: [giver], in: transaction))
    try accounts.put(Self.bytes(given &- part), forKey: [giver], in: &transaction)
    let received = Self.number(try accounts.value(forKey: [receiver], in: transaction))
    try accounts.put(Self.bytes(received &+ part), forKey: [receiver], in: &transaction)
    let key = [UInt8(number % Self.noteCount)]
    if let note = Self.note(of: number) {
      try notes.put(note, forKey: key, in: &transaction)
    } else {
      _ = try notes.remove(forKey: key, in: &transaction)
    }
    guard Self.isLarge(number) else { return }
    let large = Self.bytes(number) + [UInt8](repeating: 1, count: Self.largeByteCount)
    try notes.put(large, forKey: [255], in: &transaction)
  }
}
