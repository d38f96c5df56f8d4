import ArgumentParser
import Foundation
import SystemPackage
import Tally
import TallySystem

/// `tally remind`.
struct RemindCommand: SessionCommand {
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

  static let takesText = true

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
