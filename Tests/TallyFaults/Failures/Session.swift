import Foundation
import SystemPackage
import Tally
import TallyTestSupport

/// A session in a process whose calls fail, and the requirements on it and on the store that it leaves.
struct Session {
  let seed: UInt64
  let directory: FilePath
  var transactionCount = 12

  /// The codes under which a failing call may be reported.
  private static let storageCodes: Set = ["storageFailed", "diskFull", "outcomeUnknown"]
  /// The remarks of the process about itself.
  private static let remarks: Set = ["done", "gave up", "raised the limit"]

  struct Result {
    /// The number of failures reported to the caller of the library.
    var failureCount = 0
    /// The fault; `nil` if there is none.
    var fault: String?
  }

  private var store: FilePath { directory.appending("store") }
  private var acknowledgements: FilePath { directory.appending("acknowledged") }

  /// Runs a session: `prefix` is the command that starts it, as a tracer.
  ///
  /// In an empty directory a new store is linked, elsewhere it is renamed.
  func run(
    prefix: [String] = [], environment: [String: String] = [:], limitInBytes: Int? = nil, mustFinish: Bool,
    inEmptyDirectory: Bool = false
  ) throws -> Result {
    try? FileManager.default.removeItem(atPath: store.string)
    if inEmptyDirectory {
      try FileManager.default.createDirectory(atPath: store.string, withIntermediateDirectories: false)
    }
    try? FileManager.default.removeItem(atPath: acknowledgements.string)
    let arguments = [store.string, acknowledgements.string, "\(seed)", "\(transactionCount)"]
    let command = [ChildProcess.program, "act", "session"] + arguments + (limitInBytes.map { ["\($0)"] } ?? [])
    let child = try ChildProcess(prefix + command, output: directory.appending("out"), environment: environment)
    let ending = child.wait()
    let lines = child.lines
    var result = Result(failureCount: lines.count { Self.storageCodes.contains($0) })
    if ending != .exit(0) {
      result.fault = "\(ending), after \(lines)"
    } else if let strange = lines.first(where: { !Self.storageCodes.contains($0) && !Self.remarks.contains($0) }) {
      result.fault = "said \(strange)"
    } else if mustFinish, lines.last != "done" {
      result.fault = "did not finish: \(lines)"
    } else {
      result.fault = try faultOfWhatIsLeft()
    }
    return result
  }

  private func faultOfWhatIsLeft() throws -> String? {
    let acknowledged = ChildProcess.lines(of: acknowledgements).compactMap { UInt64($0) }.last ?? 0
    var workload = Workload(seed: seed)
    let store = try TaskStore(at: store, configuration: workload.configuration)
    let sequence = try store.information().sequence
    guard acknowledged...acknowledged + 1 ~= sequence else {
      return "acknowledged \(acknowledged), and the store is at \(sequence)"
    }
    while workload.sequence < sequence { workload.advance() }
    let comparison = StoreComparison(store: store)
    let fault = try comparison.fault(against: workload.model) ?? comparison.faultOfFurtherUse()
    try store.close()
    return fault
  }
}
