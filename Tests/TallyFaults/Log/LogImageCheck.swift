import Foundation
import LMDB
import SystemPackage
import TallyTestSupport

/// Opens what power cuts may leave of a recording, with a line for each image:
/// `check-log-images DIRECTORY SEED FIRST COUNT DEPTH OMISSION`.
///
/// A process of its own, since liblmdb ends its process over a file that contradicts itself.
struct LogImageCheck {
  private let files: LogRecording.Files
  private let seed: UInt64
  private let first: Int
  private let count: Int
  /// How often the recovery of an image is cut off at most before it may end.
  private let depth: Int
  private let omission: LogOmission
  /// A recovery that hangs has failed: it ends the process.
  private let watchdog: Watchdog

  init(_ act: Act) throws {
    files = LogRecording.Files(directory: try act.path(0))
    (seed, first, count, depth) = (try act.number(1), try act.number(2), try act.number(3), try act.number(4))
    guard let omission = LogOmission(rawValue: try act.text(5)) else { throw FaultProgram.Misuse() }
    self.omission = omission
    watchdog = Watchdog(directory: files.directory)
  }

  private var image: FilePath { files.directory.appending("image") }

  func run() throws {
    let (root, notes) = try files.readInodes()
    let recorded = try FileLog(files.events)
    let lines = recorded.lines(in: notes)
    guard case .prepared? = lines.first?.line, let begin = lines.first?.event else { throw FileLog.Malformed() }
    let order = lines.compactMap { _, line in
      guard case .acknowledged(let move, _) = line else { return nil as LogBank.Move? }
      return move
    }
    let log = recorded.forgetting(omission, in: root, since: begin)
    var disk = CutDisk(log: log, tree: FileTree(emptyWith: root), forgetting: .nothing)
    var generator = SeededGenerator(seed: seed)
    let places = (0..<count).map { _ in Int.random(in: begin + 1...log.events.count, using: &generator) }.sorted()
    var (history, next) = (LogHistory(), 0)
    for (number, place) in places.enumerated() {
      while next < lines.count, lines[next].event < place {
        history.add(lines[next].line)
        next += 1
      }
      disk.advance(to: place)
      guard number >= first else { continue }
      var generator = SeededGenerator(seed: seed &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D)
      watchdog.begin("image \(number)")
      try Self.place(disk, at: image, using: &generator)
      let fault = try fault(of: history, order, &generator)
      say("\(number) \(fault.map { "at \(place) of \(log.events.count), seed \(seed): \($0)" } ?? "sound")")
      // One is enough to see a control fail.
      if omission != .nothing, fault != nil { break }
    }
  }

