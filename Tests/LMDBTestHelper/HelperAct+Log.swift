import Foundation
import LMDB
import SystemPackage
import TallySystem
import TestSupport

/// Accounts in a store with a log: any snapshot has the same sum, and no number goes back.
private struct Bank {
  static let accountCount = 50
  static let amount = 1_000
  let store: LogStore
  let accounts: LogStoreTable
  let counters: LogStoreTable

  init(in directory: FilePath, ringByteCount: Int = 1 << 17) throws {
    var options = LMDBEnvironment.Options()
    options.writeWaitLimit = .seconds(60)
    options.maxReaders = 126
    var logOptions = LogStore.Options()
    (logOptions.ringByteCount, logOptions.commitsPerPart) = (ringByteCount, 32)
    store = try LogStore(of: LMDBEnvironment(path: directory, options: options), options: logOptions)
    accounts = try store.table(named: "accounts")
    counters = try store.table(named: "counters")
  }

  static func number(_ bytes: [UInt8]?) -> Int {
    (bytes ?? []).reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  static func bytes(_ number: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

  /// The accounts and counters of a snapshot.
  func state(of snapshot: borrowing LogSnapshot) throws -> (sum: Int, counters: [Int]) {
    var (sum, counts) = (0, [0, 0, 0])
    try snapshot.forEach(in: accounts) { _, value in
      sum += Self.number(try [UInt8](decoding: value))
      return true
    }
    for index in 0..<3 { counts[index] = Self.number(try snapshot.value(forKey: [UInt8(index)], in: counters)) }
    return (sum, counts)
  }

  /// Moves an amount, counts it for a program, and returns the count.
  func move(as program: Int, isDurable: Bool, isLarge: Bool, _ random: inout SeededGenerator) throws -> Int {
    var count = 0
    func account() -> UInt8 { UInt8.random(in: 0..<UInt8(Self.accountCount), using: &random) }
    let pair = (account(), account())
    let part = Int.random(in: 1...50, using: &random)
    try store.write(isDurable: isDurable) { snapshot, changes in
      count = Self.number(try snapshot.value(forKey: [UInt8(program)], in: counters)) + 1
      try changes.set(Self.bytes(count), forKey: [UInt8(program)], in: counters.name)
      let first = try snapshot.value(forKey: [pair.0], in: accounts)
      if first == nil {
        for key in 0..<UInt8(Self.accountCount) {
          try changes.set(Self.bytes(Self.amount), forKey: [key], in: accounts.name)
        }
      } else if pair.0 != pair.1 {
        let second = Self.number(try snapshot.value(forKey: [pair.1], in: accounts))
        try changes.set(Self.bytes(Self.number(first) - part), forKey: [pair.0], in: accounts.name)
        try changes.set(Self.bytes(second + part), forKey: [pair.1], in: accounts.name)
      }
      // More than a quarter of the ring goes into the tree directly.
      if isLarge { try changes.set([UInt8](repeating: 1, count: 40_000), forKey: [255], in: "large") }
    }
    return count
  }
}

extension HelperAct {
  private struct Unsound: Error {
    let what: String
  }

  /// Moves amounts until the input ends, and says each count once its commit is acknowledged.
  func moveAmounts() throws {
    let bank = try Bank(in: directory)
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
      let count = try bank.move(as: numbers[0], isDurable: kind < 4, isLarge: kind == 4, &random)
      guard count > last else { throw Unsound(what: "\(count) after \(last)") }
      last = count
      say("\(count)")
      let (sum, counters) = try bank.state(of: bank.store.beginRead())
      guard sum == Bank.accountCount * Bank.amount else { throw Unsound(what: "sum \(sum)") }
      guard zip(counters, seen).allSatisfy({ $0 >= $1 }) else { throw Unsound(what: "\(counters) after \(seen)") }
      seen = counters
      if kind == 5 { try bank.store.merge() }
    }
    try bank.store.close()
    say("done")
  }

  /// Checks the sum, and that nothing that was acknowledged is missing.
  func auditAmounts() throws {
    let bank = try Bank(in: directory)
    let (sum, counters) = try bank.state(of: bank.store.beginRead())
    guard sum == Bank.accountCount * Bank.amount || sum == 0 && counters == [0, 0, 0] else {
      throw Unsound(what: "sum \(sum)")
    }
    guard zip(counters, numbers).allSatisfy({ $0 >= $1 }) else {
      throw Unsound(what: "\(counters), acknowledged \(numbers)")
    }
    try bank.store.close()
    say("sound")
  }
}
