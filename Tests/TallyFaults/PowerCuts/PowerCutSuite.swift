import Foundation
import SystemPackage
import TallyTestSupport

/// Power cuts at any point of each command that writes a file: names, links, directories and every file.
enum PowerCutSuite {
  static func run(_ run: inout FaultRun) throws -> String {
    let repetitions = run.count("CUTS", short: 1, long: 8)
    var (imageCount, brokenCount) = (0, 0)
    for scenario in PowerCutScenario.all {
      let faults = try faults(of: scenario.name, "flushed", repetitions, &run, &imageCount)
      for fault in faults { run.fail("\(scenario.name), image \(fault)") }
    }
    // Without flushes, the writes of a command that has ended are lost.
    let controls = ["add-new", "import", "restore-over", "backup-over", "export-over", "journal"]
    var controlImageCount = 0
    for name in controls where try !faults(of: name, "forgetful", 1, &run, &controlImageCount).isEmpty {
      brokenCount += 1
    }
    run.note(imageCount, .images)
    run.requireControl(
      fails: brokenCount == controls.count,
      "only \(brokenCount) of \(controls.count) commands break without flushes: the check proves nothing")
    return "\(imageCount) images of \(PowerCutScenario.all.count) commands tried; "
      + "control without flushes: \(brokenCount) of \(controls.count) commands broken, as expected"
  }

  /// Runs a scenario in processes of its own, and returns the number and fault of each image that is not sound.
  private static func faults(
    of name: String, _ mode: String, _ repetitions: Int, _ run: inout FaultRun, _ imageCount: inout Int
  ) throws -> [String] {
    var (faults, next, isFinished) = ([String](), 0, false)
    while !isFinished {
      try withScratch(inMemory: true) { directory in
        let child = try ChildProcess.act(
          ["power-cut", name, directory.string, "\(run.seed)", "\(next)", "\(repetitions)", mode],
          output: directory.appending("check.out"), environment: ["SWIFT_BACKTRACE": "enable=no"])
        let ending = child.wait { run.advance("\(mode) images of \(name), up to \($0.lines.last ?? "")") }
        let lines = child.lines.filter { $0.first?.isNumber ?? false }
        faults += lines.filter { !$0.hasSuffix(" sound") }
        next += lines.count
        isFinished = ending == .exit(0)
        guard !isFinished else { return }
        if ending == .exit(1) { throw Failure(description: "\(name): the check failed: \(child.lines)") }
        faults.append("\(next) ended its process: \(ending)")
        next += 1
      }
    }
    imageCount += next
    return faults
  }
}

/// Runs a command and opens what power cuts would leave of it, with a line for each:
/// `power-cut SCENARIO DIRECTORY SEED FIRST REPETITIONS flushed|forgetful`.
///
/// A process of its own, since liblmdb ends its process over a file that contradicts itself.
struct PowerCutAct {
  private let scenario: PowerCutScenario
  private let directory: FilePath
  private let seed: UInt64
  private let first: Int
  private let repetitions: Int
  private let forgetsFlushes: Bool

  /// How often the cut after the end of the command is tried: then all that it did must be there.
  private static let imagesOfEnd = 5

  init(_ act: Act) throws {
    let name = try act.text(0)
    guard let scenario = PowerCutScenario.all.first(where: { $0.name == name }) else { throw FaultProgram.Misuse() }
    self.scenario = scenario
    directory = try act.path(1)
    seed = try act.number(2)
    first = try act.number(3)
    repetitions = try act.number(4)
    forgetsFlushes = try act.text(5) == "forgetful"
  }

  func run() throws {
    // A store that hangs has failed: it ends the process.
    let watchdog = Watchdog(limitInSeconds: 30)
    let live = directory.appending("live")
    try FileManager.default.createDirectory(atPath: live.string, withIntermediateDirectories: false)
    try scenario.prepare(live)
    let before = scenario.contents(in: live)
    let tree = try FileTree(live)
    let log = try record(in: live)
    let after = scenario.contents(in: live)
    var disk = CutDisk(log: log, tree: tree, forgetting: forgetsFlushes ? .everything : .nothing)
    for (number, (place, newestNameOnly)) in places(in: log).enumerated() {
      disk.advance(to: place)
      guard number >= first else { continue }
      var generator = SeededGenerator(seed: seed &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D)
      let image = directory.appending("image")
      try? FileManager.default.removeItem(atPath: image.string)
      try disk.place(at: image, newestNameOnly: newestNameOnly, using: &generator)
      watchdog.begin("image \(number)")
      let fault = try scenario.fault(
        in: image, isDone: place == log.events.count, hasRun: disk.shows("ran"), before: before, after: after)
      say("\(number) \(fault.map { "at \(place) of \(log.events.count): \($0)" } ?? "sound")")
    }
  }

  /// Runs the command, and returns what it did to files.
  private func record(in live: FilePath) throws -> FileLog {
    let log = directory.appending("log")
    let child = try scenario.start(
      in: live, output: directory.appending("command.out"),
      environment: ["LD_PRELOAD": try Preloads.path("record-files"), "TALLY_FILE_LOG": log.string])
    guard child.wait() == .exit(0) else { throw Failure(description: "the command failed: \(child.lines)") }
    return try FileLog(log)
  }

  /// The events before which the power fails: after each change of names, twice, and each flush, some writes and the
  /// end.
  private func places(in log: FileLog) -> [(event: Int, newestNameOnly: Bool)] {
    let places = log.events.indices.flatMap { event -> [(event: Int, newestNameOnly: Bool)] in
      let isOfNames = event > 0 && log.events[event - 1].isOfNames
      let once = isOfNames || event % 4 == 0 ? [(event, false)] : []
      return Array(repeating: once + (isOfNames ? [(event, true)] : []), count: repetitions).flatMap { $0 }
    }
    return places + Array(repeating: (log.events.count, false), count: Self.imagesOfEnd * repetitions)
  }
}
