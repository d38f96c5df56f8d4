import ArgumentParser
import Tally

/// `tally reopen TASK…`.
struct ReopenCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "reopen",
    abstract: "Mark tasks as not started, from any state.",
    usage: "tally reopen <task> ... | --where <filter> [<options>]",
    discussion: SharedHelp.whereOption
  )

  @OptionGroup var selection: TaskSelection

  static var manyWords: WritableKeyPath<Self, [String]>? { \.selection.names }

  var countsWeeks: Bool { selection.countsWeeks }

  func validate(with global: GlobalOptions) throws { try selection.check() }

  func run(in session: Session) throws {
    try session.changeTasks(selection, "Reopened") { task, transaction in try transaction.reopen(task.id) }
  }
}

extension ReopenCommand: PlainOptions {
  mutating func take(from arguments: inout PlainArguments) {
    selection = .taken(from: &arguments)
  }
}
