import Foundation
import SystemPackage
import Tally

/// The program that is run for each reminder; it is started directly, never through a shell.
struct ReminderProgram {
  private let executable: URL
  private let arguments: @Sendable (NamedTask) -> [String]
  private let environment: EnvironmentVariables
  private let store: FilePath

  /// Variables hold no NUL, and systems limit their length.
  private static let maximumVariableSizeInBytes = 100_000

  /// Finds a program by its path or, if there is no slash in it, in PATH.
  ///
  /// - Parameters:
  ///   - program: Its path or name.
  ///   - store: The store's directory, which the program gets, too.
  ///   - environment: The variables that it gets besides those about the task.
  ///   - arguments: Its arguments for a task.
  /// - Throws: ``CommandFailure`` if there is no such program.
  init(
    _ program: String, store: FilePath, environment: EnvironmentVariables,
    arguments: @escaping @Sendable (NamedTask) -> [String]
  ) throws {
    self.store = store
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
    process.arguments = arguments(named)
    process.environment = environment.intact.merging([
      "TALLY_STORE": store.string,
      "TALLY_TASK_TITLE": Self.variable(named.task.title),
      "TALLY_TASK_NOTES": Self.variable(named.task.notes ?? ""),
      "TALLY_TASK_LIST": Self.variable(named.list?.name ?? ""),
      "TALLY_TASK_ID": named.task.id.text,
      "TALLY_TASK_HANDLE": named.handle,
      "TALLY_TASK_DUE": named.task.dueDay?.iso8601 ?? named.task.dueDate?.iso8601 ?? "",
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

extension ReminderProgram {
  /// The program that shows a notification on the desktop.
  static func notifier(store: FilePath, environment: EnvironmentVariables) throws -> ReminderProgram {
    #if canImport(Darwin)
      // The texts are arguments of the script, not part of it.
      let script = [
        "on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run",
      ].flatMap { ["-e", $0] }
      return try ReminderProgram("osascript", store: store, environment: environment) {
        script + ["--", $0.title, $0.hint]
      }
    #else
      return try ReminderProgram("notify-send", store: store, environment: environment) {
        ["--app-name=Tally", "--", $0.title, $0.hint]
      }
    #endif
  }
}

extension NamedTask {
  /// An argument cannot hold a NUL.
  fileprivate var title: String { task.title.replacing("\0", with: "\u{FFFD}") }
  /// What to type when it is done; some desktops read markup here, so nothing of the user's is in it.
  fileprivate var hint: String { "tally done \(handle)" }
}
