import Foundation
import SystemPackage
import Tally
import TallyTestSupport

/// Opens images of a log and prints a line for each: `check-images LOG DIRECTORY SEED FIRST COUNT flushed|forgetful`.
///
/// A process of its own, since liblmdb ends its process over a file that contradicts itself, as the control's do.
struct CrashImageCheck {
  private let log: WriteLog
  private let directory: FilePath
  private let seed: UInt64
  private let first: Int
  private let count: Int
  private let forgetsFlushes: Bool
  /// The contents of the store at each sequence.
  private let models: [WorkloadModel]

  init(_ act: Act) throws {
    log = try WriteLog(act.path(0))
    directory = try act.path(1)
    seed = try act.number(2)
    first = try act.number(3)
    count = try act.number(4)
    forgetsFlushes = try act.text(5) == "forgetful"
    var workload = Workload(seed: seed)
    var models = [workload.model]
    let last = log.events.reduce(UInt64(0)) { if case .begun(let number) = $1 { number } else { $0 } }
    while workload.sequence < last {
      workload.advance()
      models.append(workload.model)
    }
    self.models = models
  }

  func run() throws {
    // A store that hangs has failed: it ends the process.
    let watchdog = Watchdog(limitInSeconds: 30)
    var disk = CrashedDisk(log: log, forgetsFlushes: forgetsFlushes)
    let places = log.events.count + 1 - log.firstInPlace
    for number in first..<count {
      var generator = SeededGenerator(seed: seed &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D)
      disk.advance(to: log.firstInPlace + number * places / count)
      try place(disk.image(using: &generator))
      watchdog.begin("image \(number)")
      say("\(number) \(fault(acknowledged: disk.acknowledged, begun: disk.begun) ?? "sound")")
    }
  }

  private func place(_ image: [UInt8]) throws {
    try? FileManager.default.removeItem(atPath: directory.string)
    try FileManager.default.createDirectory(atPath: directory.string, withIntermediateDirectories: true)
    try write(image, to: directory.appending("data.mdb"))
  }

  private func fault(acknowledged: UInt64, begun: UInt64) -> String? {
    do {
      var configuration = Workload(seed: seed).configuration
      configuration.createsIfMissing = false
      let store = try TaskStore(at: directory, configuration: configuration)
      let sequence = try store.information().sequence
      guard sequence >= acknowledged else { return "lost: \(acknowledged) acknowledged, \(sequence) there" }
      guard sequence <= begun else { return "\(begun) begun, \(sequence) there" }
      let comparison = StoreComparison(store: store)
      if let fault = try comparison.fault(against: models[Int(sequence)]) { return fault }
      if let fault = try comparison.faultOfFurtherUse() { return "afterwards: \(fault)" }
      try store.close()
      return nil
    } catch {
      return "refused: \(error)"
    }
  }
}
