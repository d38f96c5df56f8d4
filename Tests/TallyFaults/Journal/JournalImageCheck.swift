import Foundation
import LMDB
import SystemPackage
import TallyTestSupport

/// Opens images of a log and prints a line for each:
/// `check-journal-images LOG DIRECTORY SEED FIRST COUNT DEPTH SETTING`.
///
/// A process of its own, since liblmdb ends its process over a file that contradicts itself, as the controls' do.
struct JournalImageCheck {
  private let log: FileLog
  private let directory: FilePath
  private let seed: UInt64
  private let first: Int
  private let count: Int
  /// How often recovery is cut off before it may end, in one of fifty images.
  private let depth: Int
  private let setting: JournalSetting
  private let journals: Set<UInt64>
  /// A store that hangs has failed: it ends the process.
  private let watchdog: Watchdog

  private static let imagesPerDeepOne = 50

  init(_ act: Act) throws {
    log = try FileLog(act.path(0))
    directory = try act.path(1)
    seed = try act.number(2)
    first = try act.number(3)
    count = try act.number(4)
    depth = try act.number(5)
    setting = try JournalSetting(act, at: 6)
    journals = Self.inodes(of: "journal.tmp", in: log)
    watchdog = Watchdog(directory: directory)
  }

  func run() throws {
    // The log begins with an empty directory of the environment.
    guard case .entry(let root, _, _, _)? = log.events.first else { throw FileLog.Malformed() }
    var disk = CutDisk(log: log, tree: FileTree(emptyWith: root), forgetting: .nothing)
    var history = JournalHistory(log)
    let places = places()
    for number in first..<count {
      var generator = SeededGenerator(seed: seed &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D)
      let place = places[number]
      disk.advance(to: place)
      try history.advance(to: place)
      watchdog.begin("image \(number)")
      let fault = try fault(disk, history, place, &generator)
      say("\(number) \(fault ?? "sound")")
      // A control has shown what it must.
      if fault != nil && setting.brokenRules != 0 { return }
    }
  }

  /// The events before which the power fails: a third are any; the others come around the write of a header, soon after the
  /// end of a process or the beginning of a recovery, or at once after a reader has seen a commit.
  private func places() -> [Int] {
    var generator = SeededGenerator(seed: seed)
    let focuses = [headers, endings, recoveries, sightings].filter { !$0.isEmpty }
    return (0..<count).map { number in
      let any = 1 + number * log.events.count / count
      guard number % 3 > 0, let focus = focuses.randomElement(using: &generator)?.randomElement(using: &generator)
      else {
        return any
      }
      // A checkpoint is under way before its header, and until that is flushed.
      let reach = isSighting(before: focus) ? 0..<1 : isHeader(focus) && generator.oneIn(2) ? -8..<4 : 0..<30
      return min(log.events.count, max(1, focus + Int.random(in: reach, using: &generator)))
    }.sorted()
  }

  private var headers: [Int] {
    log.events.indices.filter(isHeader)
  }

  private func isHeader(_ event: Int) -> Bool {
    guard event < log.events.count, case .write(let file, 0..<8_192, _, _) = log.events[event] else { return false }
    return journals.contains(file)
  }

  private var endings: [Int] {
    log.events.indices.filter { index in if case .ending = log.events[index] { true } else { false } }
  }

  /// Where a meta page is written with its head, which liblmdb does only for a new file.
  private var recoveries: [Int] {
    let dataFiles = Self.inodes(of: "data.mdb", in: log)
    return log.events.indices.filter { index in
      if case .write(let file, 0, let bytes, _) = log.events[index] {
        dataFiles.contains(file) && bytes.count < 200
      } else {
        false
      }
    }
  }

  /// After each line of a reader.
  private var sightings: [Int] {
    log.events.indices.map { $0 + 1 }.filter(isSighting)
  }

  private func isSighting(before event: Int) -> Bool {
    guard event > 0, case .write(_, _, let bytes, _) = log.events[event - 1] else { return false }
    return bytes.starts(with: Array("seen ".utf8))
  }

  private static func inodes(of name: String, in log: FileLog) -> Set<UInt64> {
    Set(log.events.compactMap { if case .entry(_, name, let target, _) = $0 { target } else { nil } })
  }

