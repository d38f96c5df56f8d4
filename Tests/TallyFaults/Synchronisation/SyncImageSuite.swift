import Foundation
import SystemPackage

/// Power cuts at any point of a synchronisation through a folder, of the store's disk, the folder's, or both; in every
/// other run the store is relaxed, so that it may lose commits that the folder has.
enum SyncImageSuite {
  static func run(_ run: inout FaultRun) throws -> String {
    let runCount = run.count("SYNC_RUNS", short: 2, long: 6)
    let imageCount = run.count("SYNC_IMAGES", short: 4, long: 250)
    for number in 0..<runCount {
      let durability = number.isMultiple(of: 2) ? "durable" : "relaxed"
      let faults = try faults(run.seed &+ UInt64(number), durability, imageCount, .nothing, &run).faults
      for fault in faults { run.fail("run \(number), \(durability), image \(fault)") }
    }
    run.note(runCount * imageCount, .images)
    var words: [String] = []
    for forgotten in [CutDisk.Forgotten.files, .directories] {
      let (broken, tried) = try faults(run.seed, "durable", 50, forgotten, &run)
      run.requireControl(
        fails: !broken.isEmpty,
        "none of \(tried) images breaks without flushes of \(forgotten): the check proves nothing")
      words.append("without flushes of \(forgotten.rawValue), \(broken.count) of \(tried) broken")
    }
    return "\(runCount * imageCount) images of \(runCount) runs tried; controls: "
      + words.joined(separator: "; ") + ", as expected"
  }

  /// Opens images in processes of their own, and returns the number and fault of each that is not sound, and how many
  /// were tried: in the short form one fault is enough.
  private static func faults(
    _ seed: UInt64, _ durability: String, _ count: Int, _ forgotten: CutDisk.Forgotten, _ run: inout FaultRun
  ) throws -> (faults: [String], triedCount: Int) {
    // In the long form a few less than those that are packed.
    let segmentCount = run.count("SYNC_SEGMENTS", short: 2, long: 60)
    let roundCount = run.count("SYNC_ROUNDS", short: 4, long: 24)
    var (faults, next, isFinished) = ([String](), 0, false)
    while !isFinished, next < count {
      try withScratch(inMemory: true) { directory in
        let child = try ChildProcess.act(
          [
            "check-sync-images", directory.string, "\(seed)", durability, "\(segmentCount)", "\(roundCount)",
            "\(next)", "\(count)", forgotten.rawValue, run.isShort ? "1" : "\(count)",
          ],
          output: directory.appending("check.out"), environment: ["SWIFT_BACKTRACE": "enable=no"])
        let ending = child.wait {
          run.advance("images with \(forgotten.rawValue) forgotten, up to \($0.lines.last ?? "") of \(count)")
        }
        let lines = child.lines.filter { $0.first?.isNumber ?? false }
        faults += lines.filter { !$0.hasSuffix(" sound") }
        next += lines.count
        isFinished = ending == .exit(0)
        guard !isFinished else { return }
        if ending == .exit(1) { throw Failure(description: "the check failed: \(child.lines)") }
        faults.append("\(next) ended its process: \(ending)")
        next += 1
      }
    }
    return (faults, next)
  }
}
