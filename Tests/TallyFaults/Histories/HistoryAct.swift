import Foundation
import SystemPackage
import Tally
import TallyTestSupport

/// One operation of a history: the values it read, the values it wrote, and when it was called and returned.
struct Operation {
  var isWrite: Bool
  var began: UInt64
  var ended: UInt64
  /// The number of writes whose effect it saw; its own is the next one.
  var seen: Int
  var sequence: UInt64
  /// The value of each register.
  var reads: [Int: String]
  var writes: [Int: String]

  static let registerCount = 8

  /// The task that counts the writes.
  static let counterID = Rivals.id(20, 0)

  static func registerID(_ number: Int) -> UUID { Rivals.id(21, number) }

  /// As a line: flag, times, numbers, then `register=value` for reads and `register:value` for writes.
  var line: String {
    let values = reads.map { " \($0.key)=\($0.value)" } + writes.map { " \($0.key):\($0.value)" }
    return "\(isWrite ? "W" : "R") \(began) \(ended) \(seen) \(sequence)" + values.joined()
  }

  init?(_ line: String) {
    let words = line.split(separator: " ")
    guard words.count >= 5, let began = UInt64(words[1]), let ended = UInt64(words[2]), let seen = Int(words[3]),
      let sequence = UInt64(words[4])
    else { return nil }
    (isWrite, self.began, self.ended, self.seen, self.sequence) = (words[0] == "W", began, ended, seen, sequence)
    (reads, writes) = ([:], [:])
    for word in words.dropFirst(5) {
      let isRead = word.contains("=")
      let parts = word.split(separator: isRead ? "=" : ":")
      guard parts.count == 2, let register = Int(parts[0]) else { return nil }
      if isRead { reads[register] = String(parts[1]) } else { writes[register] = String(parts[1]) }
    }
  }

  init(isWrite: Bool) {
    self.isWrite = isWrite
    (began, ended, seen, sequence, reads, writes) = (Self.now, 0, 0, 0, [:], [:])
  }

  /// Time since the machine's start, the same for all of its processes.
  static var now: UInt64 {
    var time = timespec()
    // The call only writes into the local.
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// Reads and writes registers from several threads, and prints each operation: `history STORE WORKER COUNT SEED`.
struct HistoryAct {
  private let store: TaskStore
  private let worker: String
  private let count: Int
  private let seed: UInt64

  private static let threadCount = 4

  init(_ act: Act) throws {
    store = try TaskStore(at: try act.path(0))
    worker = try act.text(1)
    count = try act.number(2)
    seed = try act.number(3)
  }

  func run() throws {
    let done = DispatchGroup()
    for thread in 0..<Self.threadCount {
      done.enter()
      // The last two share commits with writes that wait at the same time.
      if thread < 2 {
        Thread.detachNewThread {
          defer { done.leave() }
          runSynchronously(thread)
        }
      } else {
        Task.detached {
          defer { done.leave() }
          await runAsynchronously(thread)
        }
      }
    }
    done.wait()
    try store.close()
  }

  private func runSynchronously(_ thread: Int) {
    var generator = SeededGenerator(seed: seed &+ UInt64(thread))
    for number in 0..<count {
      do {
        if generator.oneIn(3) {
          try read(using: &generator)
        } else {
          let plan = plan(thread, number, using: &generator)
          let begun = Operation(isWrite: true)
          report(try store.writeAndWait { try Self.perform(plan, begun, in: &$0) })
        }
      } catch {
        say("failed: \(error)")
      }
    }
  }

  private func runAsynchronously(_ thread: Int) async {
    var generator = SeededGenerator(seed: seed &+ UInt64(thread))
    for number in 0..<count {
      do {
        if generator.oneIn(3) {
          try read(using: &generator)
        } else {
          let plan = plan(thread, number, using: &generator)
          let begun = Operation(isWrite: true)
          report(try await store.write { try Self.perform(plan, begun, in: &$0) })
        }
      } catch {
        say("failed: \(error)")
      }
    }
  }

  /// The registers that a write reads and writes.
  private struct Plan: Sendable {
    let reads: [Int]
    let writes: [Int: String]
  }

  private func plan(_ thread: Int, _ number: Int, using generator: inout SeededGenerator) -> Plan {
    let registers = Array(0..<Operation.registerCount).shuffled(using: &generator)
    let written = registers.prefix(Int.random(in: 1...3, using: &generator))
    let value = "\(worker).\(thread).\(number)"
    return Plan(
      reads: Array(registers.suffix(4)), writes: Dictionary(uniqueKeysWithValues: written.map { ($0, value) }))
  }

  private static func perform(
    _ plan: Plan, _ begun: Operation, in transaction: inout StoreWriteTransaction
  ) throws -> Operation {
    var operation = begun
    operation.seen = try transaction.task(Operation.counterID).flatMap { Int($0.title) } ?? -1
    operation.sequence = try transaction.sequence
    for register in plan.reads {
      operation.reads[register] = try transaction.task(Operation.registerID(register))?.title
    }
    let next = operation.seen + 1
    try transaction.update(Operation.counterID) { $0.title = "\(next)" }
    for (register, value) in plan.writes {
      try transaction.update(Operation.registerID(register)) { $0.title = value }
      guard try transaction.task(Operation.registerID(register))?.title == value else {
        throw Failure(description: "a transaction does not read what it wrote")
      }
    }
    operation.writes = plan.writes
    return operation
  }

  private func read(using generator: inout SeededGenerator) throws {
    let begun = Operation(isWrite: false)
    let registers = Array(0..<Operation.registerCount).shuffled(using: &generator).prefix(5)
    report(
      try store.read { transaction in
        var operation = begun
        operation.seen = try transaction.task(Operation.counterID).flatMap { Int($0.title) } ?? -1
        operation.sequence = try transaction.sequence
        for register in registers {
          operation.reads[register] = try transaction.task(Operation.registerID(register))?.title
        }
        return operation
      })
  }

  private func report(_ operation: Operation) {
    var operation = operation
    operation.ended = Operation.now
    say(operation.line)
  }
}
