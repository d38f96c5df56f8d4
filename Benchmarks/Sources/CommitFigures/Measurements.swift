import Foundation
import SystemPackage
import Tally

/// How a store commits.
enum Way: String, CaseIterable {
  /// liblmdb's two flushes.
  case plain
  case journal
  case plainRelaxed = "plain, relaxed"
  case journalRelaxed = "journal, relaxed"

  var hasJournal: Bool { self == .journal || self == .journalRelaxed }
  var isRelaxed: Bool { self == .plainRelaxed || self == .journalRelaxed }
}

func openStore(at directory: FilePath, _ way: Way) throws -> TaskStore {
  var configuration = TaskStore.Configuration()
  configuration.usesJournal = way.hasJournal
  configuration.durability = way.isRelaxed ? .relaxed : .durable
  return try TaskStore(at: directory, configuration: configuration)
}

/// Creates tasks one by one, and returns the microseconds that each took.
func creates(_ count: Int, in store: TaskStore) throws -> [Double] {
  let clock = ContinuousClock()
  return try (0..<count).map { number in
    let start = clock.now
    try store.writeAndWait { _ = try $0.add("Water the plants \(number)", to: .today) }
    return (clock.now - start) / .microseconds(1)
  }
}

/// Each way in several turns, so that a busy minute affects all alike.
func measureCreates(_ count: Int, in folder: FilePath, taskCount: Int) throws {
  let turns = 4
  let stores = try Way.allCases.map { way in
    let store = try openStore(at: folder.appending("creates \(way.rawValue)"), way)
    try store.writeAndWait { transaction in
      for number in 0..<taskCount {
        _ = try transaction.add("Task \(number)", to: number.isMultiple(of: 9) ? .today : .inbox)
      }
    }
    // Nobody's dirty pages are the business of the first to be measured.
    sync()
    return (way, store)
  }
  var times: [Way: [Double]] = [:]
  let before = try stores.map { try $0.1.information().sizeInBytes }
  for _ in 0..<turns {
    for (way, store) in stores {
      times[way, default: []] += try creates(count / turns, in: store)
      try store.flush()
      usleep(100_000)
    }
  }
  for ((way, store), size) in zip(stores, before) {
    let found = (times[way] ?? []).sorted()
    let growth = try store.information().sizeInBytes - size
    print(
      "\(count) creates in a store of \(taskCount), \(way.rawValue): \(found.summary); grown by \(growth.inMebibytes)")
    try store.close()
  }
}

/// One task written again and again: all that the file grows by is pages that wait for a checkpoint.
func measureOverwriting(_ count: Int, in folder: FilePath) throws {
  for way in Way.allCases {
    let store = try openStore(at: folder.appending("overwriting \(way.rawValue)"), way)
    let task = try store.writeAndWait { transaction in
      for number in 0..<1_000 { _ = try transaction.add("Task \(number)", to: .inbox) }
      return try transaction.add("0", to: .inbox)
    }
    let before = try store.information().sizeInBytes
    for number in 0..<count {
      try store.writeAndWait { transaction in _ = try transaction.update(task.id) { $0.title = "\(number)" } }
    }
    let growth = try store.information().sizeInBytes - before
    print("a task written \(count) times, \(way.rawValue): the file has grown by \(growth.inMebibytes)")
    try store.close()
  }
}

/// Opens a copy of a store with as many records as it ever has.
func measureRecovery(in folder: FilePath) throws {
  let (path, copy) = (folder.appending("recovered"), folder.appending("copy"))
  let store = try openStore(at: path, .journalRelaxed)
  var best = 0
  var seconds = 0.0
  for _ in 0..<40 {
    _ = try creates(17, in: store)
    let pending = try store.information().journal?.pendingCommitCount ?? 0
    guard pending > best else { continue }
    best = pending
    try? FileManager.default.removeItem(atPath: copy.string)
    try FileManager.default.createDirectory(atPath: copy.string, withIntermediateDirectories: true)
    for name in ["data.mdb", "journal"] {
      try FileManager.default.copyItem(atPath: path.appending(name).string, toPath: copy.appending(name).string)
    }
    let start = ContinuousClock.now
    try openStore(at: copy, .journal).close()
    seconds = (ContinuousClock.now - start) / .seconds(1)
  }
  try store.close()
  print(String(format: "recovery of %d commits, opening and closing included: %.1f ms", best, seconds * 1_000))
}

/// Two processes that create at the same time.
func measureTurns(_ count: Int, in folder: FilePath) throws {
  let path = folder.appending("turns")
  let store = try openStore(at: path, .journal)
  let other = Process()
  other.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
  other.arguments = ["write", path.string, "\(count)"]
  try other.run()
  let times = try creates(count, in: store).sorted()
  other.waitUntilExit()
  let found = try store.read { try $0.taskCount }
  try store.close()
  guard other.terminationStatus == 0, found == 2 * count else { throw WrongCount() }
  print("\(count) creates by each of two processes, journal: \(times.summary)")
}

struct WrongCount: Error {}

extension [Double] {
  /// Of sorted microseconds.
  fileprivate var summary: String {
    func at(_ fraction: Double) -> Double { self[Swift.min(count - 1, Int(Double(count) * fraction))] }
    return String(
      format: "p50 %.0f, p90 %.0f, p99 %.0f, p99.9 %.0f, longest %.0f, mean %.0f µs", at(0.5), at(0.9), at(0.99),
      at(0.999),
      last ?? 0, reduce(0, +) / Double(Swift.max(count, 1)))
  }
}

extension Int64 {
  fileprivate var inMebibytes: String { String(format: "%.1f MiB", Double(self) / 1_048_576) }
}
