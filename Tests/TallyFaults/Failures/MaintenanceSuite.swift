import Foundation
import SystemPackage
import Tally
import TallyTestSupport

/// Every write, flush and change of a name fails in turn while a store is backed up, compacted, restored and repaired.
///
/// None of that changes what the store holds, so it must hold the same afterwards, and each file that was made must
/// hold it, too.
enum MaintenanceSuite {
  private static let transactionCount = 12
  /// The codes under which a failing call may be reported.
  private static let codes: Set = ["storageFailed", "diskFull", "outcomeUnknown", "outputNotCreated"]

  static func run(_ run: inout FaultRun) throws -> String {
    let stride = run.count("MAINTENANCE_STRIDE", short: 17, long: 1)
    return try withScratch { directory in
      var workload = Workload(seed: run.seed)
      let original = directory.appending("original")
      let store = try TaskStore(at: original, configuration: workload.configuration)
      for _ in 0..<transactionCount { try workload.step(in: store) }
      try store.backup(to: directory.appending("backup.mdb"))
      try store.close()
      return try SystemCallFaults.forEach(in: directory, stride: stride, without: ["writev"], &run) { fault in
        try maintain(in: directory, workload, under: fault)
      }
    }
  }

  private static func maintain(
    in directory: FilePath, _ workload: Workload, under fault: SystemCallFaults.Fault
  ) throws -> Session.Result {
    let (store, made) = (directory.appending("store"), directory.appending("made"))
    for path in [store, made] { try? FileManager.default.removeItem(atPath: path.string) }
    try FileManager.default.copyItem(atPath: directory.appending("original").string, toPath: store.string)
    try FileManager.default.createDirectory(atPath: made.string, withIntermediateDirectories: false)
    let command =
      [ChildProcess.program, "act", "maintain", store.string, made.string]
      + [directory.appending("backup.mdb").string]
    let child = try ChildProcess(fault.prefix + command, output: directory.appending("out"))
    let ending = child.wait()
    let lines = child.lines
    var result = Session.Result(failureCount: lines.count { codes.contains($0) })
    if ending != .exit(0) || lines.last != "done" {
      result.fault = "\(ending), after \(lines)"
    } else if let strange = lines.first(where: { !codes.contains($0) && $0 != "none" && $0 != "done" }) {
      result.fault = "said \(strange)"
    } else {
      result.fault = try faultOfWhatIsLeft(store, made, workload)
    }
    return result
  }

  private static func faultOfWhatIsLeft(
    _ directory: FilePath, _ made: FilePath, _ workload: Workload
  ) throws -> String? {
    // A file under its final name is whole, whatever the call that made it said.
    for name in MaintenanceAct.files where FileManager.default.fileExists(atPath: made.appending(name).string) {
      let copy = try TaskStore(snapshotAt: made.appending(name), configuration: workload.configuration)
      let fault = try StoreComparison(store: copy).fault(against: workload.model)
      try copy.close()
      if let fault { return "\(name): \(fault)" }
    }
    let store = try TaskStore(at: directory, configuration: workload.configuration)
    let comparison = StoreComparison(store: store)
    let fault = try comparison.fault(against: workload.model) ?? comparison.faultOfFurtherUse()
    try store.close()
    return fault
  }
}

/// Maintains a store while calls fail, and prints the code of each outcome: `maintain STORE DIRECTORY BACKUP`.
struct MaintenanceAct {
  static let files = ["backup.mdb", "snapshot.mdb"]

  private let directory: FilePath
  private let made: FilePath
  private let backup: FilePath

  init(_ act: Act) throws {
    (directory, made, backup) = (try act.path(0), try act.path(1), try act.path(2))
  }

  func run() {
    say(outcome { try withStore { try $0.backup(to: made.appending(Self.files[0])) } })
    say(outcome { try TaskStore.compact(at: directory) })
    say(outcome { try withStore { try $0.publishSnapshot(to: made.appending(Self.files[1])) } })
    say(outcome { try TaskStore.restore(from: backup, to: directory) })
    say(outcome { try TaskStore.repair(at: directory) })
    say("done")
  }

  private func withStore<R>(_ body: (TaskStore) throws -> R) throws {
    let store = try TaskStore(at: directory)
    defer { try? store.close() }
    _ = try body(store)
  }
}
