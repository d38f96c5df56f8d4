import ArgumentParser
import Foundation
import SystemPackage
import Tally
import TallySystem

/// `tally remind`.
struct RemindCommand: TextCommand {
  static let configuration = CommandConfiguration(
    commandName: "remind",
    abstract: "Wait, and notify or run a program for each reminder as it falls due.",
    usage: """
      tally remind --notify [--once] [--journal <file>] [<options>]
      tally remind --exec <program> [--once] [--journal <file>] [<options>] [-- <argument> ...]
      tally remind --service [--exec <program>] [--journal <file>] [<options>] [-- <argument> ...]
      """,
    discussion: """
      The program is started directly, not by a shell, with the arguments after '--'. It finds the task in its \
      environment: TALLY_STORE, TALLY_TASK_ID, TALLY_TASK_HANDLE, TALLY_TASK_TITLE, TALLY_TASK_NOTES, TALLY_TASK_LIST, \
      TALLY_TASK_DUE and TALLY_REMINDER_DATE. One that fails is run again after 30 seconds, one minute and two minutes, \
      and then reported as missed.

      The first run ignores reminders from before it started. A journal records what was run: reminders that fell due \
      while nothing ran are run at the next start, and one whose program was running when this one was killed is \
      reported as missed, since its outcome is unknown. The journal is in $XDG_STATE_HOME/tally or \
      ~/.local/state/tally unless --journal names another file.

      --service prints a unit for systemd, or a property list for launchd, which starts this command when you log in.

      With --plain, a line has these columns: what happened (ran, failed or missed), reminderDate, id, the program's \
      exit status, title.

      EXAMPLES
        tally remind --notify
        tally remind --exec ./notify.sh
        tally remind --service > ~/.config/systemd/user/tally-remind.service
      """
  )

  @Option(help: ArgumentHelp("The program, by path or by its name in PATH.", valueName: "program"))
  var exec: String?

  @Flag(help: "Show a notification on the desktop.")
  var notify = false

  @Flag(help: "Print what starts this command when you log in, and do nothing else.")
  var service = false

  @Flag(help: "Run the reminders that are due, then exit: for a scheduler that starts it every minute.")
  var once = false

  @Option(help: ArgumentHelp("The journal file.", valueName: "file"))
  var journal: String?

  @Argument(help: ArgumentHelp("Arguments of the program.", valueName: "argument"))
  var arguments: [String] = []

  static var manyWords: WritableKeyPath<Self, [String]>? { \.arguments }

  func validate() throws {
    if exec != nil, notify { throw ValidationError("Give only one of --exec and --notify.") }
    if service, once { throw ValidationError("Give only one of --service and --once.") }
    if exec == nil, !notify, !service { throw ValidationError("Give --notify, or a program with --exec.") }
  }

  func run(in session: Session) throws {
    if service {
      let service = BackgroundService(reminding: exec, arguments: arguments, journal: journal, session)
      return try session.output.write(service.text)
    }
    let store = try session.openStore(for: .copying)
    let environment = session.invocation.environment
    let program =
      if let exec {
        try ReminderProgram(exec, store: store.directory, environment: environment) { [arguments] _ in arguments }
      } else {
        try ReminderProgram.notifier(store: store.directory, environment: environment)
      }
    let path = try journal.map { FilePath($0) } ?? Self.defaultJournal(of: store, session)
    let journal = try ReminderJournal(at: path, ofStoreAt: store.directory, now: session.clock.now)
    try Signals.deferringInterruption {
      try ReminderLoop(session: session, store: store, journal: journal, program: program).run(once: once)
    }
  }

  /// One file per store, by its id, which stays the same when the store is moved.
  private static func defaultJournal(of store: TaskStore, _ session: Session) throws -> FilePath {
    let environment = session.invocation.environment
    guard let own = try environment.ownDirectory(in: "XDG_STATE_HOME", belowHome: ".local/state") else {
      throw CommandFailure.usage("There is no home directory for the journal", remedy: "Name a file with --journal")
    }
    let journal = own.appending("remind-\(try store.information().storeID.text).journal")
    try CommandFailure.replacing({ _ in CommandFailure(openingJournal: journal, "Its directory cannot be created") }) {
      try SystemCalls.createDirectories(upTo: own, permissions: .ownerReadWriteExecute)
    }
    return journal
  }
}

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
    // The path is used as written: one that ends in a slash names a directory.
    let path = program.contains("/") ? program : try environment.program(named: program)?.string
    guard let path, FileManager.default.isExecutableFile(atPath: path) else {
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
  /// The command that completes the task; it holds no text of the user, because some desktops interpret markup here.
  fileprivate var hint: String { "tally done \(handle)" }
}
