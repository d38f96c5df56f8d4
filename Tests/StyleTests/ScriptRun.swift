import Foundation
import Testing

/// The output of a script of this repository, and its exit status.
struct ScriptRun {
  let status: Int32
  let output: String
  let errors: String

  /// Runs a script to its end, without standard input.
  ///
  /// Errors go to a file: two pipes read one after the other could wait for each other.
  init(_ script: String, _ arguments: [String] = [], shell: String = "/bin/bash", environment: [String: String]) throws
  {
    let errorFile = URL.temporaryDirectory.appending(path: "tally-errors-\(UUID().uuidString)")
    try Data().write(to: errorFile)
    defer { try? FileManager.default.removeItem(at: errorFile) }
    let process = Process()
    process.executableURL = URL(filePath: shell)
    process.arguments = [Repository.root.appending(path: script).path] + arguments
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = try FileHandle(forWritingTo: errorFile)
    try process.run()
    output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    status = process.terminationStatus
    errors = try String(contentsOf: errorFile, encoding: .utf8)
  }
}
