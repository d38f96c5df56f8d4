import Foundation
import SystemPackage
import Tally
import TallySync
import TallyTestSupport

/// Opens images of a device, and lets it exchange with others, a line for each:
/// `check-sync-images DIRECTORY SEED durable|relaxed SEGMENTS ROUNDS FIRST COUNT FORGOTTEN FAULTS`; it stops after a
/// number of faults.
///
/// The store and the folder are on disks of their own, which lose unflushed bytes independently. A process of its
/// own, since liblmdb ends its process over a file that contradicts itself.
struct SyncImageCheck {
  private let pair: SyncedPair
  /// The segments of the first device before the recorded rounds.
  private let segmentCount: Int
  private let roundCount: Int
  private let first: Int
  private let count: Int
  /// The flushes that the folder's disk ignores.
  private let forgotten: CutDisk.Forgotten
  private let mostFaults: Int

  init(_ act: Act) throws {
    pair = try SyncedPair(act)
    segmentCount = try act.number(3)
    roundCount = try act.number(4)
    first = try act.number(5)
    count = try act.number(6)
    guard let forgotten = CutDisk.Forgotten(rawValue: try act.text(7)) else { throw FaultProgram.Misuse() }
    self.forgotten = forgotten
    mostFaults = try act.number(8)
  }

  func run() throws {
    // A store that hangs has failed: it ends the process.
    let watchdog = Watchdog()
    try pair.prepare(segmentCount: segmentCount)
    let trees = try ["store", "folder"].map { try FileTree(pair.a.appending($0)) }
    let log = try record()
    var (reports, faultCount) = (SyncReports(log), 0)
    var store = CutDisk(log: log, tree: trees[0], forgetting: .nothing)
    var folder = CutDisk(log: log, tree: trees[1], forgetting: forgotten)
    for (number, place) in places(in: log, after: reports.firstEvent).enumerated() {
      store.advance(to: place)
      folder.advance(to: place)
      reports.advance(to: place)
      guard number >= first else { continue }
      var generator = SeededGenerator(seed: pair.seed &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D)
      watchdog.begin("image \(number)")
      let image = SyncImage(
        pair: pair, store: store, folder: folder, reports: reports, isControl: forgotten != .nothing)
      let fault = try image.fault(using: &generator)
      say("\(number) \(fault.map { "at \(place) of \(log.events.count): \($0)" } ?? "sound")")
      faultCount += fault == nil ? 0 : 1
      if faultCount == mostFaults { return }
    }
  }

  /// Lets the devices work, and returns what they did to files.
  private func record() throws -> FileLog {
    let log = pair.directory.appending("log")
    let child = try ChildProcess.act(
      ["synchronise"] + pair.arguments + ["\(roundCount)"],
      output: pair.directory.appending("synchronise.out"),
      environment: ["LD_PRELOAD": try Preloads.path("record-files"), "TALLY_FILE_LOG": log.string])
    guard child.wait() == .exit(0) else { throw Failure(description: "synchronising failed: \(child.lines)") }
    return try FileLog(log)
  }

  /// The events before which the power fails, in order: half of them any, half after a change or flush of names.
  private func places(in log: FileLog, after first: Int) -> [Int] {
    var generator = SeededGenerator(seed: pair.seed)
    let ofNames = log.events.indices.filter { $0 >= first && log.events[$0].isOfNames }.map { $0 + 1 }
    return (0..<count).map { number in
      let any = Int.random(in: first...log.events.count, using: &generator)
      return number.isMultiple(of: 2) ? any : ofNames.randomElement(using: &generator) ?? any
    }.sorted()
  }
}

/// What a device has reported up to an event of a log.
struct SyncReports {
  private let log: FileLog
  private var file: UInt64?
  private var position = 0
  /// The commits of the first device that were begun, those that have returned, and those that were in the folder then.
  private(set) var begun = 0
  private(set) var committed = 0
  private(set) var published = 0
  /// The last copy of the second device.
  private(set) var checkpoint = 0

  init(_ log: FileLog) {
    self.log = log
  }

  /// The event of the first report: before it, nothing is known.
  var firstEvent: Int {
    var reader = self
    while reader.position < log.events.count, reader.published == 0 { reader.advance(to: reader.position + 1) }
    return reader.position
  }

  mutating func advance(to event: Int) {
    while position < event {
      apply(log.events[position])
      position += 1
    }
  }

  private mutating func apply(_ event: FileLog.Event) {
    switch event {
    case .entry(_, "acknowledged", let target, _): file = target
    case .write(let target, _, let bytes, _) where target == file: note(String(decoding: bytes, as: UTF8.self))
    default: break
    }
  }

  private mutating func note(_ line: String) {
    let words = line.split(whereSeparator: \.isWhitespace)
    guard words.count == 2, let number = Int(words[1]) else { return }
    switch words[0] {
    case "begun": begun = number
    case "committed": committed = number
    case "published": (begun, committed, published) = (max(begun, number), max(committed, number), number)
    case "checkpoint": checkpoint = number
    default: published = 0
    }
  }
}
