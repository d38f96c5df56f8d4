import ArgumentParser
import Tally

/// `tally due [DAY]`.
struct DueCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "due",
    abstract: "Show the tasks that are due on a day, including completed ones.",
    usage: "tally due [<day>] [--open] [--tree] [--limit <n>] [<options>]",
    discussion: """
      \(SharedHelp.day) Without one it is today.

      \(SharedHelp.taskRecord)

      EXAMPLES
        tally due
        tally due next monday
      """
  )

  @Argument(help: ArgumentHelp("The day; today without one.", valueName: "day"))
  var words: [String] = []

  @OptionGroup
  var options: ViewOptions

  static var manyWords: WritableKeyPath<Self, [String]>? { \.words }

  func run(in session: Session) throws {
    let clock = session.clock
    let day = words.isEmpty ? clock.today : try clock.day(words.joined(separator: " "), of: "<day>")
    try session.show { _ in
      options.applied(
        to: ViewDescription(
          view: .due(on: day), title: "Due \(clock.relativeName(of: day))",
          emptyHint:
            "Nothing is due \(clock.relativeName(of: day)). Set a due time: tally edit HANDLE --due 'friday 17:00'",
          isPlace: true))
    }
  }
}