  private func fault(
    _ disk: CutDisk, _ history: JournalHistory, _ place: Int, _ generator: inout SeededGenerator
  ) throws -> String? {
    // What a reader has seen must survive the end of all processes.
    let isIntact = generator.oneIn(isSighting(before: place) ? 2 : 12)
    try? FileManager.default.removeItem(atPath: directory.string)
    try disk.place(at: directory, isIntact: isIntact, tearing: "journal", using: &generator)
    let store = directory.appending("store")
    guard FileManager.default.fileExists(atPath: store.appending("data.mdb").string) else {
      return history.lastDurable == 0 ? nil : "the data file is gone"
    }
    // A process that is killed leaves it behind; its content means nothing to the first one that opens.
    try? FileManager.default.removeItem(atPath: store.appending("lock.mdb").string)
    try? FileManager.default.removeItem(atPath: directory.appending("acknowledged").string)
    try? FileManager.default.removeItem(atPath: store.appending("stop").string)
    if depth > 0 && generator.oneIn(Self.imagesPerDeepOne) {
      for number in 0..<depth {
        watchdog.begin("recovery \(number) of an image")
        try cutRecovery(store, &generator)
      }
      watchdog.begin("image after \(depth) recoveries")
    }
    do {
      return try faultOfStore(store, history, isIntact: isIntact)
    } catch let error as Failure {
      return error.description
    } catch {
      // The first two pages of a new file are not flushed before its first commit is.
      return history.lastDurable == 0 ? nil : "refused: \(error)"
    }
  }

  private func faultOfStore(_ store: FilePath, _ history: JournalHistory, isIntact: Bool) throws -> String? {
    let environment = try LMDBEnvironment(path: store, options: setting.options)
    // Before the first transaction is durable the tables may be missing.
    guard history.lastDurable > 0 || (try? JournalWorld(reading: environment)) != nil else {
      try environment.close()
      return nil
    }
    let world = try JournalWorld(reading: environment)
    let salts = try world.soundSalts(in: environment).get()
    if let fault = history.fault(of: salts, isIntact: isIntact, isDurable: setting.isDurable) { return fault }
    for salt in UInt64(1)...3 {
      try environment.write { try world.make(world.last(in: $0) + 1, salt: salt, in: &$0) }
    }
    let after = try world.soundSalts(in: environment).get()
    guard after == salts + [1, 2, 3] else { return "afterwards: the transactions are \(after.count)" }
    try environment.close(waitingAtMost: .seconds(10))
    return try faultOfPlainFile(store, after)
  }

  /// What a program finds that knows nothing of the journal.
  private func faultOfPlainFile(_ store: FilePath, _ salts: [UInt64]) throws -> String? {
    var options = setting.options
    options.journal = nil
    let environment = try LMDBEnvironment(path: store, options: options)
    let found = try JournalWorld(reading: environment).soundSalts(in: environment).get()
    if found != salts { return "closed: the transactions are \(found.count)" }
    try DataFile(inDirectory: store).checkStructure()
    try environment.close()
    return nil
  }

  /// Lets a process recover the store, and replaces it by what a power cut leaves of that.
  private func cutRecovery(_ store: FilePath, _ generator: inout SeededGenerator) throws {
    let path = directory.appending("recovery.log")
    try? FileManager.default.removeItem(atPath: path.string)
    let tree = try FileTree(store)
    let child = try ChildProcess.act(
      ["journal-recover", store.string] + setting.arguments, output: directory.appending("recovery.out"),
      environment: [
        "LD_PRELOAD": try Preloads.path("record-files"), "TALLY_FILE_LOG": path.string,
        "TALLY_END_AFTER": "\(Int.random(in: 3..<60, using: &generator))",
      ])
    child.wait()
    guard FileManager.default.fileExists(atPath: path.string) else { return }
    let log = try FileLog(path)
    var disk = CutDisk(log: log, tree: tree, forgetting: .nothing)
    disk.advance(to: Int.random(in: 0...log.events.count, using: &generator))
    try FileManager.default.removeItem(atPath: store.string)
    try disk.place(at: store, tearing: "journal", using: &generator)
    try? FileManager.default.removeItem(atPath: store.appending("lock.mdb").string)
  }
}
