import Foundation
import SystemPackage

/// Each flush of a directory fails in turn, in every command that writes a file: it fails, and if what it was to do is done
/// all the same it says so.
enum DirectoryFlushSuite {
  private static let mostFlushes = 100

  static func run(_ run: inout FaultRun) throws -> String {
    let library = try Preloads.path("fail-directory-flush")
    var (failedCount, doneCount) = (0, 0)
    for scenario in PowerCutScenario.all {
      for number in 1...mostFlushes {
        run.advance("\(scenario.name), flush \(number)")
        let environment = ["LD_PRELOAD": library, "TALLY_FAIL_DIRECTORY_FLUSH": "\(number)"]
        let isDone: Bool? = try withScratch(inMemory: true) { directory in
          try outcome(of: scenario, in: directory, environment, &run, number)
        }
        guard let isDone else { break }
        (failedCount, doneCount) = (failedCount + 1, doneCount + (isDone ? 1 : 0))
      }
    }
    run.note(failedCount, .injectedFaults)
    run.require(doneCount > 0, "no command had done its work: the suite proves nothing")
    return "\(failedCount) flushes of directories failed, \(doneCount) of them after all was done"
  }

  /// Whether the command had done its work; `nil` if it flushes fewer directories.
  private static func outcome(
    of scenario: PowerCutScenario, in directory: FilePath, _ environment: [String: String], _ run: inout FaultRun,
    _ number: Int
  ) throws -> Bool? {
    let (live, mark) = (directory.appending("live"), directory.appending("fired"))
    try FileManager.default.createDirectory(atPath: live.string, withIntermediateDirectories: false)
    try scenario.prepare(live)
    let before = scenario.contents(in: live)
    let child = try scenario.start(
      in: live, output: directory.appending("out"),
      environment: environment.merging(["TALLY_FAULT_FIRED": mark.string]) { $1 })
    let ending = child.wait()
    guard FileManager.default.fileExists(atPath: mark.string) else { return nil }
    let words = "\(scenario.name), flush \(number): \(ending), \(child.lines)"
    run.require(ending != .exit(0), "succeeded: \(words)")
    let after = scenario.contents(in: live)
    // An empty store is not yet the result.
    let isDone = after != before && after != PowerCutScenario.emptyStore && !scenario.isAppended
    run.require(
      !isDone || child.lines.contains { $0.contains("did not confirm it") }, "did not name the finished step: \(words)")
    return isDone
  }
}
