import ArgumentParser
import Tally

/// `tally start TASK…`.
struct StartCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "start",
    abstract: "Mark tasks as in progress.",
    usage: "tally start <task> ... | --where <filter> [<options>]",
    discussion: SharedHelp.whereOption
  )

  @OptionGroup var selection: TaskSelection

  static var manyWords: WritableKeyPath<Self, [String]>? { \.selection.names }

  var countsWeeks: Bool { selection.countsWeeks }

  func validate(with global: GlobalOptions) throws { try selection.check() }

  func run(in session: Session) throws {
    try session.changeTasks(selection, openOnly: true, "Started") { task, transaction in
      try transaction.start(task.id)
    }
  }
}

extension StartCommand: PlainOptions {
  mutating func take(from arguments: inout PlainArguments) {
    selection = .taken(from: &arguments)
  }
}
