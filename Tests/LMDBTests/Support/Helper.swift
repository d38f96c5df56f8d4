import Foundation
import SystemPackage

/// Another process, which runs one act of `LMDBTestHelper`.
final class Helper {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  // Kept from being removed while the helper works in it.
  private let directory: TemporaryDirectory

  init(_ act: String, _ directory: TemporaryDirectory, _ numbers: Int...) throws {
    self.directory = directory
    process.executableURL = Self.directoryOfBuild.appendingPathComponent("LMDBTestHelper")
    process.arguments = [act, directory.path.string] + numbers.map { "\($0)" }
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  deinit {
    // One that waits for what a failed test will never do would wait for ever.
    if process.isRunning { kill() }
  }

  /// Where the build put the program that runs the tests, and the helper beside it.
  static let directoryOfBuild: URL = {
    let program =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: program).deletingLastPathComponent()
  }()

  /// Waits for the helper's next line.
  func line() -> String {
    var bytes: [UInt8] = []
    while let byte = output.fileHandleForReading.readData(ofLength: 1).first, byte != UInt8(ascii: "\n") {
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Waits for the end, and gives the lines not read yet; a failure is among them.
  func lines() -> [String] {
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Lets a helper that holds something go on.
  func release() {
    input.fileHandleForWriting.write(Data("\n".utf8))
  }

  /// Ends it as a crash would.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
