import Foundation
import SystemPackage
import Tally
import TallyTestSupport

/// Long steps, killed at any moment: afterwards all of the step is there or none, and the store is sound.
enum BulkKillSuite {
  /// What takes long.
  enum Step: String, CaseIterable {
    case importing = "import"
  }

  static func run(_ run: inout FaultRun) throws -> String {
    let taskCount = run.count("BULK_TASKS", short: 1_000, long: 100_000)
    let killCount = run.count("BULK_KILLS", short: 2, long: 50)
    var generator = SeededGenerator(seed: run.seed)
    return try withScratch { directory in
      let bulk = try BulkStores(in: directory, taskCount: taskCount)
      var figures: [String] = []
      for step in Step.allCases {
        let duration = try bulk.durationInMicroseconds(of: step)
        var (wholeCount, noneCount) = (0, 0)
        for round in 0..<killCount {
          let delay = UInt32.random(in: 0...duration + duration / 10, using: &generator)
          switch try bulk.kill(step, afterMicroseconds: delay) {
          case .all: wholeCount += 1
          case .none: noneCount += 1
          case .fault(let fault): run.fail("\(step.rawValue), round \(round): \(fault)")
          }
        }
        figures.append("\(step.rawValue) \(killCount) times (all of it \(wholeCount), none \(noneCount))")
      }
      return "of \(taskCount) tasks killed: " + figures.joined(separator: ", ")
    }
  }
}

/// The stores and files that bulk steps work on.
struct BulkStores {
  private let directory: FilePath
  private let taskCount: Int

  enum Found {
    case all
    case none
    case fault(String)
  }

  /// Makes a document of many tasks.
  init(in directory: FilePath, taskCount: Int) throws {
    self.directory = directory
    self.taskCount = taskCount
    let store = try TaskStore(at: directory.appending("full"))
    let start = store.configuration.now()
    let today = CalendarDay(containing: start, in: store.configuration.calendar)
    try store.write { transaction in
      try transaction.insert(
        contentsOf: try (0..<taskCount).map { number in
          TaskItem(
            id: Rivals.id(9, number), title: "task \(number)",
            scheduledDate: number.isMultiple(of: 3) ? try today.adding(days: number % 40 - 20) : nil,
            dueDate: number.isMultiple(of: 4) ? start.adding(seconds: Int64(number)) : nil,
            sortOrder: Int64(number) << 20, createdAt: start.adding(seconds: -Int64(number)))
        })
    }
    try store.export(to: document)
    try store.close()
  }

  private var document: FilePath { directory.appending("document.json") }
  private var target: FilePath { directory.appending("target") }

  /// Lets a step come to its end, and says how long that took.
  func durationInMicroseconds(of step: BulkKillSuite.Step) throws -> UInt32 {
    try prepare(step)
    let begin = ContinuousClock.now
    guard try start(step).wait() == .exit(0) else { throw Failure(description: "\(step) failed by itself") }
    let duration = (ContinuousClock.now - begin).components
    return UInt32(duration.seconds) * 1_000_000 + UInt32(duration.attoseconds / 1_000_000_000_000)
  }

  /// Begins a step, kills it, and looks at what it left.
  func kill(_ step: BulkKillSuite.Step, afterMicroseconds delay: UInt32) throws -> Found {
    try prepare(step)
    let child = try start(step)
    usleep(delay)
    child.kill()
    let wasAcknowledged = child.lines.contains("done")
    if let complaint = child.lines.first, complaint != "done" { return .fault(complaint) }
    let found = try look()
    if case .none = found, wasAcknowledged { return .fault("acknowledged and not there") }
    return found
  }

  private func prepare(_ step: BulkKillSuite.Step) throws {
    try? FileManager.default.removeItem(atPath: target.string)
    let store = try TaskStore(at: target)
    try store.write { _ = try $0.add("before", to: .today) }
    try store.close()
  }

  private func start(_ step: BulkKillSuite.Step) throws -> ChildProcess {
    try ChildProcess.act(
      ["bulk", target.string, step.rawValue, document.string], output: directory.appending("bulk.out"))
  }

  private func look() throws -> Found {
    let store = try TaskStore(at: target)
    let (found, count) = try store.read { (try $0.inconsistencies(), try $0.taskCount) }
    try store.close()
    if let first = found.first { return .fault("\(first) and \(found.count - 1) more") }
    switch count {
    case 1: return .none
    case taskCount + 1: return .all
    default: return .fault("\(count) tasks are there")
    }
  }
}

/// Does one bulk step: `bulk STORE STEP DOCUMENT`.
struct BulkAct {
  private let directory: FilePath
  private let step: BulkKillSuite.Step
  private let document: FilePath

  init(_ act: Act) throws {
    directory = try act.path(0)
    guard let step = BulkKillSuite.Step(rawValue: try act.text(1)) else { throw FaultProgram.Misuse() }
    self.step = step
    document = try act.path(2)
  }

  func run() throws {
    switch step {
    case .importing:
      let store = try TaskStore(at: directory)
      try store.importDocument(from: document)
      say("done")
      try store.close()
    }
  }
}
