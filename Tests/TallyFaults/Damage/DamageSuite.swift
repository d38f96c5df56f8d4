import Foundation
import SystemPackage
import Tally

/// Damaged data files and locks: opening them gives a result or a typed error.
enum DamageSuite {
  static func run(_ run: inout FaultRun) throws -> String {
    let count = run.count("DAMAGES", short: 110, long: 5_500)
    return try withScratch(inMemory: true) { directory in
      let path = directory.appending("store")
      var workload = Workload(seed: run.seed)
      let store = try TaskStore(at: path, configuration: workload.configuration)
      for _ in 0..<66 { try workload.step(in: store) }
      try store.close()
      var tally = DamageTally()
      let linesOfOneFile = 3
      while tally.next < count {
        let child = try ChildProcess.act(
          [
            "check-damage", path.appending("data.mdb").string, directory.appending("damaged").string, "\(run.seed)",
            "\(tally.next)", "\(count)",
          ],
          output: directory.appending("out"), environment: ["SWIFT_BACKTRACE": "enable=no"])
        let ending = child.wait { run.advance(to: tally.next + $0.lines.count / linesOfOneFile, of: count) }
        for fault in tally.note(child.lines, ending) { run.fail(fault) }
      }
      run.note(count, .damages)
      run.require(tally.foundCount > count / 4, "only \(tally.foundCount) damages were found")
      return "\(count) damaged files: verify found \(tally.foundCount) and ended no process; "
        + "\(tally.trustedCount) with whole pages were used, and \(tally.untrustedCount) others nevertheless, which "
        + "liblmdb ended \(tally.endedCount) times"
    }
  }
}

/// The outcomes of damaged files so far.
private struct DamageTally {
  /// The first file without an outcome yet.
  var next = 0
  /// The files in which verification found a fault.
  var foundCount = 0
  /// The files that were used, by whether the check of their pages let them pass.
  var trustedCount = 0
  var untrustedCount = 0
  /// The number of processes that were ended by using a file in spite of the check.
  var endedCount = 0

  /// Reads the output of a process until its end, and returns the faults.
  mutating func note(_ lines: [String], _ ending: ChildProcess.Ending) -> [String] {
    var (faults, stage, damage) = ([String](), "", "")
    for line in lines {
      let words = line.split(separator: " ").map(String.init)
      guard words.count >= 3, Int(words[0]) == next, Damage(rawValue: words[1]) != nil else { continue }
      (stage, damage) = (words[words.count > 3 ? 3 : 2], words[1])
      let isRefused = stage == "used" && words[2] == "none" && words[4] != "none"
      if line.contains("untyped") || isRefused { faults.append(line) }
      if stage != "verify", stage != "used", words[2] != "none" { foundCount += 1 }
      if stage == "use" { trustedCount += 1 }
      if stage == "use-untrusted" { untrustedCount += 1 }
      if stage == "used" { next += 1 }
    }
    guard ending != .exit(0) else { return faults }
    if stage == "use-untrusted" {
      endedCount += 1
    } else {
      faults.append("damage \(next), \(damage): \(ending) at \(stage): \(lines.last ?? "")")
    }
    next += 1
    return faults
  }
}
