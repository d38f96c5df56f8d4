import Foundation
import LMDB
import SystemPackage
import TallyTestSupport

/// Uses a bank while its disk has space for a few pages only: `log-disk DIRECTORY STEP`.
///
/// The space ends while the log is made, while it is merged, or while large commits go into the tree. Each call says so or
/// does its work, whatever was acknowledged is there, and with space everything goes on.
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
  private var filler: DiskFiller { DiskFiller(directory: directory) }

  func run() throws {
    var (refusals, rooms, doneCount) = (0, 0, 0)
    for room in stride(from: 0, through: Self.mostPages, by: step) {
      try? FileManager.default.removeItem(atPath: path.string)
      try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: false)
      try LogBank.create(in: path)
      var (history, random) = (LogHistory(), SeededGenerator(seed: UInt64(room)))
      try filler.fill(leaving: room)
      let refused = try use(&history, &random)
      try filler.remove()
      do {
        try audit(history, &random)
      } catch {
        throw Failure(description: "with \(room) pages: \(error)")
      }
      (refusals, rooms, doneCount) = (refusals + refused, rooms + 1, doneCount + (refused == 0 ? 1 : 0))
    }
    guard refusals > 0, doneCount > 0 else {
      throw Failure(description: "\(refusals) refusals, \(doneCount) of \(rooms) without: this proves nothing")
    }
    say("log disk: \(refusals) calls refused with space for \(rooms) numbers of pages")
  }

  /// Makes commits, and returns how often space was missing.
  private func use(_ history: inout LogHistory, _ random: inout SeededGenerator) throws -> Int {
    var refusals = 0
    do {
      let bank = try LogBank(in: path)
      for _ in 0..<Self.commitCount {
        do {
          var begun: LogBank.Move?
          let move = try bank.move(as: 0, using: &random) { begun = $0 }
          if let begun { history.add(.begun(begun, isDurable: true)) }
          history.add(.acknowledged(move, isDurable: true))
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

  private func audit(_ history: LogHistory, _ random: inout SeededGenerator) throws {
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
