import Foundation

/// What a suite is given, and where it tells what it did.
struct FaultRun {
  /// What is counted over all suites.
  enum Figure: String, CaseIterable {
    case images = "images tried"
    case kills = "processes killed"
    case injectedFaults = "faults injected"
    case damages = "damaged files used"
    case controls = "controls that failed as they must"
  }

  /// Whether the small sizes are wanted, those of `make check`.
  let isShort: Bool
  /// The number that everything random follows from.
  let seed: UInt64
  /// The suite's name.
  let name: String
  /// What went wrong, a sentence each.
  private(set) var failures: [String] = []
  /// How often what was done.
  private(set) var figures: [Figure: Int] = [:]
  private var lastWord = ContinuousClock.now

  private static let silence = Duration.seconds(15)

  init(of name: String, isShort: Bool, seed: UInt64) {
    self.name = name
    self.isShort = isShort
    self.seed = seed
  }

  /// How often to do something: the environment's word, else what fits the length of the run.
  func count(_ name: String, short: Int, long: Int) -> Int {
    ProcessInfo.processInfo.environment["TALLY_FAULT_\(name)"].flatMap { Int($0) } ?? (isShort ? short : long)
  }

  /// Adds to what was done.
  mutating func note(_ count: Int, _ figure: Figure) {
    figures[figure, default: 0] += count
  }

  /// Says how far the long form has come, now and then, beside the figures.
  mutating func advance(to done: @autoclosure () -> Int, of total: Int) {
    advance("\(done()) of \(total)")
  }

  /// As `advance(to:of:)`, where nobody knows how far there is to go.
  mutating func advance(_ what: @autoclosure () -> String) {
    guard !isShort, ContinuousClock.now - lastWord >= Self.silence else { return }
    lastWord = ContinuousClock.now
    FaultRun.tell("  \(name): \(what())")
  }

  mutating func fail(_ reason: String) {
    failures.append(reason)
    // The first few say enough, and the number is told at the end.
    if failures.count <= 20 { say("  FAILED: \(reason)") }
  }

  mutating func require(_ condition: Bool, _ reason: @autoclosure () -> String) {
    if !condition { fail(reason()) }
  }

  /// Notes a control, which proves its suite by failing.
  mutating func requireControl(fails: Bool, _ reason: @autoclosure () -> String) {
    if fails { note(1, .controls) } else { fail(reason()) }
  }

  /// Says something beside the figures, to whoever waits.
  static func tell(_ line: String) {
    // Without a reader there is nobody to tell of the failure.
    try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8))
  }
}
