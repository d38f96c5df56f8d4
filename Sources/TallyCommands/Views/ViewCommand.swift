import ArgumentParser
import Foundation
import SystemPackage
import Tally

/// A view that takes no argument, as the command of its name.
struct ViewCommand<Kind: ViewKind>: SessionCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: Kind.view.name, abstract: Kind.abstract,
      usage: "tally \(Kind.view.name) [--open] [--tree] [--waiting] [--limit <n>] [<options>]",
      discussion: [Kind.discussion, SharedHelp.taskRecord].compactMap(\.self).joined(separator: "\n\n"))
  }

  @OptionGroup var options: ViewOptions

  func run(in session: Session) throws {
    try session.show { _ in
      options.applied(
        to: ViewDescription(
          view: Kind.view, title: Kind.title(session.clock), emptyHint: Kind.emptyHint, isPlace: true,
          hiding: Kind.sharedDetails))
    }
  }
}

/// A view as a command.
protocol ViewKind {
  static var view: TaskView { get }
  static var abstract: String { get }
  /// The rule of the view, where the first line of its help does not say all; `nil` for none.
  static var discussion: String? { get }
  /// The purpose of the view and how to fill it, printed if it is empty.
  static var emptyHint: String { get }
  /// The details that all tasks of the view share, or that are printed above the tasks.
  static var sharedDetails: Set<TaskRows.Detail> { get }
  /// The line above the tasks.
  static func title(_ clock: LocalClock) -> String
}

extension ViewKind {
  static var discussion: String? { nil }
  static var sharedDetails: Set<TaskRows.Detail> { [] }
  static func title(_ clock: LocalClock) -> String { view.name.prefix(1).uppercased() + view.name.dropFirst() }
}

/// The views, in the order of the help; a new one is a type below and a line here.
enum ViewCommands {
  static let all: [LazyCommand] = [
    { ViewCommand<TodayView>.self }, { ViewCommand<InboxView>.self }, { ViewCommand<UpcomingView>.self },
    { ViewCommand<PastView>.self }, { ViewCommand<OverdueView>.self }, { ViewCommand<ActiveView>.self },
    { NextCommand.self }, { ViewCommand<AllView>.self }, { ViewCommand<WaitingView>.self },
  ]
}

enum TodayView: ViewKind {
  static var view: TaskView { .today }
  static let abstract = "Show the tasks planned for today or due today, including completed ones."
  static let emptyHint = """
    Nothing is planned for today or due today. Add a task: tally add Buy milk --today; or move one here: tally move HANDLE --to today
    """
  static let sharedDetails: Set<TaskRows.Detail> = [.today]
  static func title(_ clock: LocalClock) -> String { clock.heading(of: clock.today) }
}

enum InboxView: ViewKind {
  static var view: TaskView { .inbox }
  static let abstract = "Show the tasks with no list and no day."
  static let emptyHint = "The inbox is empty. It holds tasks with no list and no day; add one: tally add Buy milk"
}

enum UpcomingView: ViewKind {
  static var view: TaskView { .upcoming }
  static let abstract = "Show the tasks planned after today, by day."
  static let emptyHint = "Nothing is planned after today. Plan a task: tally add Call the bank --on friday"
  static let sharedDetails: Set<TaskRows.Detail> = [.scheduledDay]
}

enum PastView: ViewKind {
  static var view: TaskView { .past }
  static let abstract = "Show open tasks planned for earlier days, newest day first."
  static let emptyHint = """
    Nothing is left from earlier days. This view shows open tasks planned for earlier days; move one to today: \
    tally move HANDLE --to today
    """
  static let sharedDetails: Set<TaskRows.Detail> = [.scheduledDay]
}

enum OverdueView: ViewKind {
  static var view: TaskView { .overdue }
  static let abstract = "Show open tasks that are past their due time, oldest first."
  static let emptyHint = """
    Nothing is overdue. This view shows open tasks past their due time; set one: \
    tally edit HANDLE --due 'friday 17:00'
    """
}

enum ActiveView: ViewKind {
  static var view: TaskView { .active }
  static let abstract = "Show the tasks in progress."
  static let emptyHint = "Nothing is in progress. Start a task: tally start HANDLE"
}

/// `tally next`.
struct NextCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "next", NextView.abstract, usage: "[--open] [--tree] [--blocked] [--waiting] [--limit <n>]",
    discussion: NextView.discussion.map { $0 + "\n\n" + SharedHelp.taskRecord } ?? SharedHelp.taskRecord)

  @OptionGroup var options: ViewOptions

  @Flag(help: "Show blocked tasks, too, after all others.")
  var blocked = false

  func run(in session: Session) throws {
    try session.show { _ in
      options.applied(
        to: ViewDescription(
          view: blocked ? TaskQuery(.is(.open), by: .next).view : NextView.view, title: NextView.title(session.clock),
          emptyHint: NextView.emptyHint, isPlace: true, hiding: NextView.sharedDetails))
    }
  }
}

enum NextView: ViewKind {
  static var view: TaskView { .next }
  static let abstract = "Show open tasks in the order in which to do them."
  static let emptyHint = """
    Nothing is open. This view shows all open tasks, those first that are in progress, late or for today; add a task: \
    tally add Buy milk
    """
  static let discussion: String? = """
    Tasks in progress come first, then overdue ones, then those due today or planned for today, then all others that can be \
    done now, and last those planned for a later day. Among equals the earlier due day comes first, then the higher \
    priority.

    Each of these is a weight, and a task counts by the greatest weight of all that it is. 'tally config next.left 30' puts \
    what is left from earlier days beside today's tasks, 'tally config next.priority 9' the priority before the due day. \
    'tally config' lists the weights.

    A task that waits for another open one (tally edit HANDLE --after HANDLE) is not among them until that is done.
    """
}

enum AllView: ViewKind {
  static var view: TaskView { .all }
  static let abstract = "Show all tasks, in order of creation."
  static let emptyHint = "There are no tasks yet. Add one: tally add Buy milk"
  static func title(_ clock: LocalClock) -> String { "All tasks" }
}

enum WaitingView: ViewKind {
  static var view: TaskView { .waiting }
  static let abstract = "Show the open tasks that wait for their start, by day; last those for someday."
  static let emptyHint = """
    No task waits. Until its start day a task is in no view of what to do; give it one: \
    tally edit HANDLE --wait friday
    """
}

/// `tally web`.
struct WebCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "web", "Show the tasks in a browser on this machine.", usage: "[--port <port>] [--open]",
    discussion: """
      Prints an address that lets a browser in, and serves until Control-C or SIGTERM. The address has a random token, \
      and leads to this machine only. The program tally-web does the work.

      EXAMPLES
        tally web --open
      """)

  @Option(help: ArgumentHelp("The port; 0 for any free one.", valueName: "port"))
  var port: UInt16?

  @Flag(help: "Open the address in a browser.")
  var open = false

  var countsWeeks: Bool { true }

  func run(in session: Session) throws {
    var arguments = ["--store", session.storePath.string, "--time-zone", session.clock.timeZone.identifier]
    arguments += ["--week-start", "\(try session.clock.firstWeekday())"]
    arguments += ["--day-start", "\(session.clock.dayStartInMinutes)"]
    arguments += ["--next-weights", session.settings.nextWeights.text]
    if let port { arguments += ["--port", "\(port)"] }
    if open { arguments.append("--open") }
    throw NeedsCompanion(program: .web, arguments: arguments)
  }
}
