import Foundation
import LMDB
import SystemPackage
import TallyTestSupport

/// Uses a bank while its disk has space for a few pages only: `log-disk DIRECTORY STEP`.
///
/// The space ends while the log is made, while it is merged, while large commits go into the tree, or while a killed
/// process's log is recovered. Each call says so or does its work, whatever was acknowledged is there and can be read, and
/// with space everything goes on.
struct LogDiskAct {
  private let directory: FilePath
  private let step: Int

  private static let mostPages = 176
  private static let commitCount = 50

  init(_ act: Act) throws {
    directory = try act.path(0)
    step = try act.number(1)
  }

  private var path: FilePath { directory.appending("bank") }
  /// What a killed process has left.
  private var killed: FilePath { directory.appending("killed") }
  private var filler: DiskFiller { DiskFiller(directory: directory) }

  func run() throws {
    var (refusals, rooms, doneCount, leftCount) = (0, 0, 0, 0)
    for room in stride(from: 0, through: Self.mostPages, by: step) {
      try? FileManager.default.removeItem(atPath: path.string)
      try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: false)
      try LogBank.create(in: path)
      var (history, random) = (LogHistory(), SeededGenerator(seed: UInt64(room)))
      try filler.fill(leaving: room)
      let refused = try use(&history, &random)
      try filler.remove()
      do {
        try audit(history, &random, in: path)
      } catch {
        throw Failure(description: "with \(room) pages: \(error)")
      }
      (refusals, rooms, doneCount) = (refusals + refused, rooms + 1, doneCount + (refused == 0 ? 1 : 0))
      do {
        if try openAfterKill(leaving: rooms - 1, &random) { leftCount += 1 }
      } catch {
        throw Failure(description: "after a kill, with \(rooms - 1) pages: \(error)")
      }
    }
    guard refusals > 0, doneCount > 0, leftCount > 0 else {
      throw Failure(
        description: "\(refusals) refusals, \(doneCount) of \(rooms) without, \(leftCount) logs left: nothing is proved"
      )
    }
    say("log disk: \(refusals) calls refused with space for \(rooms) numbers of pages, \(leftCount) logs not recovered")
  }

  /// Opens what a killed process has left, for reading and for writing; returns whether the log stayed for lack of space.
  private func openAfterKill(leaving room: Int, _ random: inout SeededGenerator) throws -> Bool {
    var history = LogHistory()
    try leaveKilled(&history, &random)
    try filler.fill(leaving: room)
    for isReadOnly in [true, false, true] {
      let bank = try LogBank(in: killed, isDurable: room.isMultiple(of: 2), isReadOnly: isReadOnly)
      let state = try bank.state()
      if let fault = history.fault(ofKilled: state) { throw Failure(description: fault) }
      history.add(.seen(state.counts))
      do {
        if !isReadOnly { try commit(as: 1, in: bank, &history, &random) }
      } catch let error as LMDBError {
        guard error.code == .diskFull else { throw error }
      }
      try bank.close()
    }
    let isLeft = FileManager.default.fileExists(atPath: killed.appending("log").string)
    try filler.remove()
    try audit(history, &random, in: killed)
    return isLeft
  }

  /// Makes commits, and copies the files while the last of them are in the log only.
  private func leaveKilled(_ history: inout LogHistory, _ random: inout SeededGenerator) throws {
    for directory in [path, killed] {
      try? FileManager.default.removeItem(atPath: directory.string)
      try FileManager.default.createDirectory(atPath: directory.string, withIntermediateDirectories: false)
    }
    try LogBank.create(in: path)
    let bank = try LogBank(in: path)
    for _ in 0..<Self.commitCount / 10 { try commit(as: 0, in: bank, &history, &random) }
    for name in try FileManager.default.contentsOfDirectory(atPath: path.string) {
      try FileManager.default.copyItem(atPath: path.appending(name).string, toPath: killed.appending(name).string)
    }
    try bank.close()
    try FileManager.default.removeItem(atPath: path.string)
  }

  private func commit(
    as program: Int, in bank: LogBank, _ history: inout LogHistory, _ random: inout SeededGenerator
  ) throws {
    let move = try bank.move(as: program, using: &random) { history.add(.begun($0, isDurable: true)) }
    history.add(.acknowledged(move, isDurable: true))
  }

  /// Makes commits, and returns how often space was missing.
  private func use(_ history: inout LogHistory, _ random: inout SeededGenerator) throws -> Int {
    var refusals = 0
    do {
      let bank = try LogBank(in: path)
      for _ in 0..<Self.commitCount {
        do {
          try commit(as: 0, in: bank, &history, &random)
        } catch let error as LMDBError {
          guard error.code == .diskFull else { throw error }
          refusals += 1
        }
        let state = try bank.state()
        guard state.counts == history.acknowledged else {
          throw Failure(description: "\(state.counts) are there, of \(history.acknowledged)")
        }
      }
      try bank.close()
    } catch let error as LMDBError {
      guard error.code == .diskFull else { throw error }
      refusals += 1
    }
    return refusals
  }

  private func audit(_ history: LogHistory, _ random: inout SeededGenerator, in path: FilePath) throws {
    let bank = try LogBank(in: path)
    let state = try bank.state()
    if let fault = history.fault(ofKilled: state) { throw Failure(description: fault) }
    _ = try bank.move(as: 1, using: &random)
    try bank.environment.checkStructure()
    try bank.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: path.string).sorted()
    guard names == ["data.mdb", "lock.mdb"] else { throw Failure(description: "after closing there are \(names)") }
  }
}
