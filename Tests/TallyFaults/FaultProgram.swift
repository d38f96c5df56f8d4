import Foundation
import TallyTestSupport

/// A kind of fault, caused repeatedly.
struct FaultSuite: Sendable {
  let name: String
  /// The duration of the long form, on a machine with two cores.
  let minutes: Double
  /// Runs it, and returns its figures in one line.
  let run: @Sendable (inout FaultRun) throws -> String

  static let all: [FaultSuite] = [
    FaultSuite(name: "crash-images", minutes: 3, run: CrashImageSuite.run),
    FaultSuite(name: "journal-recovery", minutes: 3, run: JournalRecoverySuite.run),
    FaultSuite(name: "power-cuts", minutes: 4, run: PowerCutSuite.run),
    FaultSuite(name: "directory-flushes", minutes: 1, run: DirectoryFlushSuite.run),
    FaultSuite(name: "log-power-cuts", minutes: 25, run: LogCutSuite.run),
    FaultSuite(name: "sync-images", minutes: 10, run: SyncImageSuite.run),
    FaultSuite(name: "sync-kills", minutes: 2, run: SyncKillSuite.run),
    FaultSuite(name: "verifications", minutes: 10, run: VerificationSuite.run),
    FaultSuite(name: "presence", minutes: 10, run: PresenceSuite.run),
    FaultSuite(name: "kills", minutes: 2, run: KillSuite.run),
    FaultSuite(name: "log-kills", minutes: 6, run: LogKillSuite.run),
    FaultSuite(name: "bulk-kills", minutes: 15, run: BulkKillSuite.run),
    FaultSuite(name: "system-calls", minutes: 4, run: SystemCallSuite.run),
    FaultSuite(name: "maintenance", minutes: 2, run: MaintenanceSuite.run),
    FaultSuite(name: "last-steps", minutes: 1, run: LastStepSuite.run),
    FaultSuite(name: "allocations", minutes: 4, run: AllocationSuite.run),
    FaultSuite(name: "maps", minutes: 1, run: MapSuite.run),
    FaultSuite(name: "clocks", minutes: 0.1, run: ClockSuite.run),
    FaultSuite(name: "full-disk", minutes: 4, run: FullDiskSuite.run),
    FaultSuite(name: "histories", minutes: 1, run: HistorySuite.run),
    FaultSuite(name: "model", minutes: 5, run: ModelSuite.run),
    FaultSuite(name: "damage", minutes: 3, run: DamageSuite.run),
  ]
}

/// The arguments of the program, and their meaning.
struct FaultProgram {
  private let arguments: [String]

  struct Misuse: Error {}

  init(_ arguments: [String]) {
    self.arguments = arguments
  }

  func run() throws {
    if arguments.first == "act" { return try Act(Array(arguments.dropFirst())).run() }
    let names = arguments.filter { $0 != "--short" }
    let isShort = arguments.contains("--short")
    let suites = FaultSuite.all.filter { names.isEmpty || names.contains($0.name) }
    guard suites.count == names.count || names.isEmpty else { throw Misuse() }
    let seed = SeededGenerator.chooseSeed(for: "faults")
    // All streams; later output must not come before the seed.
    fflush(nil)
    if !isShort {
      let minutes = suites.reduce(0) { $0 + $1.minutes }
      FaultRun.progress("faults: \(suites.count) suites, about \(Int(minutes.rounded(.up))) minutes")
    }
    var (figures, failureCount) = ([FaultRun.Figure: Int](), 0)
    for suite in suites {
      let run = try run(suite, isShort: isShort, seed: seed)
      figures.merge(run.figures, uniquingKeysWith: +)
      failureCount += run.failures.count
    }
    let words = FaultRun.Figure.allCases.compactMap { figure in figures[figure].map { "\($0) \(figure.rawValue)" } }
    say("faults in all: \((words + ["\(failureCount) failures"]).joined(separator: ", "))")
    if failureCount > 0 { exit(1) }
  }

  private func run(_ suite: FaultSuite, isShort: Bool, seed: UInt64) throws -> FaultRun {
    var run = FaultRun(of: suite.name, isShort: isShort, seed: seed)
    let start = ContinuousClock.now
    let figures = try suite.run(&run)
    let seconds = (ContinuousClock.now - start).components.seconds
    say("\(suite.name): \(figures); \(run.failures.count) failures (\(seconds) s)")
    return run
  }
}
