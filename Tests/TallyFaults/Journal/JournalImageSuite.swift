import Foundation
import LMDB
import SystemPackage
import TallyTestSupport

/// Power cuts, kills and full disks at any point of transactions with a journal, by one process or several.
enum JournalImageSuite {
  /// How many runs are tried to make a control fail.
  private static let controlRuns = 24
  /// Controls that may need some thousand images to fail, more than the short form has: `JournalRuleTests` breaks these rules
  /// with one image each.
  private static let rareControls: Set = ["contradiction", "two slots", "chain"]

  static func run(_ run: inout FaultRun) throws -> String {
    let imageCount = run.count("IMAGES", short: 20, long: 3_000)
    let depth = run.count("DEPTH", short: 2, long: 12)
    for scenario in scenarios {
      for fault in try faults(of: scenario, 0, imageCount, depth, run.seed, &run) {
        run.fail("\(scenario.name), image \(fault)")
      }
    }
    let tried = imageCount * scenarios.count
    run.note(tried, .images)
    let controls = controls.filter { !run.isShort || !Self.rareControls.contains($0.name) }
    let broken = try controls.map { (name: $0.name, count: try imagesToBreak($0.rule, of: $0.scenario, &run)) }
    let missed = broken.filter { $0.count == nil }.map(\.name)
    run.requireControl(
      fails: missed.isEmpty,
      "without the rules of \(missed.joined(separator: ", ")) nothing breaks: the check proves nothing")
    return "\(tried) images of \(scenarios.count) runs tried; without a rule something broke within images: "
      + broken.map { "\($0.name) \($0.count.map { "\($0)" } ?? "never")" }.joined(separator: ", ")
  }

  /// Those that `TALLY_FAULT_SCENARIO` names, or all.
  private static var scenarios: [JournalScenario] {
    let name = ProcessInfo.processInfo.environment["TALLY_FAULT_SCENARIO"]
    return JournalScenario.all.filter { name == nil || $0.name == name }
  }

  /// Those that `TALLY_FAULT_CONTROL` names, or all.
  private static var controls: [(name: String, rule: JournalOptions.BrokenRules, scenario: String)] {
    let name = ProcessInfo.processInfo.environment["TALLY_FAULT_CONTROL"]
    return JournalScenario.controls.filter { name == nil || $0.name == name }
  }

  /// How many images it takes to see that a rule is missing; `nil` if none of some runs does.
  private static func imagesToBreak(
    _ rule: JournalOptions.BrokenRules, of name: String, _ run: inout FaultRun
  ) throws -> Int? {
    guard let scenario = JournalScenario.all.first(where: { $0.name == name }) else { throw FaultProgram.Misuse() }
    let imageCount = run.count("CONTROL_IMAGES", short: 300, long: 1_000)
    for number in 0..<controlRuns {
      let seed = run.seed &+ UInt64(number)
      let faults = try faults(of: scenario, rule.rawValue, imageCount, 0, seed, &run)
      if let first = faults.first {
        return number * imageCount + (first.split(separator: " ").first.flatMap { Int($0) } ?? 0) + 1
      }
    }
    return nil
  }

  /// Records a run and opens images of it; without a rule, only until one is not sound.
  private static func faults(
    of scenario: JournalScenario, _ rules: UInt32, _ imageCount: Int, _ depth: Int, _ seed: UInt64,
    _ run: inout FaultRun
  ) throws -> [String] {
    let transactionCount = run.count("TRANSACTIONS", short: 80, long: 150)
    return try withScratch(inMemory: true) { directory in
      let log = directory.appending("log")
      try scenario.record(rules, to: log, in: directory, transactionCount, seed)
      var (faults, next) = ([String](), 0)
      while next < imageCount, rules == 0 || faults.isEmpty {
        let child = try ChildProcess.act(
          [
            "check-journal-images", log.string, directory.appending("image").string, "\(seed)", "\(next)",
            "\(imageCount)", "\(depth)",
          ] + scenario.setting(isDurable: scenario.isDurable, rules).arguments,
          output: directory.appending("check.out"))
        let ending = child.wait {
          run.advance("\(scenario.name) without rules \(rules), up to \($0.lines.last ?? "") of \(imageCount)")
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
      if rules == 0 && !faults.isEmpty { keep(log) }
      return faults
    }
  }

  /// Keeps a log whose images are not sound in the directory that `TALLY_FAULT_KEEP` names: no run is like another one.
  private static func keep(_ log: FilePath) {
    guard let place = ProcessInfo.processInfo.environment["TALLY_FAULT_KEEP"] else { return }
    let copy = FilePath(place).appending("log-\(UUID().uuidString)")
    // Without it the failure is reported all the same.
    try? FileManager.default.copyItem(atPath: log.string, toPath: copy.string)
    FaultRun.progress("  the log is \(copy)")
  }
}
