import Foundation
import Synchronization
import SystemPackage
import Tally

/// A full disk: a small one, and a limit on the length of files.
enum FullDiskSuite {
  static func run(_ run: inout FaultRun) throws -> String {
    let step = run.count("LIMIT_STEP_IN_PAGES", short: 16, long: 1)
    return try withScratch { directory in
      var (sessionCount, reportedCount) = (0, 0)
      let session = Session(seed: run.seed, directory: directory)
      _ = try session.run(mustFinish: true)
      let length = try bytes(of: directory.appending("store").appending("data.mdb")).count
      for limit in stride(from: 4_096, to: length, by: 4_096 * step) {
        run.advance(to: limit, of: length)
        let result = try session.run(limitInBytes: limit, mustFinish: true)
        if let fault = result.fault { run.fail("files of \(limit) bytes: \(fault)") }
        sessionCount += 1
        reportedCount += result.failureCount
      }
      run.note(sessionCount, .injectedFaults)
      run.require(reportedCount > 0, "no limit was met: the suite proves nothing")
      return "\(sessionCount) limits on the length of files, \(reportedCount) failures reported; "
        + (try smallDisk("small-disk", &run, in: directory)) + "; "
        + (try smallDisk("narrow-disk", &run, in: directory)) + "; "
        + (try smallDisk("log-disk", &run, in: directory, kilobytes: 1_024, ["\(step)"]))
    }
  }

  /// Lets an act fill a small disk of its own.
  private static func smallDisk(
    _ act: String, _ run: inout FaultRun, in directory: FilePath, kilobytes: Int = 320, _ arguments: [String] = []
  ) throws -> String {
    guard geteuid() == 0 else { return "\(act) skipped, as only root may mount one" }
    let disk = directory.appending("disk").string
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
    let script =
      "mount --make-rprivate / && mount -t tmpfs -o size=\(kilobytes)k,mode=700 tmpfs \"$1\" && "
      + "disk=$1 program=$2 act=$3 && shift 3 && exec \"$program\" act \"$act\" \"$disk\" \"$@\""
    let child = try ChildProcess(
      ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, "sh", disk, ChildProcess.program, act] + arguments,
      output: directory.appending("disk.out"))
    let ending = child.wait()
    guard ending == .exit(0), let figures = child.lines.last else {
      if child.lines.contains(where: { $0.contains("unshare failed") || $0.contains("mount:") }) {
        return "\(act) skipped, as mounting is refused here"
      }
      run.fail("\(act): \(ending), \(child.lines)")
      return "\(act) failed"
    }
    return figures
  }
}

/// The failures of several tasks.
private final class Faults: Sendable {
  let all = Mutex<[String]>([])
}

/// The code of the error that a body throws; `nil` if it throws none.
private func code(_ body: () async throws -> Void) async -> String? {
  do {
    try await body()
    return nil
  } catch {
    return (error as? TallyError).map { "\($0.code)" } ?? "\(error)"
  }
}

/// Adds tasks until the disk is full, then deletes one and adds again: `small-disk DIRECTORY`.
struct SmallDiskAct {
  private let directory: FilePath

  private static let storageFailed = TallyOnDisk.storageFailed

  init(_ act: Act) throws {
    directory = try act.path(0)
  }

  func run() throws {
    // Long notes fill the disk, short tasks its last pages.
    let longCount = try addUntilFull(["--notes", String(repeating: "note ", count: 4_000)])
    let shortCount = try addUntilFull([])
    try require(tally(["verify"]).ending == .exit(0), "verify on the full disk")
    // Without space, writing to a page of a file through a map is not an error but a signal.
    let refused = try tally(["add", "elsewhere"], store: "second")
    try require(refused.ending == .exit(Self.storageFailed), "a second store: \(refused)")
    let store = try TaskStore(at: directory.appending("store"))
    let tasks = try store.read { try $0.view(.all).tasks }
    let found = try store.read { try $0.inconsistencies() }
    try store.close()
    try require(tasks.count == longCount + shortCount, "\(longCount + shortCount) acknowledged, \(tasks.count) there")
    try require(found.isEmpty, "\(found)")
    try deleteTogether(tasks.suffix(4))
    try addUntilFullAgain()
    try delete(tasks[5], besideEditing: tasks[6])
    try addUntilFullAgain()
    var finalCount = 0
    for task in tasks.prefix(5) where try !deleteAndOffer(task) { finalCount += 1 }
    try require(finalCount > 0, "every deletion could be undone: the lack of space has not been tried")
    try require(tally(["add", "afterwards"]).ending == .exit(0), "add after delete")
    say("small disk full after \(tasks.count) tasks added by as many processes, then tasks deleted and added")
  }

