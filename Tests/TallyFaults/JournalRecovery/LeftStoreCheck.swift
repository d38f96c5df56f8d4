import Foundation
import LMDB
import SystemPackage
import Tally
import TallyTestSupport

/// Cuts off the recovery of what an earlier version left, lets it end, and prints a line for each:
/// `check-left-stores DIRECTORY SEED FIRST COUNT DEPTH FORGOTTEN`.
///
/// A process of its own, since liblmdb ends its process over a file that contradicts itself, as the control's do.
struct LeftStoreCheck {
  private let directory: FilePath
  private let seed: UInt64
  private let first: Int
  private let count: Int
  /// How often a recovery is cut off at most before it may end.
  private let depth: Int
  private let forgotten: CutDisk.Forgotten
  /// A recovery that hangs has failed: it ends the process.
  private let watchdog: Watchdog

  init(_ act: Act) throws {
    directory = try act.path(0)
    (seed, first, count, depth) = (try act.number(1), try act.number(2), try act.number(3), try act.number(4))
    guard let forgotten = CutDisk.Forgotten(rawValue: try act.text(5)) else { throw FaultProgram.Misuse() }
    self.forgotten = forgotten
    watchdog = Watchdog(directory: directory)
  }

  func run() throws {
    let dirty = LeftStore.all.filter { $0.end != .clean }
    for number in first..<count {
      var generator = SeededGenerator(seed: seed &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D)
      let left = dirty[number % dirty.count]
      try? FileManager.default.removeItem(atPath: directory.string)
      let store = directory.appending("store")
      try left.place(at: store)
      for cut in 0..<Int.random(in: 1...depth, using: &generator) {
        watchdog.begin("recovery \(cut) of image \(number)")
        try cutRecovery(store, left, &generator)
      }
      watchdog.begin("image \(number)")
      say("\(number) \(left) \(fault(of: left, at: store) ?? "sound")")
    }
  }

  /// Lets a process recover the store, and replaces it by what a power cut leaves of that.
  private func cutRecovery(_ store: FilePath, _ left: LeftStore, _ generator: inout SeededGenerator) throws {
    let path = directory.appending("recovery.log")
    try? FileManager.default.removeItem(atPath: path.string)
    let tree = try FileTree(store)
    let child = try ChildProcess.act(
      ["recover-left-store", store.string, left.isStore ? "store" : "environment"],
      output: directory.appending("recovery.out"),
      environment: [
        "LD_PRELOAD": try Preloads.path("record-files"), "TALLY_FILE_LOG": path.string,
        "TALLY_END_AFTER": "\(Int.random(in: 3..<200, using: &generator))",
      ])
    child.wait()
    guard FileManager.default.fileExists(atPath: path.string) else { return }
    let log = try FileLog(path)
    var disk = CutDisk(log: log, tree: tree, forgetting: forgotten)
    disk.advance(to: Int.random(in: 0...log.events.count, using: &generator))
    try FileManager.default.removeItem(atPath: store.string)
    // In some images nothing is lost: the process was killed, and the system went on.
    try disk.place(at: store, isIntact: generator.oneIn(5), tearing: "journal", using: &generator)
    // What it holds means nothing to the first one that opens.
    try? FileManager.default.removeItem(atPath: store.appending("lock.mdb").string)
  }

  private func fault(of left: LeftStore, at path: FilePath) -> String? {
    do {
      try RecoverLeftStoreAct.recover(path, left.isStore)
      if left.isStore {
        let names = try FileManager.default.contentsOfDirectory(atPath: path.string)
        if names.contains("journal") { return "the journal is still there" }
        guard try TaskStore.verify(at: path, configuration: .testing()).isSound else { return "it is not sound" }
      }
      // What a program finds that knows nothing of the journal.
      var options = LMDBEnvironment.Options.recovering
      options.recoversJournal = false
      let environment = try LMDBEnvironment(path: path, options: options)
      defer { try? environment.close() }
      guard try LeftStore.tables(of: environment) == left.tables else { return "the tables are others" }
      try environment.checkStructure()
      return nil
    } catch {
      return "refused: \(error)"
    }
  }
}

/// Opens what an earlier version left, which recovers it, and closes it: `recover-left-store DIRECTORY store|environment`.
struct RecoverLeftStoreAct {
  private let directory: FilePath
  private let isStore: Bool

  init(_ act: Act) throws {
    directory = try act.path(0)
    isStore = try act.text(1) == "store"
  }

  func run() throws {
    try Self.recover(directory, isStore)
  }

  static func recover(_ directory: FilePath, _ isStore: Bool) throws {
    guard isStore else { return try LMDBEnvironment(path: directory, options: .recovering).close() }
    var configuration = TaskStore.Configuration.testing()
    configuration.createsIfMissing = false
    try TaskStore(at: directory, configuration: configuration).close()
  }
}
