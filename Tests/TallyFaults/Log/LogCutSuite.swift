import Foundation
import SystemPackage
import TallyTestSupport

/// Power cuts at any point of the work of one to three programs with a log, some of which are killed.
///
/// What all programs do to files is one list of events. An image is what a disk may have before any of them; recoveries of
/// images are cut off, too.
enum LogCutSuite {
  private static let imagesPerRecording = 150

  static func run(_ run: inout FaultRun) throws -> String {
    let imageCount = run.count("LOG_IMAGES", short: 200, long: 30_000)
    let depth = run.count("LOG_DEPTH", short: 2, long: 4)
    var generator = SeededGenerator(seed: run.seed)
    var (doneCount, recordings) = (0, [LogRecording]())
    var controls: [LogOmission: (imageCount: Int, isBroken: Bool)] = [:]
    while doneCount < imageCount {
      try withScratch(inMemory: true) { directory in
        let count = min(imagesPerRecording, imageCount - doneCount)
        let recording = try LogRecording(in: directory, using: &generator)
        let faults = try recording.faults(.nothing, imageCount: count, depth, seed: generator.next()) {
          run.advance("image \(doneCount) of \(imageCount), \($0)")
        }
        for fault in faults { run.fail("recording \(recordings.count), image \(fault)") }
        if !faults.isEmpty { recording.keep(as: "log-cuts-\(run.seed)-\(recordings.count)") }
        for control in LogOmission.controls where !(controls[control]?.isBroken ?? false) {
          let broken = try recording.faults(control, imageCount: count, 0, seed: generator.next()) { _ in }
          controls[control] = ((controls[control]?.imageCount ?? 0) + count, !broken.isEmpty)
        }
        doneCount += count
        recordings.append(recording)
      }
    }
    run.note(imageCount, .images)
    run.note(recordings.reduce(0) { $0 + $1.killCount }, .kills)
    for control in LogOmission.controls {
      run.requireControl(
        fails: controls[control]?.isBroken ?? false,
        "without the flushes of “\(control)” nothing breaks in \(controls[control]?.imageCount ?? 0) images")
    }
    let commitCount = recordings.reduce(0) { $0 + $1.commitCount }
    run.require(commitCount > 20 * recordings.count, "there were only \(commitCount) commits: the suite proves nothing")
    return "\(imageCount) images of \(recordings.count) recordings with \(commitCount) commits; "
      + "\(LogOmission.controls.count) controls"
  }
}

/// What several programs have done to a bank, in a directory of its own: the list of events and what they said.
struct LogRecording {
  private let directory: FilePath
  /// How many programs have been killed.
  private(set) var killCount = 0
  /// How many commits were acknowledged.
  private(set) var commitCount = 0

  private static let leastCommits = 40
  private static let mostCommits = 120
  private static let mostLives = 6

  /// The place of a recording's files.
  struct Files {
    let directory: FilePath
    var live: FilePath { directory.appending("live") }
    var events: FilePath { directory.appending("events") }
    var notes: FilePath { directory.appending("notes") }
    private var inodes: FilePath { directory.appending("inodes") }

    /// Keeps the numbers by which the events name the store and the notes, which a copy of them does not have.
    func writeInodes() throws {
      let numbers = try [live, notes].map { try $0.stat().inode.rawValue }
      try write(Array("\(numbers[0]) \(numbers[1])".utf8), to: inodes)
    }

    func readInodes() throws -> (live: UInt64, notes: UInt64) {
      let words = try String(decoding: bytes(of: inodes), as: UTF8.self).split(separator: " ")
      let numbers = words.compactMap { UInt64($0) }
      guard numbers.count == 2 else { throw FileLog.Malformed() }
      return (numbers[0], numbers[1])
    }
  }

