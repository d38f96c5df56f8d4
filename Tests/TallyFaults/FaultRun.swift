import Foundation

/// The settings of a suite, and its figures and failures.
struct FaultRun {
  /// The figures added up over all suites.
  enum Figure: String, CaseIterable {
    case images = "images tried"
    case kills = "processes killed"
    case injectedFaults = "faults injected"
    case damages = "damaged files used"
    case controls = "controls that failed as they must"
  }

  /// Whether to use the small sizes, those of `make check`.
  let isShort: Bool
  /// The seed of all random numbers.
  let seed: UInt64
  /// The suite's name.
  let name: String
  /// The failures, a sentence each.
  private(set) var failures: [String] = []
  /// The figures of this suite.
  private(set) var figures: [Figure: Int] = [:]
  private var lastWord = ContinuousClock.now

  private static let silence = Duration.seconds(15)

  init(of name: String, isShort: Bool, seed: UInt64) {
    self.name = name
    self.isShort = isShort
    self.seed = seed
  }

  /// The number of repetitions: from the environment, else by the length of the run.
  func count(_ name: String, short: Int, long: Int) -> Int {
    ProcessInfo.processInfo.environment["TALLY_FAULT_\(name)"].flatMap { Int($0) } ?? (isShort ? short : long)
  }

  /// Adds to the figures.
  mutating func note(_ count: Int, _ figure: Figure) {
    figures[figure, default: 0] += count
  }

  /// Reports the progress of the long form from time to time, on the standard error.
  mutating func advance(to done: @autoclosure () -> Int, of total: Int) {
    advance("\(done()) of \(total)")
  }

  /// As `advance(to:of:)`, where the total is unknown.
  mutating func advance(_ what: @autoclosure () -> String) {
    guard !isShort, ContinuousClock.now - lastWord >= Self.silence else { return }
    lastWord = ContinuousClock.now
    FaultRun.progress("  \(name): \(what())")
  }

  mutating func fail(_ reason: String) {
    failures.append(reason)
    // The first few are enough; the number is printed at the end.
    if failures.count <= 20 { say("  FAILED: \(reason)") }
  }

  mutating func require(_ condition: Bool, _ reason: @autoclosure () -> String) {
    if !condition { fail(reason()) }
  }

  /// Records a control, which proves its suite by failing.
  mutating func requireControl(fails: Bool, _ reason: @autoclosure () -> String) {
    if fails { note(1, .controls) } else { fail(reason()) }
  }

  /// Prints progress on the standard error.
  static func progress(_ line: String) {
    // Without a reader the failure cannot be reported.
    try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8))
  }
}
