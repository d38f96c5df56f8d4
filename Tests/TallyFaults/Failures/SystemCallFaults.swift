import Foundation
import SystemPackage

/// Writes, flushes and changes of names that fail in turn, once or from then on, in a process under a tracer.
struct SystemCallFaults {
  /// Calls that only a store makes, with the errors they may fail with.
  private static let faults = [
    ("pwrite64", "EIO"), ("pwrite64", "ENOSPC"), ("writev", "EIO"), ("writev", "ENOSPC"), ("fdatasync", "EIO"),
    ("fsync", "EIO"), ("rename", "ENOSPC"), ("mkdir", "ENOSPC"), ("link", "ENOSPC"), ("link", "EIO"), ("unlink", "EIO"),
    ("ftruncate", "ENOSPC"),
  ]
  private static let mostCalls = 1_000

  /// The tracer; `nil` if it is missing.
  private static let tracer = ["/usr/bin/strace", "/usr/local/bin/strace"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// One fault: the call, and the command that starts a process in which it fails.
  struct Fault {
    let call: String
    let lasts: Bool
    let prefix: [String]
  }

  /// Calls a body with each fault, and requires that each call failed at least once.
  ///
  /// - Parameters:
  ///   - directory: where the tracer may write.
  ///   - stride: how many calls are left out between two faults.
  ///   - unusedCalls: the calls that the process does not make.
  ///   - run: counts the faults.
  ///   - body: runs the process, and returns the number of failures that it reported, and any fault.
  /// - Returns: the suite's figures.
  /// - Throws: what the body throws.
  static func forEach(
    in directory: FilePath, stride: Int, without unusedCalls: Set<String> = [], _ run: inout FaultRun,
    _ body: (Fault) throws -> Session.Result
  ) throws -> String {
    guard let tracer else { return "skipped, as strace is missing: apt-get install strace" }
    let trace = directory.appending("trace")
    var (injectedCount, reportedCount) = (0, 0)
    for (call, error) in faults where !unusedCalls.contains(call) {
      for lasts in [false, true] {
        for number in Swift.stride(from: 1, through: mostCalls, by: stride) {
          let injection = "inject=\(call):error=\(error):when=\(number)\(lasts ? "+" : "")"
          let prefix = [
            tracer, "-f", "--seccomp-bpf", "-qq", "-o", trace.string, "-e", "trace=\(call)", "-e", injection,
          ]
          run.advance("\(call) with \(error)\(lasts ? " for good" : ""), number \(number)")
          let result = try body(Fault(call: call, lasts: lasts, prefix: prefix))
          if let fault = result.fault { run.fail("\(injection): \(fault)") }
          let count =
            try String(contentsOfFile: trace.string, encoding: .utf8).split(separator: "(INJECTED)").count - 1
          run.require(count > 0 || number > 1, "no \(call) failed: it proves nothing")
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
