import Foundation
import SystemPackage

/// The last step of every commit fails in turn: really, only in the reported result, or so that the outcome is unknown.
enum LastStepSuite {
  private static let mostCommits = 1_000

  static func run(_ run: inout FaultRun) throws -> String {
    let stride = run.count("LAST_STEP_STRIDE", short: 5, long: 1)
    let library = try Preloads.path("fail-last-step")
    return try withScratch { directory in
      let session = Session(seed: run.seed, directory: directory)
      let mark = directory.appending("fired").string
      var (failedCount, unknownCount) = (0, 0)
      for what in ["lost", "kept", "unknown"] {
        for number in Swift.stride(from: 1, through: mostCommits, by: stride) {
          run.advance("\(what), number \(number)")
          try? FileManager.default.removeItem(atPath: mark)
          let environment = [
            "LD_PRELOAD": library, "TALLY_FAIL_LAST_STEP": "\(number):\(what)", "TALLY_FAULT_FIRED": mark,
          ]
          let result = try session.run(environment: environment, mustFinish: true)
          if let fault = result.fault { run.fail("last step \(number) \(what): \(fault)") }
          if !FileManager.default.fileExists(atPath: mark) { break }
          failedCount += 1
          guard what != "unknown" else {
            unknownCount += result.failureCount
            run.require(
              result.failureCount > 0 || number <= Self.commitsOfMaking,
              "last step \(number) \(what): nothing was reported, although the disk did not confirm it")
            continue
          }
          // The store has checked, and has repeated a lost commit; the first commits are those of its creation.
          let isReported = result.failureCount > 0 && number > Self.commitsOfMaking
          run.require(!isReported, "last step \(number) \(what): \(result.failureCount) failures reported")
        }
      }
      run.note(failedCount, .injectedFaults)
      run.require(unknownCount > 0, "no outcome was unknown: the suite proves nothing")
      return "\(failedCount) last steps failed, \(unknownCount) outcomes reported as unknown, all others found out"
    }
  }

  /// The commits that create a new store, where no other process can be waiting.
  private static let commitsOfMaking = 1
}
