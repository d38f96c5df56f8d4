public import Foundation
public import SystemPackage

/// Another process, which runs one act of a helper program.
public final class HelperProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let directory: AnyObject?

  /// Starts an act on a directory; what keeps the directory from being removed lives as long as this.
  public init(
    _ program: String, _ act: String, _ path: FilePath, _ numbers: [Int], keeping directory: AnyObject? = nil
  ) throws {
    self.directory = directory
    process.executableURL = Self.directoryOfBuild.appendingPathComponent(program)
    process.arguments = [act, path.string] + numbers.map { "\($0)" }
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  deinit {
    // One that waits for what a failed test will never do would wait for ever.
    if process.isRunning { kill() }
  }

  /// Where the build put the program that runs the tests, and the helpers beside it.
  public static let directoryOfBuild: URL = {
    let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(fileURLWithPath: program ?? CommandLine.arguments[0]).deletingLastPathComponent()
  }()

  /// Waits for the helper's next line.
  public func line() -> String {
    var bytes: [UInt8] = []
    while let byte = output.fileHandleForReading.readData(ofLength: 1).first, byte != UInt8(ascii: "\n") {
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Waits for the end, and returns the lines not read yet; a failure is among them.
  public func lines() -> [String] {
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Lets a waiting helper continue.
  public func release() {
    input.fileHandleForWriting.write(Data("\n".utf8))
  }

  /// Ends it as a crash would.
  public func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
