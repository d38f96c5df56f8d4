import Foundation
import SystemPackage
import TallyTestSupport

/// Kills and power cuts at any point of the recovery of what version 0e4248f left with a journal, again and again.
enum JournalRecoverySuite {
  static func run(_ run: inout FaultRun) throws -> String {
    let imageCount = run.count("IMAGES", short: 40, long: 2_000)
    let depth = run.count("DEPTH", short: 3, long: 12)
    for fault in try faults(.nothing, imageCount, depth, &run) { run.fail("image \(fault)") }
    run.note(imageCount, .images)
    // Cut off once: after that any recovery that ends brings everything.
    let controlCount = run.count("CONTROL_IMAGES", short: 120, long: 400)
    let broken = try faults(.files, controlCount, 1, &run).count
    run.requireControl(fails: broken > 0, "without flushes nothing breaks: the check proves nothing")
    return "\(imageCount) recoveries cut off up to \(depth) times; without flushes \(broken) of \(controlCount) broke"
  }

  private static func faults(
    _ forgotten: CutDisk.Forgotten, _ imageCount: Int, _ depth: Int, _ run: inout FaultRun
  ) throws -> [String] {
    try withScratch(inMemory: true) { directory in
      var (faults, next) = ([String](), 0)
      while next < imageCount {
        let child = try ChildProcess.act(
          [
            "check-left-stores", directory.appending("image").string, "\(run.seed)", "\(next)", "\(imageCount)",
            "\(depth)", forgotten.rawValue,
          ], output: directory.appending("check.out"))
        let ending = child.wait { run.advance("up to \($0.lines.last ?? "") of \(imageCount)") }
        let lines = child.lines.filter { $0.first?.isNumber ?? false }
        faults += lines.filter { !$0.hasSuffix(" sound") }
        next += lines.count
        if ending != .exit(0) {
          if lines.isEmpty, ending == .exit(1) { throw Failure(description: "the check failed: \(child.lines)") }
          faults.append("\(next) ended its process: \(ending)\(child.report)")
          next += 1
        }
      }
      return faults
    }
  }
}
