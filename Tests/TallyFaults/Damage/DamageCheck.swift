import Foundation
import LMDB
import SystemPackage
import Tally
import TallyTestSupport

/// Uses damaged copies of a data file and prints two lines for each: `check-damage FILE DIRECTORY SEED FIRST COUNT`.
///
/// A process of its own, which must not be ended by liblmdb.
struct DamageCheck {
  private let file: [UInt8]
  private let directory: FilePath
  private let seed: UInt64
  private let first: Int
  private let count: Int

  init(_ act: Act) throws {
    file = try bytes(of: try act.path(0))
    directory = try act.path(1)
    seed = try act.number(2)
    first = try act.number(3)
    count = try act.number(4)
  }

  /// The tasks that a store shows.
  private struct Contents {
    let sequence: UInt64
    let ids: [UUID]
  }

  func run() throws {
    // A store that hangs has failed: it ends the process.
    let watchdog = Watchdog(limitInSeconds: 20)
    try place(file, nil)
    let store = try TaskStore(at: directory, configuration: configuration)
    let original = try contents(of: store)
    try store.close()
    for number in first..<count {
      var generator = SeededGenerator(seed: seed &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D)
      let damage = Damage.allCases[number % Damage.allCases.count]
      var damaged = file
      damage.apply(to: &damaged, using: &generator)
      let lock = damage.lock(using: &generator)
      try place(damaged, lock)
      watchdog.begin("file \(number)")
      say("\(number) \(damage) verify")
      let verified = outcome { try verify() }
      // Only faults of the pages are a danger to liblmdb, not those of a record.
      let pages = outcome { try DataFile(inDirectory: directory).checkStructure() }
      try place(damaged, lock)
      say("\(number) \(damage) \(verified) \(pages == "none" ? "use" : "use-untrusted")")
      let used = outcome { try use(expecting: verified == "none" ? original : nil) }
      say("\(number) \(damage) \(verified) used \(used)")
    }
  }

  private func place(_ file: [UInt8], _ lock: [UInt8]?) throws {
    try? FileManager.default.removeItem(atPath: directory.string)
    try FileManager.default.createDirectory(atPath: directory.string, withIntermediateDirectories: true)
    try write(file, to: directory.appending("data.mdb"))
    if let lock { try write(lock, to: directory.appending("lock.mdb")) }
  }

  private var configuration: TaskStore.Configuration {
    var configuration = TaskStore.Configuration.testing()
    configuration.createsIfMissing = false
    return configuration
  }

  private func verify() throws {
    let report = try TaskStore.verify(at: directory, configuration: configuration)
    if let first = report.faults.first { throw TallyError(.damagedStore, "\(first)", remedy: "none") }
  }

  private func contents(of store: TaskStore) throws -> Contents {
    try store.read { Contents(sequence: try $0.sequence, ids: try $0.view(.all).tasks.map(\.id)) }
  }

  /// Uses a store as a program does: reads all of it, and changes it.
  ///
  /// A store that verification lets pass has the original's tasks, and later writes; it may lack the
  /// last commit, as after a power cut.
  private func use(expecting original: Contents?) throws {
    let store = try TaskStore(at: directory, configuration: configuration)
    defer { try? store.close() }
    let before = try contents(of: store)
    if let original, before.sequence == original.sequence, before.ids != original.ids {
      throw Failure(description: "other tasks are there")
    }
    for view in [TaskView.today, .completed(nil), .past] { _ = try store.read { try $0.view(view) } }
    let null = try FileDescriptor.open(FilePath("/dev/null"), .writeOnly)
    _ = try null.closeAfter { try store.export(to: null) }
    let added = try store.writeAndWait { try $0.add("added", to: .today) }
    let deleted = try deleteTasks(before.ids.prefix(20), in: store)
    try store.writeAndWait { _ = try $0.delete(added.id) }
    guard original != nil else { return }
    guard try contents(of: store).ids == before.ids.filter({ !deleted.contains($0) }) else {
      throw Failure(description: "other tasks are there after the changes")
    }
    if let fault = try store.verify().faults.first { throw Failure(description: "after the changes: \(fault)") }
  }

  /// Deletes tasks, each in a transaction of its own, and returns them with the sub-tasks that went with them.
  private func deleteTasks(_ ids: some Sequence<UUID>, in store: TaskStore) throws -> Set<UUID> {
    var deleted = Set<UUID>()
    for id in ids where !deleted.contains(id) {
      try store.writeAndWait { transaction in
        var family = [id]
        while let member = family.popLast() {
          deleted.insert(member)
          family += try transaction.subtasks(of: member).map(\.id)
        }
        _ = try transaction.delete(id)
      }
    }
    return deleted
  }
}
