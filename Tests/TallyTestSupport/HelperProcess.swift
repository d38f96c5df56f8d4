import Foundation
public import SystemPackage

/// Another process, which runs one act of `TallyTestHelper`.
public final class HelperProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  /// Starts an act on a directory.
  public init(_ act: String, _ directory: FilePath, _ numbers: Int...) throws {
    process.executableURL = Self.directoryOfBuild.appendingPathComponent("TallyTestHelper")
    process.arguments = [act, directory.string] + numbers.map { "\($0)" }
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// Where the build put the program that runs the tests, and the helper beside it.
  private static let directoryOfBuild: URL = {
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

  /// Waits for the end, and gives the lines not read yet; a failure is among them.
  public func lines() -> [String] {
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Lets a helper that waits go on.
  public func release() {
    input.fileHandleForWriting.write(Data("\n".utf8))
  }
}
