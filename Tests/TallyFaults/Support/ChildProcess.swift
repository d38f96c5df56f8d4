import Foundation
import SystemPackage
import Tally

/// Another process of this program or of another one.
final class ChildProcess {
  private let process = Process()
  private let output: FilePath

  /// Starts an act of this program; `output` is the file for its output.
  static func act(
    _ arguments: [String], output: FilePath, environment: [String: String] = [:]
  ) throws -> ChildProcess {
    try ChildProcess([program, "act"] + arguments, output: output, environment: environment)
  }

  /// Starts a command; its environment is that of this process with some changes.
  init(_ command: [String], output: FilePath, environment: [String: String] = [:]) throws {
    self.output = output
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    _ = FileManager.default.createFile(atPath: output.string, contents: nil)
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: output.string))
    process.standardOutput = file
    process.standardError = file
    try process.run()
    try file.close()
  }

  deinit {
    if process.isRunning { kill() }
  }

  /// The path of this program.
  static let program: String = {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
  }()

  var isRunning: Bool { process.isRunning }

  /// Sends it a signal, for example one that stops it or lets it go on.
  func send(_ signal: Int32) { Foundation.kill(process.processIdentifier, signal) }

  /// Ends it as a crash would, and returns whether it had not ended before.
  @discardableResult
  func kill() -> Bool {
    Foundation.kill(process.processIdentifier, SIGKILL)
    return wait() == .signal(SIGKILL)
  }

  /// Waits for its end.
  @discardableResult
  func wait() -> Ending {
    process.waitUntilExit()
    return process.terminationReason == .exit
      ? .exit(process.terminationStatus) : .signal(process.terminationStatus)
  }

  /// Waits for its end, and calls a body from time to time meanwhile.
  func wait(reporting body: (ChildProcess) -> Void) -> Ending {
    while process.isRunning {
      body(self)
      usleep(Self.pauseInMicroseconds)
    }
    return wait()
  }

  private static let pauseInMicroseconds: UInt32 = 5_000

  /// The lines of output so far; the last one may have been cut off by a crash.
  var lines: [String] { Self.lines(of: output) }

  /// What its watchdog has printed, behind a line break; empty if it has not.
  var report: String {
    lines.filter { $0.hasPrefix("hang: ") }.map { "\n    \($0)" }.joined()
  }

  static func lines(of file: FilePath) -> [String] {
    let data = (try? Data(contentsOf: URL(fileURLWithPath: file.string))) ?? Data()
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// How a process ended.
  enum Ending: Equatable {
    case exit(Int32)
    case signal(Int32)
  }
}

/// A directory for a suite, removed at the end; in memory where flushes should cost nothing.
func withScratch<R>(inMemory: Bool = false, _ body: (FilePath) throws -> R) throws -> R {
  let memory = "/dev/shm"
  let isMemoryThere = FileManager.default.isWritableFile(atPath: memory)
  let parent = inMemory && isMemoryThere ? memory : FileManager.default.temporaryDirectory.path
  let directory = FilePath(parent).appending("tally-faults-\(UUID().uuidString)")
  try FileManager.default.createDirectory(atPath: directory.string, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: directory.string) }
  return try body(directory)
}

/// Writes a file, replacing an existing one.
func write(_ bytes: [UInt8], to path: FilePath) throws {
  let file = try FileDescriptor.open(
    path, .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: .ownerReadWrite)
  _ = try file.closeAfter { try file.writeAll(bytes) }
}

/// Reads a whole file.
func bytes(of path: FilePath) throws -> [UInt8] {
  Array(try Data(contentsOf: URL(fileURLWithPath: path.string)))
}

/// The code of the error that a body throws; `none` if it throws none.
func outcome(_ body: () throws -> Void) -> String {
  do {
    try body()
    return "none"
  } catch let error as TallyError {
    return "\(error.code)"
  } catch {
    return "untyped: \(error)"
  }
}
