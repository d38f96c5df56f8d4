import Foundation
import SystemPackage
import Tally

/// Runs the workload's transactions while calls fail: `session STORE FILE SEED COUNT [LIMIT]`.
///
/// Like a patient person: it retries failures, and opens a store again whose last commit may or may not have taken place.
/// It prints the code of each failure on a line. With a limit no file may be longer, until it gives up for the first
/// time.
struct SessionAct {
  private let directory: FilePath
  private let acknowledgements: FilePath
  private let count: UInt64
  private let limitInBytes: Int?
  private var workload: Workload

  private static let attempts = 6

  init(_ act: Act) throws {
    directory = try act.path(0)
    acknowledgements = try act.path(1)
    workload = Workload(seed: try act.number(2))
    count = try act.number(3)
    limitInBytes = act.arguments.count > 4 ? try act.number(4) : nil
  }

  mutating func run() throws {
    if let limitInBytes { setLimit(rlim_t(limitInBytes)) }
    var isDone = try work()
    if limitInBytes != nil, !isDone {
      say("raised the limit")
      setLimit(rlim_t.max)
      isDone = try work()
    }
    say(isDone ? "done" : "gave up")
  }

  private func setLimit(_ bytes: rlim_t) {
    // Without this the system ends a process that writes beyond its limit.
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: bytes, rlim_max: rlim_t.max)
    // The call only reads the local.
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  }

  /// Runs all transactions; false if one of them, or opening, failed repeatedly.
  private mutating func work() throws -> Bool {
    for _ in 0..<Self.attempts {
      var isFinished = false
      let code = outcome {
        let store = try TaskStore(at: directory, configuration: workload.configuration)
        defer { try? store.close() }
        try catchUp(with: store)
        isFinished = try workOn(store)
      }
      if code != "none" { say(code) }
      if isFinished { return true }
    }
    return false
  }

  /// A commit whose outcome was unknown may have taken place.
  private mutating func catchUp(with store: TaskStore) throws {
    let sequence = try store.information().sequence
    guard sequence == workload.sequence || sequence == workload.sequence + 1 else {
      say("sequence \(sequence) after \(workload.sequence)")
      return
    }
    if sequence > workload.sequence { workload.advance() }
  }

  private mutating func workOn(_ store: TaskStore) throws -> Bool {
    var failureCount = 0
    while workload.sequence < count, failureCount < Self.attempts {
      var next = workload
      let code = outcome { try next.step(in: store) }
      switch code {
      case "none":
        workload = next
        try acknowledge()
      case "outcomeUnknown":
        say(code)
        return false
      default:
        say(code)
        failureCount += 1
      }
    }
    return workload.sequence == count
  }

  private func acknowledge() throws {
    let file = try FileDescriptor.open(
      acknowledgements, .writeOnly, options: [.create, .append, .closeOnExec], permissions: .ownerReadWrite)
    _ = try file.closeAfter { try file.writeAll("\(workload.sequence)\n".utf8) }
  }
}
