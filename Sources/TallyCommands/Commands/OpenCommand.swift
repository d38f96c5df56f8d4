import ArgumentParser
import Tally

/// `tally open URL`.
struct OpenCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Follow a link: add a task, or show one.",
    usage: "tally open <url> [--scheme <scheme>] [<options>]",
    discussion: """
      Links are tally://open-task?id=UUID and tally://create-task?title=TEXT, which may also have list=NAME, day=DAY, \
      due=WHEN, notes=TEXT and, several times, tag=TAG. Texts are percent-encoded; anything else is refused. A bare \
      tally://create-task adds nothing.

      EXAMPLES
        tally open 'tally://create-task?title=Buy%20stamps&list=Errands&due=friday&tag=post'
      """
  )

  @Argument(help: ArgumentHelp("The link.", valueName: "url"))
  var url: String

  @Option(help: ArgumentHelp("The scheme of the link; applications have their own.", valueName: "scheme"))
  var scheme: String = TaskLink.defaultScheme

  func run(in session: Session) throws {
    switch try TaskLink(url, scheme: scheme) {
    case .createTask(let new): try create(new, session)
    case .openTask(let id): try session.showSheet { try $0.task(named: id.text) }
    }
  }

  private func create(_ new: TaskLink.NewTask, _ session: Session) throws {
    guard let title = new.title else {
      let link = "\(scheme)://create-task?title=Buy%20milk"
      return try session.report(
        ChangeReport(messages: ["Nothing was added: the link has no title. Give it one, as in \(link)"]))
    }
    let reference = try session.clock.reference()
    let day = try new.day?.day(against: reference)
    let due = try new.due?.resolved(against: reference)
    try session.write(for: new.list == nil ? .adding : .changing) { transaction in
      let listID = try new.list.map { try transaction.list(named: $0).id }
      let task = try transaction.add(title) { task in
        (task.listID, task.scheduledDate, task.notes, task.tags) = (listID, day, new.notes, new.tags)
        task.setDue(due)
      }
      return try session.added(task, in: transaction)
    }
  }
}