  /// Lets one to three programs run together, some of them killed and started again.
  init(in directory: FilePath, using generator: inout SeededGenerator) throws {
    self.directory = directory
    let files = Files(directory: directory)
    try FileManager.default.createDirectory(atPath: files.live.string, withIntermediateDirectories: false)
    try write([], to: files.notes)
    try files.writeInodes()
    let first = try start(0, .prepare, lives: 1, using: &generator)
    guard first.wait() == .exit(0) else { throw Failure(description: "no accounts: \(first.lines)") }
    let programs = (0..<([1, 2, 2, 3].randomElement(using: &generator) ?? 1)).map { program in
      (number: program, role: generator.oneIn(3) ? LogBankAct.Role.relaxed : .durable)
    }
    var lives = programs.map { _ in Int.random(in: 1...Self.mostLives, using: &generator) }
    var running: [ChildProcess?] = try programs.indices.map {
      try start(programs[$0].number, programs[$0].role, lives: lives[$0], using: &generator)
    }
    while running.contains(where: { $0 != nil }) {
      usleep(1_000)
      for index in running.indices {
        guard let child = running[index], !child.isRunning else { continue }
        let ending = child.wait()
        guard [.exit(0), .signal(SIGKILL)].contains(ending), child.lines.isEmpty else {
          keep(as: "log-cuts-program-\(index)")
          throw Failure(description: "program \(index): \(ending), \(child.lines)")
        }
        lives[index] -= 1
        if ending != .exit(0) { killCount += 1 } else { lives[index] = 0 }
        running[index] =
          lives[index] > 0
          ? try start(programs[index].number, programs[index].role, lives: lives[index], using: &generator) : nil
      }
    }
    commitCount = LogHistory(files.notes).acknowledged.reduce(0, +)
  }

  /// Starts a program, whose last life is not ended.
  private func start(
    _ program: Int, _ role: LogBankAct.Role, lives: Int, using generator: inout SeededGenerator
  ) throws -> ChildProcess {
    let files = Files(directory: directory)
    let count = Int.random(in: Self.leastCommits...Self.mostCommits, using: &generator)
    return try LogBankAct.start(
      in: files.live, notes: files.notes, program, role, count: count, recordingIn: files.events,
      output: directory.appending("program-\(program).out"),
      killing: lives > 1, using: &generator)
  }

  /// Opens images in a process of its own, and returns the number and fault of each one that is not sound.
  ///
  /// Of a control the first one is enough.
  func faults(
    _ omission: LogOmission, imageCount: Int, _ depth: Int, seed: UInt64, reporting progress: (String) -> Void
  ) throws -> [String] {
    var (faults, next) = ([String](), 0)
    while next < imageCount, omission == .nothing || faults.isEmpty {
      let child = try ChildProcess.act(
        ["check-log-images", directory.string, "\(seed)", "\(next)", "\(imageCount)", "\(depth)", omission.rawValue],
        output: directory.appending("check.out"), environment: ["SWIFT_BACKTRACE": "enable=no"])
      let ending = child.wait { progress("up to \($0.lines.last ?? "")") }
      let lines = child.lines.filter { $0.first?.isNumber ?? false }
      faults += lines.filter { !$0.hasSuffix(" sound") }
      next += lines.count
      if ending == .exit(0) { break }
      if ending == .exit(1) { throw Failure(description: "the check failed: \(child.lines)") }
      faults.append("\(next) ended its process: \(ending)\(child.report)")
      next += 1
    }
    return faults
  }

  /// Keeps the recording for a look at it, where `TALLY_FAULT_KEEP` says so; `check-log-images` repeats its images.
  func keep(as name: String) {
    guard let place = ProcessInfo.processInfo.environment["TALLY_FAULT_KEEP"] else { return }
    try? FileManager.default.copyItem(atPath: directory.string, toPath: FilePath(place).appending(name).string)
  }
}

extension LogBankAct {
  /// Starts a program that is recorded, and may be killed at one of its calls.
  static func start(
    in store: FilePath, notes: FilePath, _ program: Int, _ role: Role, count: Int, recordingIn events: FilePath,
    output: FilePath, killing: Bool, using generator: inout SeededGenerator
  ) throws -> ChildProcess {
    var environment = ["LD_PRELOAD": try Preloads.path("record-files"), "TALLY_FILE_LOG": events.string]
    let name = generator.oneIn(2) ? "TALLY_END_AFTER" : "TALLY_END_BEHIND"
    switch Int.random(in: 0..<3, using: &generator) {
    case _ where !killing: break
    // While it opens.
    case 0: environment[name] = "\(Int.random(in: 2..<45, using: &generator))"
    case 1: environment[name] = "\(Int.random(in: 30..<300, using: &generator))"
    // A kill in the write of a meta page leaves a commit that liblmdb has not noted (F2).
    default: environment["TALLY_END_IN_META"] = "\(Int.random(in: 1..<15, using: &generator))"
    }
    return try ChildProcess.act(
      ["log-bank", store.string, notes.string, "\(program)", "\(generator.next() >> 1)", "\(count)", role.rawValue],
      output: output, environment: environment)
  }
}
