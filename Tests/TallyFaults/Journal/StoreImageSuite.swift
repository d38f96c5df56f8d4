import Foundation
import LMDB
import SystemPackage
import TallyTestSupport

/// Power cuts and kills at any point of a workload on a store with a journal, from its creation on.
enum StoreImageSuite {
  private static let lives = 5
  /// How many runs are tried to make a control fail.
  private static let controlRuns: UInt64 = 12

  static func run(_ run: inout FaultRun) throws -> String {
    let imageCount = run.count("IMAGES", short: 60, long: 2_000)
    for durability in ["durable", "relaxed"] {
      for fault in try faults(durability, 0, imageCount, run.seed, &run) { run.fail("\(durability), image \(fault)") }
    }
    run.note(2 * imageCount, .images)
    var broken: [String] = []
    for (name, rule) in controls {
      let imageCount = run.count("CONTROL_IMAGES", short: 100, long: 400)
      var faults: [String] = []
      for number in 0..<controlRuns where faults.isEmpty {
        faults = try self.faults("durable", rule.rawValue, imageCount, run.seed &+ number, &run)
      }
      run.requireControl(
        fails: !faults.isEmpty, "without the rule of \(name) nothing breaks: the check proves nothing")
      broken.append("\(name) \(faults.count)")
    }
    return "\(2 * imageCount) images of stores with a journal tried; broken without a rule: "
      + broken.joined(separator: ", ")
  }

  /// Those that a store shows as well as an environment, which `journal-images` breaks rule by rule.
  private static let controls: [(name: String, rule: JournalOptions.BrokenRules)] = [
    ("pin", .pin), ("record flush", .recordFlush), ("data flush", .dataFlush), ("restored meta", .restoredMeta),
  ]

  /// Records a run and opens images of it.
  private static func faults(
    _ durability: String, _ rules: UInt32, _ imageCount: Int, _ seed: UInt64, _ run: inout FaultRun
  ) throws -> [String] {
    try withScratch(inMemory: true) { directory in
      let log = directory.appending("log")
      try record(durability, rules, seed, to: log, in: directory, &run)
      var (faults, next) = ([String](), 0)
      while next < imageCount, rules == 0 || faults.isEmpty {
        let child = try ChildProcess.act(
          [
            "check-store-images", log.string, directory.appending("image").string, "\(seed)", "\(next)",
            "\(imageCount)", "\(rules)",
          ], output: directory.appending("check.out"))
        let ending = child.wait {
          run.advance("\(durability) without rules \(rules), up to \($0.lines.last ?? "") of \(imageCount)")
        }
        let lines = child.lines.filter { $0.first?.isNumber ?? false }
        faults += lines.filter { !$0.hasSuffix(" sound") }
        next += lines.count
        if ending != .exit(0) {
          if lines.isEmpty, ending == .exit(1) { throw Failure(description: "the check failed: \(child.lines)") }
          faults.append("\(next) ended its process: \(ending)\(child.report)")
          next += 1
        }
      }
      return faults
    }
  }

  /// Lets processes run transactions one after the other; all but the last one are killed.
  private static func record(
    _ durability: String, _ rules: UInt32, _ seed: UInt64, to log: FilePath, in directory: FilePath,
    _ run: inout FaultRun
  ) throws {
    let count = run.count("TRANSACTIONS", short: 50, long: 150)
    let root = directory.appending("root")
    try FileManager.default.createDirectory(atPath: root.string, withIntermediateDirectories: true)
    var generator = SeededGenerator(seed: seed &+ UInt64(rules))
    for life in 0..<lives {
      var environment = [
        "LD_PRELOAD": try Preloads.path("record-files"), "TALLY_FILE_LOG": log.string,
        "TALLY_FLUSH_MICROSECONDS": "600",
      ]
      let isLast = life == lives - 1
      if life > 0 && !isLast { environment["TALLY_END_AFTER"] = "\(Int.random(in: 60..<700, using: &generator))" }
      let goal = life == 0 ? 4 : count
      let child = try ChildProcess.act(
        [
          "workload", root.appending("store").string, root.appending("acknowledged").string, "\(seed)",
          "\(goal)", durability, "\(rules)",
        ], output: directory.appending("workload-\(life).out"), environment: environment)
      let ending = child.wait()
      guard ending == .exit(0) || (!isLast && ending == .signal(SIGKILL)) || rules != 0 else {
        throw Failure(description: "the workload failed: \(ending) \(child.lines)")
      }
    }
  }
}
