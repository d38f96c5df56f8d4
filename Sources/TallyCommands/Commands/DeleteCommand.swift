import ArgumentParser
import Tally

/// `tally delete TASK…`.
struct DeleteCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete tasks with their sub-tasks.",
    usage: "tally delete <task> ... | --where <filter> [<options>]",
    discussion: """
      Completions of deleted tasks still count.

      \(SharedHelp.whereOption)
      """
  )

  @OptionGroup var selection: TaskSelection

  static var manyWords: WritableKeyPath<Self, [String]>? { \.selection.names }

  var countsWeeks: Bool { selection.countsWeeks }

  func validate(with global: GlobalOptions) throws { try selection.check() }

  func run(in session: Session) throws {
    try session.write { transaction in
      var change = ChangeReport()
      // Named before the first is deleted: handles can get shorter with every deletion.
      for named in try selection.tasks(in: transaction).map({ try transaction.name($0) }) {
        // It may have gone with its parent, which came before.
        guard try transaction.task(named.task.id) != nil else { continue }
        let parts = try transaction.descendants(of: named.task.id)
        let partNames = try transaction.words(for: parts)
        try transaction.delete(named.task.id)
        change.deleted += [named.task.id] + parts.map(\.id)
        let noun = parts.count == 1 ? "sub-task" : "\(parts.count.grouped) sub-tasks"
        let suffix = parts.isEmpty ? "" : " and its \(noun) \(partNames)"
        change.messages.append("Deleted \(named.inWords)\(suffix).")
      }
      return change
    }
  }
}
