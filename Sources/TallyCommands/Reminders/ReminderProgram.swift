import Foundation
import Tally

/// The program that is run for each reminder; it is started directly, never through a shell.
struct ReminderProgram {
  private let executable: URL
  private let arguments: [String]
  private let environment: EnvironmentVariables

  /// Variables hold no NUL, and systems limit their length.
  private static let maximumVariableSizeInBytes = 100_000

  /// Finds a program by its path or, if there is no slash in it, in PATH.
  init(_ program: String, arguments: [String], environment: EnvironmentVariables) throws {
    let directories =
      program.contains("/")
      ? [""] : (try environment.value(of: "PATH") ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/" }
    let paths = directories.map { $0 + program }
    guard let path = paths.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
      throw CommandFailure(
        .notFound, code: "programNotFound", "There is no program '\(program.escapedForDisplay())' to run",
        remedy: "Give a path, or a name found in PATH; arguments follow after --")
    }
    executable = URL(filePath: path)
    self.arguments = arguments
    self.environment = environment
  }

  /// Starts the program for one task and does not wait for it.
  func start(for named: NamedTask, date: Timestamp) throws -> Process {
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.environment = environment.intact.merging([
      "TALLY_TASK_TITLE": Self.variable(named.task.title),
      "TALLY_TASK_NOTES": Self.variable(named.task.notes ?? ""),
      "TALLY_TASK_LIST": Self.variable(named.list?.name ?? ""),
      "TALLY_TASK_ID": named.task.id.text,
      "TALLY_TASK_HANDLE": named.handle,
      "TALLY_REMINDER_DATE": date.iso8601,
    ]) { $1 }
    process.standardInput = FileHandle.nullDevice
    try process.run()
    return process
  }

  private static func variable(_ text: String) -> String {
    let safe = text.replacing("\0", with: "\u{FFFD}")
    guard safe.utf8.count > maximumVariableSizeInBytes else { return safe }
    return String(decoding: safe.utf8.prefix(maximumVariableSizeInBytes), as: UTF8.self)
  }
}
