import Foundation
import TallyTestSupport

/// What a suite is given, and where it tells what it did.
struct FaultRun {
  /// Whether the small sizes are wanted, those of `make check`.
  let isShort: Bool
  /// The number that everything random follows from.
  let seed: UInt64
  /// What went wrong, a sentence each.
  private(set) var failures: [String] = []

  /// How often to do something: the environment's word, else what fits the length of the run.
  func count(_ name: String, short: Int, long: Int) -> Int {
    ProcessInfo.processInfo.environment["TALLY_FAULT_\(name)"].flatMap { Int($0) } ?? (isShort ? short : long)
  }

  mutating func fail(_ reason: String) {
    failures.append(reason)
    // The first few say enough, and the number is told at the end.
    if failures.count <= 20 { say("  FAILED: \(reason)") }
  }

  mutating func require(_ condition: Bool, _ reason: @autoclosure () -> String) {
    if !condition { fail(reason()) }
  }
}

/// A kind of fault, caused again and again.
struct FaultSuite: Sendable {
  let name: String
  /// Runs it, and says in one line how often it did what.
  let run: @Sendable (inout FaultRun) throws -> String

  static let all: [FaultSuite] = [
    FaultSuite(name: "crash-images", run: CrashImageSuite.run),
    FaultSuite(name: "kills", run: KillSuite.run),
    FaultSuite(name: "bulk-kills", run: BulkKillSuite.run),
    FaultSuite(name: "system-calls", run: SystemCallSuite.run),
    FaultSuite(name: "allocations", run: AllocationSuite.run),
    FaultSuite(name: "maps", run: MapSuite.run),
    FaultSuite(name: "full-disk", run: FullDiskSuite.run),
    FaultSuite(name: "histories", run: HistorySuite.run),
    FaultSuite(name: "model", run: ModelSuite.run),
    FaultSuite(name: "damage", run: DamageSuite.run),
  ]
}

/// The arguments of the program, and what they ask for.
struct FaultProgram {
  private let arguments: [String]

  struct Misuse: Error {}

  init(_ arguments: [String]) {
    self.arguments = arguments
  }

  func run() throws {
    if arguments.first == "act" { return try Act(Array(arguments.dropFirst())).run() }
    let names = arguments.filter { $0 != "--short" }
    let suites = FaultSuite.all.filter { names.isEmpty || names.contains($0.name) }
    guard suites.count == names.count || names.isEmpty else { throw Misuse() }
    let seed = SeededGenerator.chooseSeed(for: "faults")
    // All streams; what is said by and by must not come before the seed.
    fflush(nil)
    var failureCount = 0
    for suite in suites {
      var run = FaultRun(isShort: arguments.contains("--short"), seed: seed)
      let start = ContinuousClock.now
      let figures = try suite.run(&run)
      let seconds = (ContinuousClock.now - start).components.seconds
      say("\(suite.name): \(figures); \(run.failures.count) failures (\(seconds) s)")
      failureCount += run.failures.count
    }
    if failureCount > 0 { exit(1) }
  }
}
