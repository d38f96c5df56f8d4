import Foundation
import SystemPackage

/// The system accepts maps only up to some size, and refuses larger ones as invalid.
enum MapSuite {
  /// From less than the map that stores of tests request down to the smallest that is tried.
  private static let largestMapsInBytes = [1 << 35, 1 << 30, 1 << 26]

  static func run(_ run: inout FaultRun) throws -> String {
    let library = try Preloads.path("refuse-maps")
    return try withScratch { directory in
      let session = Session(seed: run.seed, directory: directory)
      let mark = directory.appending("fired").string
      for largest in largestMapsInBytes {
        try? FileManager.default.removeItem(atPath: mark)
        let environment = [
          "LD_PRELOAD": library, "TALLY_LARGEST_MAP": "\(largest)", "TALLY_FAULT_FIRED": mark,
        ]
        let result = try session.run(environment: environment, mustFinish: true)
        if let fault = result.fault { run.fail("maps of at most \(largest) bytes: \(fault)") }
        run.require(result.failureCount == 0, "maps up to \(largest) bytes: \(result.failureCount) failures reported")
        run.require(FileManager.default.fileExists(atPath: mark), "no map was refused: the suite proves nothing")
      }
      return "\(largestMapsInBytes.count) sessions with smaller maps"
    }
  }
}
