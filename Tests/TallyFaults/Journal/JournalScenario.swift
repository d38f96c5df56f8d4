import Foundation
import LMDB
import SystemPackage
import TallyTestSupport

/// Processes that work at the same time in one environment with a journal.
struct JournalScenario {
  let name: String
  /// For each process: whether its commits are durable.
  let processes: [Bool]
  /// How often the processes are started; all but the last ones are killed, where there are several.
  var lives = 1
  /// Of the processes, how many may be killed; the others end by themselves.
  var killedCount = Int.max
  var kind = JournalSetting.Kind.plain
  var fullDiskPermille = 0
  var hasReader = false
  /// Whether the processes are killed soon after they have written a header, with many records after it.
  var endsAtHeaders = false

  static let all = [
    JournalScenario(name: "durable", processes: [true], hasReader: true),
    JournalScenario(name: "relaxed", processes: [false]),
    JournalScenario(name: "together", processes: [true, false], hasReader: true),
    JournalScenario(name: "pauses", processes: [true, false], kind: .pauses),
    JournalScenario(name: "narrow", processes: [true, false], kind: .narrow, hasReader: true),
    JournalScenario(name: "killed", processes: [true, false, true], lives: 6),
    JournalScenario(name: "killed alone", processes: [true], lives: 6, kind: .long),
    JournalScenario(name: "killed at headers", processes: [false], lives: 6, kind: .long, endsAtHeaders: true),
    JournalScenario(name: "killed in pauses", processes: [false, true], lives: 8, killedCount: 1, kind: .pauses),
    JournalScenario(name: "full disk", processes: [true, false], lives: 5, fullDiskPermille: 30),
  ]

  /// The rules, and the scenario in which a control without each must fail.
  static let controls: [(name: String, rule: JournalOptions.BrokenRules, scenario: String)] = [
    ("pin", .pin, "durable"), ("record flush", .recordFlush, "durable"),
    ("record first", .recordFirst, "durable"), ("data flush", .dataFlush, "durable"),
    ("data before header", .dataBeforeHeader, "durable"), ("header flush", .headerFlush, "durable"),
    ("contradiction", .contradiction, "killed in pauses"), ("two slots", .twoSlots, "durable"),
    ("restored meta", .restoredMeta, "durable"),
    ("checksum", .checksum, "relaxed"), ("chain", .chain, "pauses"), ("voiding", .voiding, "full disk"),
    ("recovery flush", .recoveryFlush, "killed at headers"), ("recovery pin", .recoveryPin, "killed alone"),
    ("ring limit", .ringLimit, "narrow"), ("steady without record", .steadyWithoutRecord, "narrow"),
    ("clean flush", .cleanFlush, "pauses"), ("directory flush", .directoryFlush, "durable"),
  ]

  /// Whether every commit is durable.
  var isDurable: Bool { processes.allSatisfy { $0 } }

  func setting(isDurable: Bool, _ rules: UInt32) -> JournalSetting {
    JournalSetting(isDurable: isDurable, brokenRules: rules, kind: kind)
  }

  /// Lets the processes run, again and again where they are killed, and records what they do to files.
  ///
  /// The first process creates the environment, alone and with durable commits: until one is durable a refusal is sound.
  func record(_ rules: UInt32, to log: FilePath, in directory: FilePath, _ count: Int, _ seed: UInt64) throws {
    let root = directory.appending("root")
    try FileManager.default.createDirectory(atPath: root.string, withIntermediateDirectories: true)
    var generator = SeededGenerator(seed: seed)
    for life in 0...lives {
      let started = try processes.indices.prefix(life == 0 ? 1 : processes.count).map { index in
        try start(index, life, rules, log, directory, life == 0 ? 8 : countOfLife(count), &generator)
      }
      let reader = hasReader && life > 0 ? try startReader(rules, log, directory) : nil
      for child in started {
        let ending = child.wait()
        guard ending == .exit(0) || (lives > 1 && ending == .signal(SIGKILL)) || rules != 0 else {
          throw Failure(description: "\(name): the work failed: \(ending) \(child.lines)")
        }
      }
      guard let reader else { continue }
      try write([], to: root.appending("store").appending("stop"))
      guard reader.wait() == .exit(0) || rules != 0 else { throw Failure(description: "\(name): \(reader.lines)") }
    }
  }

  /// How many transactions a process makes in each life: enough to be killed before it ends.
  private func countOfLife(_ count: Int) -> Int {
    // Checkpoints must come before the end, also where a busy machine delays them.
    if endsAtHeaders { return Self.transactionsUpToHeaders }
    return max(count / processes.count / lives, lives > 1 ? kind == .long ? 60 : 25 : 1)
  }

  private func start(
    _ index: Int, _ life: Int, _ rules: UInt32, _ log: FilePath, _ directory: FilePath, _ count: Int,
    _ generator: inout SeededGenerator
  ) throws -> ChildProcess {
    let root = directory.appending("root")
    var environment = try recording(to: log)
    if life > 0 {
      environment["TALLY_FULL_DISK"] = "\(fullDiskPermille)"
      if life < lives && index < killedCount {
        let (name, range) =
          endsAtHeaders ? Self.endings[1] : Self.endings.randomElement(using: &generator) ?? Self.endings[0]
        environment[name] = "\(Int.random(in: range, using: &generator))"
      }
    }
    return try ChildProcess.act(
      [
        "journal-work", root.appending("store").string, root.appending("acknowledged").string, "\(count)",
        "\(generator.next())",
      ] + setting(isDurable: processes[index] || life == 0, rules).arguments,
      output: directory.appending("work-\(life)-\(index).out"), environment: environment)
  }

  private static let transactionsUpToHeaders = 300

  /// What kills a process, and the numbers that it takes.
  private static let endings = [
    ("TALLY_END_AFTER", 20..<400), ("TALLY_END_AFTER_HEADER", 1..<9), ("TALLY_END_AFTER_MILLISECONDS", 15..<90),
  ]

  private func startReader(_ rules: UInt32, _ log: FilePath, _ directory: FilePath) throws -> ChildProcess {
    let root = directory.appending("root")
    return try ChildProcess.act(
      ["journal-read", root.appending("store").string, root.appending("acknowledged").string]
        + setting(isDurable: true, rules).arguments,
      output: directory.appending("read.out"), environment: recording(to: log))
  }

  private func recording(to log: FilePath) throws -> [String: String] {
    [
      "LD_PRELOAD": try Preloads.path("record-files"), "TALLY_FILE_LOG": log.string,
      // While the data file is flushed slowly, many records follow the commit that becomes steady.
      "TALLY_FLUSH_MICROSECONDS": endsAtHeaders ? "6000" : "600",
    ]
  }
}
