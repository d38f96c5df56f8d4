import ArgumentParser
import Tally

/// The options for everything about a task except its title, which `add`, `log` and `edit` share.
struct FieldOptions: ParsableArguments {
  @Flag(help: "Schedule it for today.")
  var today = false

  @Flag(help: "Schedule it for tomorrow.")
  var tomorrow = false

  @Option(help: ArgumentHelp("Schedule it for this day, or none.", valueName: "day"))
  var on: String?

  @Option(help: ArgumentHelp("Put it in this list, by name or id, or in none.", valueName: "name"))
  var list: String?

  @Option(help: ArgumentHelp("When it is due, or none. \(SharedHelp.due)", valueName: "when"))
  var due: String?

  @Option(help: ArgumentHelp("When to send a reminder, or none. \(SharedHelp.remind)", valueName: "when"))
  var remind: String?

  @Option(parsing: .unconditional, help: ArgumentHelp("Notes; none for no notes.", valueName: "text"))
  var notes: String?

  @Option(
    name: .customLong("tag"),
    help: ArgumentHelp("A tag; may be given several times, 'none' removes all tags.", valueName: "tag"))
  var tags: [String] = []

  @Option(help: ArgumentHelp("low, medium, high or none.", valueName: "priority"))
  var priority: String?

  @Option(help: ArgumentHelp("The task that it is a part of, or none.", valueName: "task"))
  var parent: String?

  @Option(name: .customLong("repeat"), help: ArgumentHelp(SharedHelp.repeats, valueName: "rule"))
  var recurrence: String?

  @Option(
    name: .customLong("set"),
    help: ArgumentHelp("A field of your own; may be given several times, 'none' removes it.", valueName: "name=value"))
  var attributes: [String] = []
}

extension FieldOptions: PlainOptions {
  /// Takes the options from plain arguments.
  mutating func take(from arguments: inout PlainArguments) {
    today = arguments.takeFlag("--today")
    tomorrow = arguments.takeFlag("--tomorrow")
    on = arguments.takeValue(of: "--on")
    list = arguments.takeValue(of: "--list")
    due = arguments.takeValue(of: "--due")
    remind = arguments.takeValue(of: "--remind")
    notes = arguments.takeValue(of: "--notes")
    tags = arguments.takeValues(of: "--tag")
    priority = arguments.takeValue(of: "--priority")
    parent = arguments.takeValue(of: "--parent")
    recurrence = arguments.takeValue(of: "--repeat")
    attributes = arguments.takeValues(of: "--set")
  }

  /// Refuses options that contradict each other.
  func check() throws {
    if [today, tomorrow, on != nil].count(where: \.self) > 1 {
      throw ValidationError("Give only one of --today, --tomorrow and --on.")
    }
  }

  /// Whether no option is given.
  var isEmpty: Bool {
    !today && !tomorrow && tags.isEmpty && attributes.isEmpty
      && [on, list, due, remind, notes, priority, parent, recurrence].allSatisfy { $0 == nil }
  }
}

extension String {
  /// Whether the value of an option says that there is to be none.
  var isNone: Bool { lowercased() == "none" }
}
