import Foundation
import LMDB
import SystemPackage
import TallySystem
import TestSupport

/// Accounts in a store with a log: any snapshot has the same sum, and no number goes back.
private struct Bank {
  typealias Table = Database<[UInt8], [UInt8]>
  static let accountCount = 50
  static let amount = 1_000
  let environment: LMDBEnvironment
  let accounts: Table
  let counters: Table

  init(in directory: FilePath, isDurable: Bool) throws {
    var options = LMDBEnvironment.Options()
    options.writeWaitLimit = .seconds(60)
    options.durability = isDurable ? .full : .noMetaSync
    var log = LogStore.Options()
    (log.ringByteCount, log.commitsPerPart) = (1 << 17, 32)
    options.log = log
    environment = try LMDBEnvironment(path: directory, options: options)
    (accounts, counters) = try environment.write { transaction in
      (
        try Table(opening: "accounts", creating: true, in: &transaction),
        try Table(opening: "counters", creating: true, in: &transaction)
      )
    }
  }

  static func number(_ bytes: [UInt8]?) -> Int {
    (bytes ?? []).reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  static func bytes(_ number: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

  /// The accounts and counters of a snapshot.
  func state() throws -> (sum: Int, counters: [Int]) {
    try environment.read { snapshot in
      var (sum, counts) = (0, [0, 0, 0])
      try accounts.forEach(in: snapshot) { _, value in
        sum += Self.number(try [UInt8](decoding: value))
        return true
      }
      for index in 0..<3 { counts[index] = Self.number(try counters.value(forKey: [UInt8(index)], in: snapshot)) }
      return (sum, counts)
    }
  }

  /// Moves an amount, counts it for a program, and returns the count.
  func move(as program: Int, isLarge: Bool, _ random: inout SeededGenerator) throws -> Int {
    struct Stop: Error {}
    func account() -> UInt8 { UInt8.random(in: 0..<UInt8(Self.accountCount), using: &random) }
    let (giver, receiver) = (account(), account())
    let part = Int.random(in: 1...50, using: &random)
    return try environment.write { transaction in
      let count = Self.number(try counters.value(forKey: [UInt8(program)], in: transaction)) + 1
      try counters.put(Self.bytes(count), forKey: [UInt8(program)], in: &transaction)
      if try accounts.count(in: transaction) == 0 {
        for key in 0..<UInt8(Self.accountCount) {
          try accounts.put(Self.bytes(Self.amount), forKey: [key], in: &transaction)
        }
      }
      do {
        try transaction.nested { nested in
          try accounts.removeAll(withPrefix: [giver], in: &nested)
          throw Stop()
        }
      } catch is Stop {}
      try transaction.nested { nested in
        let given = Self.number(try accounts.value(forKey: [giver], in: nested))
        try accounts.put(Self.bytes(given - part), forKey: [giver], in: &nested)
        let received = Self.number(try accounts.value(forKey: [receiver], in: nested))
        try accounts.put(Self.bytes(received + part), forKey: [receiver], in: &nested)
        // More than a quarter of the ring goes into the tree directly.
        guard isLarge else { return }
        let large = try Table(opening: "large", creating: true, in: &nested)
        try large.put([UInt8](repeating: 1, count: 40_000), forKey: [255], in: &nested)
      }
      return count
    }
  }
}

extension HelperAct {
  private struct Unsound: Error {
    let what: String
  }

  /// Moves amounts until the input ends, and says each count once its commit is acknowledged.
  func moveAmounts() throws {
    let bank = try Bank(in: directory, isDurable: numbers[0] == 0)
    var random = SeededGenerator(seed: UInt64(numbers[0] + 3 * numbers[1]))
    say("ready")
    let end = Monitor(false)
    Thread {
      _ = readLine()
      end.withLock { $0 = true }
    }.start()
    var (last, seen) = (0, [0, 0, 0])
    while !end.withLock({ $0 }) {
      let kind = Int.random(in: 0..<20, using: &random)
      let count = try bank.move(as: numbers[0], isLarge: kind == 4, &random)
      guard count > last else { throw Unsound(what: "\(count) after \(last)") }
      last = count
      say("\(count)")
      let (sum, counters) = try bank.state()
      guard sum == Bank.accountCount * Bank.amount else { throw Unsound(what: "sum \(sum)") }
      guard zip(counters, seen).allSatisfy({ $0 >= $1 }) else { throw Unsound(what: "\(counters) after \(seen)") }
      seen = counters
      if kind == 5 { try bank.environment.sync() }
    }
    try bank.environment.close(waitingAtMost: .seconds(60))
    say("done")
  }

  /// Checks the sum, and that nothing that was acknowledged is missing.
  func auditAmounts() throws {
    let bank = try Bank(in: directory, isDurable: true)
    let (sum, counters) = try bank.state()
    guard sum == Bank.accountCount * Bank.amount || sum == 0 && counters == [0, 0, 0] else {
      throw Unsound(what: "sum \(sum)")
    }
    guard zip(counters, numbers).allSatisfy({ $0 >= $1 }) else {
      throw Unsound(what: "\(counters), acknowledged \(numbers)")
    }
    try bank.environment.close(waitingAtMost: .seconds(60))
    say("sound")
  }
}
