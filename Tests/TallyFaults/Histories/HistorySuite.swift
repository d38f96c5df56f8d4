import Foundation
import SystemPackage
import Tally
import TallyTestSupport

/// The reads of several threads of several processes, compared with the one order in which the writes took place.
enum HistorySuite {
  private static let processCount = 2

  static func run(_ run: inout FaultRun) throws -> String {
    let count = run.count("HISTORY_OPERATIONS", short: 60, long: 1_500)
    return try withScratch(inMemory: true) { directory in
      let path = directory.appending("store")
      let store = try TaskStore(at: path)
      try store.writeAndWait { transaction in
        _ = try transaction.add(TaskDraft(id: Operation.counterID, title: "0"))
        for register in 0..<Operation.registerCount {
          _ = try transaction.add(TaskDraft(id: Operation.registerID(register), title: "first"))
        }
      }
      try store.close()
      let children = try (0..<processCount).map { number in
        try ChildProcess.act(
          ["history", path.string, "\(number)", "\(count)", "\(run.seed &+ UInt64(number) &* 1_000)"],
          output: directory.appending("\(number).out"))
      }
      var operations: [Operation] = []
      for child in children {
        run.require(child.wait() == .exit(0), "a process of the history failed")
        for line in child.lines {
          guard let operation = Operation(line) else { run.fail(line); continue }
          operations.append(operation)
        }
      }
      var history = History(operations)
      for fault in history.faults() { run.fail(fault) }
      // The control: a history in which one read is older than a write that had returned must be found.
      run.requireControl(fails: history.findsStaleRead(), "a stale read is not found: the check proves nothing")
      return "\(operations.count) operations of \(processCount) processes in one order, "
        + "\(operations.count(where: \.isWrite)) of them writes"
    }
  }
}

/// Operations of which each must have seen exactly the writes before it.
struct History {
  private var operations: [Operation]

  init(_ operations: [Operation]) {
    self.operations = operations
  }

  /// The observations that no single order of all operations explains.
  func faults() -> [String] {
    let writes = operations.filter(\.isWrite).sorted { $0.seen < $1.seen }
    guard writes.enumerated().allSatisfy({ $0.offset == $0.element.seen }) else {
      return ["the writes do not count up one by one: one is lost, or counted twice"]
    }
    var states = [[String](repeating: "first", count: Operation.registerCount)]
    for write in writes {
      var state = states[states.count - 1]
      for (register, value) in write.writes { state[register] = value }
      states.append(state)
    }
    var found = operations.compactMap { snapshotFault(of: $0, in: states) }
    if zip(writes, writes.dropFirst()).contains(where: { $0.sequence > $1.sequence }) {
      found.append("the sequence falls from one write to a later one")
    }
    return found + orderFaults(writes)
  }

  private func snapshotFault(of operation: Operation, in states: [[String]]) -> String? {
    guard states.indices.contains(operation.seen) else { return "saw write \(operation.seen), which does not exist" }
    let state = states[operation.seen]
    let wrong = operation.reads.first { state[$0.key] != $0.value }
    return wrong.map { "register \($0.key) read as \($0.value) after \(operation.seen) writes, not \(state[$0.key])" }
  }

  /// An operation that begins after a write has returned sees it, and none sees a write that begins after its own end.
  private func orderFaults(_ writes: [Operation]) -> [String] {
    let byEnd = writes.sorted { $0.ended < $1.ended }
    var newest = 0
    let newestByEnd = byEnd.map { write in
      newest = max(newest, write.seen + 1)
      return newest
    }
    return operations.compactMap { operation in
      let returnedCount = byEnd.partitioningIndex { $0.ended >= operation.began }
      let mustSee = returnedCount == 0 ? 0 : newestByEnd[returnedCount - 1]
      if operation.seen < mustSee { return "saw \(operation.seen) writes where \(mustSee) had returned" }
      guard operation.seen > 0, writes[operation.seen - 1].began > operation.ended else { return nil }
      return "saw write \(operation.seen) before it began"
    }
  }

  /// Whether this history, with one read moved back in time, is refused.
  mutating func findsStaleRead() -> Bool {
    guard
      let last = operations.indices.filter({ !operations[$0].isWrite }).max(by: {
        operations[$0].began < operations[$1].began
      })
    else { return false }
    let kept = operations[last]
    defer { operations[last] = kept }
    operations[last].seen = 0
    operations[last].reads = [:]
    return !faults().isEmpty
  }
}

extension [Operation] {
  /// The first index whose element matches, in an array whose matching elements are all at the end.
  fileprivate func partitioningIndex(where fits: (Operation) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if fits(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
