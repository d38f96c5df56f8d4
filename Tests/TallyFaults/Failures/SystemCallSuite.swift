import Foundation
import SystemPackage

/// Every write, flush and change of a name fails in turn, once or from then on.
enum SystemCallSuite {
  /// Calls that only a store makes, with the errors they may fail with.
  private static let faults = [
    ("pwrite64", "EIO"), ("pwrite64", "ENOSPC"), ("writev", "EIO"), ("writev", "ENOSPC"), ("fdatasync", "EIO"),
    ("fsync", "EIO"), ("rename", "ENOSPC"), ("mkdir", "ENOSPC"),
  ]
  private static let mostCalls = 1_000

  static func run(_ run: inout FaultRun) throws -> String {
    guard let tracer = ["/usr/bin/strace", "/usr/local/bin/strace"].first(where: isExecutable) else {
      return "skipped, as strace is missing: apt-get install strace"
    }
    let stride = run.count("CALL_STRIDE", short: 11, long: 1)
    return try withScratch { directory in
      let session = Session(seed: run.seed, directory: directory)
      let trace = directory.appending("trace")
      var (injectedCount, reportedCount) = (0, 0)
      for (call, error) in faults {
        for lasts in [false, true] {
          for number in Swift.stride(from: 1, through: mostCalls, by: stride) {
            let injection = "inject=\(call):error=\(error):when=\(number)\(lasts ? "+" : "")"
            let prefix = [
              tracer, "-f", "--seccomp-bpf", "-qq", "-o", trace.string, "-e", "trace=\(call)", "-e", injection,
            ]
            run.advance("\(call) with \(error)\(lasts ? " for good" : ""), number \(number)")
            let result = try session.run(prefix: prefix, mustFinish: !lasts)
            if let fault = result.fault { run.fail("\(injection): \(fault)") }
            let count =
              try String(contentsOfFile: trace.string, encoding: .utf8).split(separator: "(INJECTED)").count - 1
            if count == 0 { break }
            injectedCount += count
            reportedCount += result.failureCount
          }
        }
      }
      run.note(injectedCount, .injectedFaults)
      run.require(reportedCount > 0, "no failure was reported: the suite proves nothing")
      return "\(injectedCount) calls failed, \(reportedCount) failures reported"
    }
  }

  private static func isExecutable(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }
}
