import Foundation

/// The libraries that a process under test loads before all others; `Scripts/test-faults.sh` builds them.
enum Preloads {
  static func path(_ name: String) throws -> String {
    let directory = ProcessInfo.processInfo.environment["TALLY_PRELOADS"] ?? ".build/faults"
    let path = URL(fileURLWithPath: directory).appendingPathComponent("\(name).so").path
    guard FileManager.default.fileExists(atPath: path) else {
      throw Failure(description: "\(path) is missing: run Scripts/test-faults.sh, which builds it")
    }
    return path
  }
}
