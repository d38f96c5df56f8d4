import ArgumentParser
import Foundation
import SystemPackage
import Tally
import TallySystem

/// `tally remind`.
struct RemindCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "remind",
    abstract: "Wait, and run a program for each reminder as it falls due.",
    usage: "tally remind --exec <program> [--once] [--journal <file>] [<options>] [-- <argument> ...]",
    discussion: """
      The program is started directly, not by a shell, with the arguments after '--'. It finds the task in its \
      environment: TALLY_TASK_TITLE, TALLY_TASK_NOTES, TALLY_TASK_LIST, TALLY_TASK_ID, TALLY_TASK_HANDLE and \
      TALLY_REMINDER_DATE.

      The first run ignores reminders from before it started. A journal records what was run: reminders that fell due \
      while nothing ran are run at the next start, and one whose program was running when this one was killed is \
      reported as missed, since its outcome is unknown. The journal is in $XDG_STATE_HOME/tally or \
      ~/.local/state/tally unless --journal names another file.

      With --plain, a line has these columns: what happened (ran, missed or failed), reminderDate, id, the program's \
      exit status, title.

      EXAMPLES
        tally remind --exec notify-send -- --app-name=Tally 'A task is due'
        tally remind --exec ./notify.sh
      """
  )

  static let takesText = true

  @Option(help: ArgumentHelp("The program, by path or by its name in PATH.", valueName: "program"))
  var exec: String

  @Flag(help: "Run what is due, then exit: for a scheduler that starts it every minute.")
  var once = false

  @Option(help: ArgumentHelp("The journal file.", valueName: "file"))
  var journal: String?

  @Argument(help: ArgumentHelp("Arguments of the program.", valueName: "argument"))
  var arguments: [String] = []

  func run(in session: Session) throws {
    let program = try ReminderProgram(exec, arguments: arguments, environment: session.invocation.environment)
    let store = try session.openStore(for: .copying)
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
