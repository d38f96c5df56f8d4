import ArgumentParser
import Foundation
import Tally

/// `tally history [TASK]`.
struct HistoryCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Show what changed, when, by which command and on which device.",
    usage: "tally history [<task>] [--limit <n>] [<options>]",
    discussion: """
      Shows the last changes to the store, newest first, or those to one task, which may be deleted. About a thousand \
      are kept. 'tally undo CHANGE' undoes one of them by its number.

      With --plain, a line has these columns: \(HistoryReport.columns.joined(separator: ", ")).
      """
  )

  private static let shownCount = 20
  private static let shownSentenceCount = 5

  @Argument(help: ArgumentHelp("The task, if not all.", valueName: "task"))
  var task: String?

  @OptionGroup
  var limited: LimitOption

  func run(in session: Session) throws {
    let isHuman = session.options.format == .human
    let limit = limited.limit ?? (isHuman ? Self.shownCount : .max - 1)
    var hasMore = false
    let report = try session.readChanges { transaction, devices in
      let id = try task.map { try transaction.taskID(inHistoryNamed: $0) }
      let changes = try transaction.history(of: id, limit: limit + 1)
      hasMore = changes.count > limit
      let words = ChangeWords(clock: session.clock)
      return HistoryReport(
        changes: try changes.prefix(limit).map {
          try transaction.name($0, with: words, limit: isHuman ? Self.shownSentenceCount : 0, by: devices)
        })
    }
    let facts: Facts = [
      "asOf": .instant(session.clock.now), "changes": .array(report.changes.map(\.facts)),
    ]
    try session.answer(facts, plain: .records([("changes", HistoryReport.columns)])) {
      try session.output.write(report.text(in: session))
    }
    if report.changes.isEmpty {
      session.hint(
        task == nil
          ? "There are no changes yet. Add a task: tally add Buy milk"
          : "The history has no change to this task any more; see the others: tally history")
    }
    if hasMore, isHuman { session.note("There are older ones; --limit shows them.") }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The id of a task that exists or whose deletion the history keeps.
  fileprivate func taskID(inHistoryNamed name: String) throws -> UUID {
    do {
      return try task(named: name).id
    } catch let failure as CommandFailure where failure.code == "taskNotFound" {
      guard let tail = HandleTail(name) else { throw failure }
      var found: [UUID: TaskItem] = [:]
      for task in try history().flatMap({ $0.tasks.compactMap(\.task) }) where tail.fits(task.id) {
        found[task.id] = found[task.id] ?? task
      }
      guard found.count < 2 else {
        // Their handles could be the same: those differ only from tasks that exist.
        let tasks = found.values.sorted { $0.id.text < $1.id.text }
          .map { NamedTask(task: $0, handle: $0.id.text, list: nil) }
        throw CommandFailure(ambiguousHandle: name, among: tasks)
      }
      guard let id = found.keys.first else { throw failure }
      return id
    }
  }
}
