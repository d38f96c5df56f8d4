import Foundation
import SystemPackage
import TallyTestSupport

/// How a run of the program ended and what it wrote.
struct Outcome {
  let status: Int32
  let output: String
  let errors: String
}

/// The built program with a directory, and so a store and a home, of its own.
struct Program {
  let directory: FilePath
  var environment: [String: String]

  /// Gives the program a directory; it answers as of 2026-11-21T12:00:00Z, 15:00 in Istanbul, on a line of 80 columns.
  init(in directory: FilePath) {
    self.directory = directory
    environment = [
      "HOME": directory.string, "TALLY_STORE": directory.appending("store").string, "COLUMNS": "80", "TZ": "UTC",
      "PATH": "/usr/local/bin:/usr/bin:/bin",
    ]
    // The sanitizers' options, and the change that `make test-mutants` tries, apply to every process.
    for (name, value) in ProcessInfo.processInfo.environment
    where name.hasSuffix("SAN_OPTIONS") || name == "TALLY_MUTANT" {
      environment[name] = value
    }
  }

  var store: FilePath { directory.appending("store") }

  static let now = "2026-11-21T12:00:00Z"
  static let timeZone = "Europe/Istanbul"

  /// Runs a command with the fixed clock and time zone.
  func run(_ arguments: [String], input: String = "") throws -> Outcome {
    try runBare(["--now", Self.now, "--time-zone", Self.timeZone] + arguments, input: input)
  }

  /// Runs the program with these arguments and no others.
  func runBare(_ arguments: [String], input: String = "") throws -> Outcome {
    try runExecutable(Self.executable, arguments, input: input)
  }

  /// Runs another program in the same surroundings.
  func runExecutable(_ executable: URL, _ arguments: [String], input: String = "") throws -> Outcome {
    // Files instead of pipes: a pipe that is not read would block the program.
    let name = UUID().uuidString
    let (inputFile, outputFile, errorFile) = (
      directory.appending(name + ".in"), directory.appending(name + ".out"), directory.appending(name + ".err")
    )
    try Data(input.utf8).write(to: URL(filePath: inputFile.string))
    for file in [outputFile, errorFile] { try Data().write(to: URL(filePath: file.string)) }
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.environment = environment
    process.currentDirectoryURL = URL(filePath: directory.string)
    process.standardInput = FileHandle(forReadingAtPath: inputFile.string)
    process.standardOutput = FileHandle(forWritingAtPath: outputFile.string)
    process.standardError = FileHandle(forWritingAtPath: errorFile.string)
    try process.run()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus,
      output: try String(contentsOfFile: outputFile.string, encoding: .utf8),
      errors: try String(contentsOfFile: errorFile.string, encoding: .utf8)
    )
  }

  /// The program, which is next to the test bundle, as the only file of a directory.
  ///
  /// Where the hub and the screens are built, too, their programs are beside it and take its place for some commands.
  static let executable: URL = {
    let bundle = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
    let built = bundle.deletingLastPathComponent().appending(path: "tally")
    let directory = bundle.deletingLastPathComponent().appending(path: "tally-alone")
    let (link, new) = (directory.appending(path: "tally"), directory.appending(path: UUID().uuidString))
    let files = FileManager.default
    // Other tests may do the same at this time. A failure shows when the program is started.
    try? files.createDirectory(at: directory, withIntermediateDirectories: true)
    try? files.linkItem(at: built, to: new)
    // Unsafe by signature only: the paths are copied for the call. It does nothing where both are links of one file.
    unsafe rename(new.path, link.path)
    try? files.removeItem(at: new)
    return link
  }()
}

/// Runs a body with the program in a directory that is removed afterwards.
func withProgram<R>(_ body: (Program) throws -> R) throws -> R {
  try withTemporaryDirectory { try body(Program(in: $0)) }
}
