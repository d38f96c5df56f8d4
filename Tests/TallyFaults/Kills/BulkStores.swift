import Foundation
import LMDB
import SystemPackage
import Tally

/// The stores and files that bulk steps work on.
struct BulkStores {
  private let directory: FilePath
  private let taskCount: Int
  /// The size of a store from which half of the tasks were deleted.
  private let sparseSizeInBytes: Int64

  enum Found {
    case all
    case none
    case fault(String)
  }

  /// Creates a document and a backup of many tasks, a store with free pages, and a damaged one.
  init(in directory: FilePath, taskCount: Int) throws {
    self.directory = directory
    self.taskCount = taskCount
    let full = directory.appending("full")
    let store = try TaskStore(at: full, configuration: Self.brief)
    try store.writeAndWait { try $0.insert(contentsOf: Self.tasks(2 * taskCount, now: store.configuration.now())) }
    try store.writeAndWait { transaction in
      for number in stride(from: 0, to: 2 * taskCount, by: 2) { try transaction.delete(Rivals.id(9, number)) }
    }
    try store.export(to: directory.appending("document"))
    try store.backup(to: directory.appending("backup"))
    sparseSizeInBytes = try store.information().sizeInBytes
    try store.close()
    try Self.copy(full, to: directory.appending("damaged"))
    try Self.damage(directory.appending("damaged"))
  }

  /// What a command sets, so that the directory has no log.
  private static var brief: TaskStore.Configuration {
    var configuration = TaskStore.Configuration()
    configuration.makesLog = false
    return configuration
  }

  private static func tasks(_ count: Int, now: Timestamp) throws -> [TaskItem] {
    let today = CalendarDay(containing: now, in: .gmt)
    return try (0..<count).map { number in
      TaskItem(
        id: Rivals.id(9, number), title: "task \(number)",
        scheduledDate: number.isMultiple(of: 3) ? try today.adding(days: number % 40 - 20) : nil,
        dueDate: number.isMultiple(of: 4) ? now.adding(seconds: Int64(number)) : nil,
        sortOrder: Int64(number) << 20, createdAt: now.adding(seconds: -Int64(number)))
    }
  }

  /// Removes entries from an index, as no version of Tally does.
  private static func damage(_ path: FilePath) throws {
    let environment = try LMDBEnvironment(path: path)
    let index = try Database<[UInt8], [UInt8]>(opening: "byTail", in: environment)
    try environment.write { transaction in
      var keys: [[UInt8]] = []
      try index.forEach(in: transaction) { key, _ in
        if keys.count < 100 { keys.append(try [UInt8](decoding: key)) }
        return keys.count < 100
      }
      for key in keys { try index.remove(forKey: key, in: &transaction) }
    }
    try environment.close()
  }

  private static func copy(_ store: FilePath, to target: FilePath) throws {
    try? FileManager.default.removeItem(atPath: target.string)
    try FileManager.default.createDirectory(atPath: target.string, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: store.appending("data.mdb").string, toPath: target.appending("data.mdb").string)
  }

  private var target: FilePath { directory.appending("target") }

  /// Runs a step to its end, and returns the duration.
  func durationInMicroseconds(of step: BulkKillSuite.Step) throws -> UInt32 {
    try prepare(step)
    let begin = ContinuousClock.now
    let child = try start(step)
    let ending = child.wait()
    let duration = (ContinuousClock.now - begin).components
    guard ending == .exit(0), case .all = try look(after: step) else {
      throw Failure(description: "\(step) failed by itself: \(child.lines)")
    }
    return UInt32(duration.seconds) * 1_000_000 + UInt32(duration.attoseconds / 1_000_000_000_000)
  }

  /// Begins a step, kills it, and checks the remains; also returns whether the step had not ended before.
  func kill(
    _ step: BulkKillSuite.Step, afterMicroseconds delay: UInt32
  ) throws -> (found: Found, wasKilled: Bool) {
    try prepare(step)
    let child = try start(step)
    usleep(delay)
    let wasKilled = child.kill()
    let wasAcknowledged = child.lines.contains("done")
    if let complaint = child.lines.first, complaint != "done" { return (.fault(complaint), wasKilled) }
    let found = try look(after: step)
    if case .none = found, wasAcknowledged { return (.fault("acknowledged and not there"), wasKilled) }
    return (found, wasKilled)
  }

  private func prepare(_ step: BulkKillSuite.Step) throws {
    switch step {
    case .importing, .restore:
      try? FileManager.default.removeItem(atPath: target.string)
      let store = try TaskStore(at: target, configuration: Self.brief)
      try store.writeAndWait { _ = try $0.add("before", to: .today) }
      try store.close()
    case .compact: try Self.copy(directory.appending("full"), to: target)
    case .repair: try Self.copy(directory.appending("damaged"), to: target)
    }
  }

  private func start(_ step: BulkKillSuite.Step) throws -> ChildProcess {
    let file = directory.appending(step == .restore ? "backup" : "document")
    return try ChildProcess.act(
      ["bulk", target.string, step.rawValue, file.string], output: directory.appending("bulk.out"))
  }

  /// The files of an interrupted step that the next opening has not removed, except empty directories, which another
  /// process might be about to lock.
  private func leftovers() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: target.string).filter { name in
      let path = target.appending(name).string
      guard name.contains(".new-") else { return !name.hasSuffix(".mdb") && name != "access.lock" }
      return try !FileManager.default.contentsOfDirectory(atPath: path).isEmpty
    }
  }

  /// Whether all of the step is there or none, by its changes.
  private func look(after step: BulkKillSuite.Step) throws -> Found {
    let store = try TaskStore(at: target, configuration: Self.brief)
    defer { try? store.close() }
    if let name = try leftovers().first { return .fault("\(name) is left") }
    let report = try store.verify()
    let size = try store.information().sizeInBytes
    guard report.isSound || step == .repair else {
      return .fault("\(report.faultCount) faults, the first \(String(describing: report.faults.first))")
    }
    switch (step, report.taskCount) {
    case (.importing, 1), (.restore, 1): return .none
    case (.importing, taskCount + 1), (.restore, taskCount): return .all
    case (.compact, taskCount): return size < sparseSizeInBytes ? .all : .none
    case (.repair, taskCount):
      return report.isSound ? .all : report.faultCount == 100 ? .none : .fault("\(report.faultCount) faults are left")
    default: return .fault("\(report.taskCount) tasks are there")
    }
  }
}
