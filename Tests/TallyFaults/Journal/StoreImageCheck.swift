import Foundation
import LMDB
import SystemPackage
import Tally
import TallyTestSupport

extension TaskStore.Configuration {
  /// A journal that is full, and clean, every few commits.
  mutating func useSmallJournal(breaking rules: UInt32 = 0) {
    usesJournal = true
    journal.ringSizeInBytes = 64 * 4_096
    journal.checkpointCommitCount = 9
    journal.checkpointSizeInBytes = 1 << 19
    journal.checkpointInterval = .milliseconds(15)
    journal.flushInterval = .milliseconds(3)
    journal.cleanInterval = .milliseconds(40)
    journal.brokenRules = JournalOptions.BrokenRules(rawValue: rules)
  }
}

/// Opens images of a log of stores with a journal and prints a line for each:
/// `check-store-images LOG DIRECTORY SEED FIRST COUNT RULES`.
struct StoreImageCheck {
  private let log: FileLog
  private let directory: FilePath
  private let seed: UInt64
  private let first: Int
  private let count: Int
  private let rules: UInt32
  /// The contents of the store at each sequence.
  private let models: [TaskModel]

  init(_ act: Act) throws {
    log = try FileLog(act.path(0))
    directory = try act.path(1)
    (seed, first, count, rules) = (try act.number(2), try act.number(3), try act.number(4), try act.number(5))
    var workload = Workload(seed: seed)
    var models = [workload.model]
    var words = AcknowledgedWords(log)
    words.advance(to: log.events.count)
    while workload.sequence < words.begun {
      workload.advance()
      models.append(workload.model)
    }
    self.models = models
  }

  func run() throws {
    // A store that hangs has failed: it ends the process.
    let watchdog = Watchdog()
    // The log begins with an empty directory.
    guard case .entry(let root, _, _, _)? = log.events.first else { throw FileLog.Malformed() }
    var disk = CutDisk(log: log, tree: FileTree(emptyWith: root), forgetting: .nothing)
    var words = AcknowledgedWords(log)
    for number in first..<count {
      var generator = SeededGenerator(seed: seed &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D)
      let place = 1 + number * log.events.count / count
      disk.advance(to: place)
      words.advance(to: place)
      try? FileManager.default.removeItem(atPath: directory.string)
      try disk.place(at: directory, tearing: "journal", using: &generator)
      // A process that is killed leaves it behind; its content means nothing to the first one that opens.
      try? FileManager.default.removeItem(atPath: directory.appending("store").appending("lock.mdb").string)
      watchdog.begin("image \(number)")
      say("\(number) \(fault(words) ?? "sound")")
    }
  }

  private func fault(_ words: AcknowledgedWords) -> String? {
    let path = directory.appending("store")
    guard FileManager.default.fileExists(atPath: path.appending("data.mdb").string) else {
      return words.acknowledged == 0 ? nil : "the data file is gone"
    }
    do {
      var configuration = Workload(seed: seed).configuration
      configuration.createsIfMissing = false
      configuration.useSmallJournal(breaking: rules)
      let store = try TaskStore(at: path, configuration: configuration)
      let sequence = try store.information().sequence
      guard sequence >= words.acknowledged else { return "lost: \(words.acknowledged) acknowledged, \(sequence) there" }
      guard sequence <= words.begun else { return "\(words.begun) begun, \(sequence) there" }
      let comparison = StoreComparison(store: store)
      if let fault = try comparison.fault(against: models[Int(sequence)]) { return fault }
      if let fault = try comparison.faultOfFurtherUse() { return "afterwards: \(fault)" }
      try store.close()
      guard try LMDBEnvironment.isDataFileReplaceable(in: path) else { return "closed, and not clean" }
      try DataFile(inDirectory: path).checkStructure()
      return nil
    } catch {
      return "refused: \(error)"
    }
  }
}

/// What the processes of a run have said about their transactions, up to an event of its log.
private struct AcknowledgedWords {
  private(set) var acknowledged: UInt64 = 0
  private(set) var begun: UInt64 = 0
  private var position = 0
  private let log: FileLog
  private let files: Set<UInt64>

  init(_ log: FileLog) {
    self.log = log
    files = Set(
      log.events.compactMap { event in
        if case .entry(_, "acknowledged", let target, _) = event { target } else { nil }
      })
  }

  mutating func advance(to event: Int) {
    while position < event {
      if case .write(let file, _, let bytes, _) = log.events[position], files.contains(file) {
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        let number = words.count == 2 ? UInt64(words[1]) ?? 0 : 0
        if words.first == "begun" { begun = max(begun, number) } else { acknowledged = max(acknowledged, number) }
      }
      position += 1
    }
  }
}
