import Foundation
import SystemPackage

/// Every allocation inside liblmdb fails in turn, once or from then on.
enum AllocationSuite {
  private static let mostAllocations = 10_000

  static func run(_ run: inout FaultRun) throws -> String {
    let stride = run.count("ALLOCATION_STRIDE", short: 17, long: 1)
    let library = try Preloads.path("fail-allocation")
    return try withScratch { directory in
      let session = Session(seed: run.seed, directory: directory)
      let mark = directory.appending("fired").string
      var (failedCount, reportedCount) = (0, 0)
      for lasts in [false, true] {
        for number in Swift.stride(from: 1, through: mostAllocations, by: stride) {
          try? FileManager.default.removeItem(atPath: mark)
          let environment = [
            "LD_PRELOAD": library, "TALLY_FAIL_ALLOCATION": "\(number)\(lasts ? "+" : "")", "TALLY_FAULT_FIRED": mark,
          ]
          run.advance("number \(number)\(lasts ? " and later" : "")")
          let result = try session.run(environment: environment, mustFinish: !lasts)
          if let fault = result.fault { run.fail("allocation \(number)\(lasts ? " and later" : ""): \(fault)") }
          if !FileManager.default.fileExists(atPath: mark) { break }
          failedCount += 1
          reportedCount += result.failureCount
        }
      }
      run.note(failedCount, .injectedFaults)
      run.require(reportedCount > 0, "no failure was reported: the suite proves nothing")
      return "allocations failed in \(failedCount) sessions, \(reportedCount) failures reported"
    }
  }
}
