import Foundation
import SystemPackage

/// Power cuts at any point of a workload on the real store, rebuilt from a log of its writes and flushes.
enum CrashImageSuite {
  static func run(_ run: inout FaultRun) throws -> String {
    let transactionCount = run.count("TRANSACTIONS", short: 30, long: 100)
    let imageCount = run.count("IMAGES", short: 300, long: 4_000)
    return try withScratch(inMemory: true) { directory in
      let durable = directory.appending("durable.log")
      let relaxed = directory.appending("relaxed.log")
      try record("durable", to: durable, in: directory, transactionCount, run.seed)
      try record("relaxed", to: relaxed, in: directory, transactionCount, run.seed)
      for log in [durable, relaxed] {
        for fault in try faults(log, in: directory, imageCount, "flushed", &run) {
          run.fail("\(log.stem ?? ""), image \(fault)")
        }
      }
      let controlCount = imageCount / 4
      let broken = try faults(durable, in: directory, controlCount, "forgetful", &run)
      run.note(2 * imageCount, .images)
      run.requireControl(
        fails: broken.count >= controlCount / 4,
        "only \(broken.count) of \(controlCount) images break without flushes: the check proves nothing")
      return "\(2 * imageCount) images of \(2 * transactionCount) transactions tried, durable and relaxed; "
        + "control without flushes: \(broken.count) of \(controlCount) broken, as expected"
    }
  }

  /// Lets a process run transactions, and records its writes.
  private static func record(
    _ durability: String, to log: FilePath, in directory: FilePath, _ count: Int, _ seed: UInt64
  ) throws {
    let acknowledgements = directory.appending(durability).appending("acknowledged")
    try FileManager.default.createDirectory(
      atPath: directory.appending(durability).string, withIntermediateDirectories: true)
    let child = try ChildProcess.act(
      [
        "workload", directory.appending(durability).appending("store").string, acknowledgements.string, "\(seed)",
        "\(count)", durability,
      ],
      output: directory.appending("workload.out"),
      environment: ["LD_PRELOAD": try Preloads.path("record-files"), "TALLY_FILE_LOG": log.string])
    guard child.wait() == .exit(0) else { throw Failure(description: "the workload failed: \(child.lines)") }
  }

  /// Opens images in processes of their own, and returns the number and fault of each that is not sound.
  private static func faults(
    _ log: FilePath, in directory: FilePath, _ count: Int, _ mode: String, _ run: inout FaultRun
  ) throws -> [String] {
    var (faults, next) = ([String](), 0)
    while next < count {
      let child = try ChildProcess.act(
        [
          "check-images", log.string, directory.appending("image").string, "\(run.seed)", "\(next)", "\(count)",
          mode,
        ], output: directory.appending("check.out"))
      let ending = child.wait {
        run.advance("\(mode) images of the \(log.stem ?? "") log, up to \($0.lines.last ?? "") of \(count)")
      }
      let lines = child.lines.filter { $0.first?.isNumber ?? false }
      faults += lines.filter { !$0.hasSuffix(" sound") }
      next += lines.count
      if ending != .exit(0) {
        if lines.isEmpty, ending == .exit(1) { throw Failure(description: "the check failed: \(child.lines)") }
        faults.append("\(next) ended its process: \(ending)")
        next += 1
      }
    }
    return faults
  }
}

/// A failure that ends a suite.
struct Failure: Error, CustomStringConvertible {
  let description: String
}