  /// Places an image; of what was never flushed anything is there.
  private static func place(_ disk: CutDisk, at image: FilePath, using generator: inout SeededGenerator) throws {
    try? FileManager.default.removeItem(atPath: image.string)
    // In some images nothing is lost: all processes were killed, and the system went on.
    try disk.place(at: image, isIntact: generator.oneIn(8), tearing: "log", using: &generator)
    let (share, locks) = (image.appending("log.lock"), image.appending("lock.mdb"))
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: try? FileManager.default.removeItem(atPath: share.string)
    case 1: try write([UInt8](repeating: 0, count: 4_096), to: share)
    case 2: try write([UInt8](repeating: 0, count: Int.random(in: 0..<4_096, using: &generator)), to: share)
    case 3: try write((0..<4_096).map { _ in UInt8.random(in: 0...255, using: &generator) }, to: share)
    default:
      // Numbers that may have been there.
      let words = (0..<512).map { _ in UInt64.random(in: 0...(generator.oneIn(2) ? 300 : 3_000_000), using: &generator)
      }
      try write(words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }, to: share)
    }
    if generator.oneIn(2) { try? FileManager.default.removeItem(atPath: locks.string) }
  }

  private func fault(
    of history: LogHistory, _ order: [LogBank.Move], _ generator: inout SeededGenerator
  ) throws -> String? {
    var history = history
    do {
      if depth > 0, generator.oneIn(4) {
        for _ in 0..<Int.random(in: 1...depth, using: &generator) { try cutRecovery(&history, &generator) }
      }
      if generator.oneIn(6) {
        // A program that knows no log finds a sound file with some beginning of the commits.
        let plain = history.withoutPromises
        let bank = try LogBank(in: image, hasLog: false)
        let state = try bank.state()
        try bank.environment.checkStructure()
        try bank.close()
        if let fault = plain.fault(ofCut: state, order: order) { return "the tree alone: \(fault)" }
        if generator.oneIn(2) {
          // The log is gone, and with it what the tree lacks.
          try? FileManager.default.removeItem(atPath: image.appending("log").string)
          return try faultOfOpening(plain, order, &generator)
        }
      }
      if generator.oneIn(3) {
        if let fault = try faultOfReading(&history, order) { return "a reader alone: \(fault)" }
      }
      return try faultOfOpening(history, order, &generator)
    } catch {
      return "refused: \(error)"
    }
  }

  /// Opens the image for reading only; what is seen then must last.
  private func faultOfReading(_ history: inout LogHistory, _ order: [LogBank.Move]) throws -> String? {
    let bank = try LogBank(in: image, isReadOnly: true)
    let state = try bank.state()
    try bank.close()
    if let fault = history.fault(ofCut: state, order: order) { return fault }
    history.add(.flushed(state.number))
    return nil
  }

  /// Lets a program recover the image and write, or only read it, and replaces the image by what a power cut leaves of that.
  private func cutRecovery(_ history: inout LogHistory, _ generator: inout SeededGenerator) throws {
    let (events, notes) = (files.directory.appending("recovery"), files.directory.appending("recovery-notes"))
    try? FileManager.default.removeItem(atPath: events.string)
    try write([], to: notes)
    let tree = try FileTree(image)
    let roles: [LogBankAct.Role] = [.durable, .durable, .relaxed, .visitor]
    let role = roles[Int.random(in: 0..<roles.count, using: &generator)]
    let child = try LogBankAct.start(
      in: image, notes: notes, LogBank.auditor, role, count: 4, recordingIn: events,
      output: files.directory.appending("recovery.out"), killing: true, using: &generator)
    let ending = child.wait()
    guard [.exit(0), .signal(SIGKILL)].contains(ending), child.lines.isEmpty else {
      throw Failure(description: "the recovery: \(ending), \(child.lines)")
    }
    guard FileManager.default.fileExists(atPath: events.string) else { return }
    let log = try FileLog(events)
    let place = generator.oneIn(3) ? log.events.count : Int.random(in: 0...log.events.count, using: &generator)
    for (event, line) in try log.lines(in: UInt64(notes.stat().inode.rawValue)) where event < place {
      history.add(line)
    }
    var disk = CutDisk(log: log, tree: tree, forgetting: .nothing)
    disk.advance(to: place)
    try Self.place(disk, at: image, using: &generator)
  }

  /// Opens the image, writes, closes it, and looks at the plain file.
  private func faultOfOpening(
    _ history: LogHistory, _ order: [LogBank.Move], _ generator: inout SeededGenerator
  ) throws -> String? {
    let bank = try LogBank(in: image)
    let state = try bank.state()
    if let fault = history.fault(ofCut: state, order: order) { return fault }
    try bank.environment.checkStructure()
    let move = try bank.move(as: LogBank.auditor, using: &generator)
    let (after, contents) = (try bank.state(), try bank.contents())
    guard move.number == state.number + 1, after.number == move.number else {
      return "the next commit is \(move) and leaves \(after.counts)"
    }
    try bank.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: image.string).sorted()
    guard names == ["data.mdb", "lock.mdb"] else { return "after closing there are \(names)" }
    let plain = try LogBank(in: image, hasLog: false)
    let isSame = try plain.contents() == contents
    try plain.environment.checkStructure()
    try plain.close()
    return isSame ? nil : "the plain file differs"
  }
}
