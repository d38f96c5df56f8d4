import Foundation
import SystemPackage

/// Every write, flush and change of a name fails in turn while transactions are written.
enum SystemCallSuite {
  static func run(_ run: inout FaultRun) throws -> String {
    let stride = run.count("CALL_STRIDE", short: 11, long: 1)
    return try withScratch { directory in
      let session = Session(seed: run.seed, directory: directory)
      return try SystemCallFaults.forEach(in: directory, stride: stride, &run) { fault in
        try session.run(prefix: fault.prefix, mustFinish: !fault.lasts, inEmptyDirectory: fault.call.hasSuffix("link"))
      }
    }
  }
}