  /// Deletes tasks by asynchronous writes that share a commit with others, for which there is no space.
  private func deleteTogether(_ tasks: ArraySlice<TaskItem>) throws {
    let store = try TaskStore(at: directory.appending("store"))
    let done = DispatchSemaphore(value: 0)
    let faults = Faults()
    let notes = String(repeating: "note ", count: 20_000)
    Task {
      await withTaskGroup(of: String?.self) { group in
        for task in tasks {
          group.addTask { await code { try await store.write { _ = try $0.delete(task.id) } } }
          group.addTask {
            let found = await code { try await store.write { _ = try $0.add("too much") { $0.notes = notes } } }
            return found == "diskFull" ? nil : "added"
          }
        }
        for await fault in group { if let fault { faults.all.withLock { $0.append(fault) } } }
      }
      done.signal()
    }
    done.wait()
    let (count, found) = (try store.information().taskCount, faults.all.withLock { $0 })
    try require(found.isEmpty, "together: \(found)")
    for task in tasks { try require(store.read { try $0.task(task.id) } == nil, "\(count) tasks, one not deleted") }
    try store.close()
  }

  /// Deletes a task in a commit with another write.
  ///
  /// That one must be refused or keep its undo: it may not be repeated without its image, as the deletion is.
  private func delete(_ task: TaskItem, besideEditing other: TaskItem) throws {
    let store = try TaskStore(at: directory.appending("store"))
    let (isHeld, mayGoOn, done) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let faults = Faults()
    Task {
      try await store.write { _ in
        isHeld.signal()
        mayGoOn.wait()
      }
    }
    // Only then, as a write that shares its commit may run twice.
    isHeld.wait()
    Task {
      async let deletion = store.write { transaction in
        _ = try transaction.delete(task.id)
        return try transaction.changeID
      }
      async let edit = store.write { transaction in
        _ = try transaction.update(other.id) { $0.title = "beside" }
        return try transaction.changeID
      }
      let (deleted, edited) = ((try? await deletion) ?? nil, (try? await edit) ?? nil)
      if deleted == nil { faults.all.withLock { $0.append("not deleted") } }
      if let deleted, let edited, edited.sequence >= deleted.sequence {
        let undone = await code { try await store.undo() }
        if let undone, undone != "diskFull" { faults.all.withLock { $0.append("undoing: \(undone)") } }
      }
      done.signal()
    }
    // Both are in the queue by then; if not, they have commits of their own, and this proves nothing.
    usleep(200_000)
    mayGoOn.signal()
    done.wait()
    try store.close()
    let found = faults.all.withLock { $0 }
    try require(found.isEmpty, "beside another write: \(found)")
  }

  /// Deletes a task, and returns whether an undo is offered; an offered undo must work.
  private func deleteAndOffer(_ task: TaskItem) throws -> Bool {
    let deleted = try tally(["delete", task.id.uuidString])
    try require(deleted.ending == .exit(0), "delete: \(deleted.lines)")
    let isOffered = deleted.lines.contains { $0.hasPrefix("To undo") }
    let undone = try tally(["undo"])
    // There may be no space for the restored task, which differs from having no record of it.
    let works = undone.ending == .exit(0) || undone.ending == .exit(Self.storageFailed)
    try require(isOffered == works, "offered: \(isOffered), and then: \(undone)")
    return isOffered
  }

  private func addUntilFullAgain() throws {
    _ = try addUntilFull(["--notes", String(repeating: "note ", count: 4_000)])
    _ = try addUntilFull([])
  }

  /// Adds until the disk is full, and returns the number of acknowledged additions.
  private func addUntilFull(_ options: [String]) throws -> Int {
    var count = 0
    while true {
      let added = try tally(["add", "task \(count)"] + options)
      guard added.ending != .exit(0) else {
        count += 1
        continue
      }
      try require(added.ending == .exit(Self.storageFailed), "\(added)")
      try require(added.lines.joined().contains("space"), "space is not mentioned: \(added.lines)")
      return count
    }
  }

  private func tally(
    _ arguments: [String], store: String = "store"
  ) throws -> (ending: ChildProcess.Ending, lines: [String]) {
    try TallyOnDisk(directory: directory).run(arguments, store: store)
  }

  private func require(_ condition: Bool, _ reason: String) throws {
    if !condition { throw Failure(description: reason) }
  }
}
