import ArgumentParser
import Tally

/// `tally lists add NAME`.
struct AddListCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Create a list.",
    usage: "tally lists add <name> [--color <rrggbb>] [--force] [<options>]",
    discussion: "These names are reserved: \(TaskList.reservedNamesInWords)."
  )

  static let takesText = true

  @Argument(help: ArgumentHelp("The list's name.", valueName: "name"))
  var name: String

  @Option(help: ArgumentHelp("Its colour, six hexadecimal digits.", valueName: "rrggbb"))
  var color: String = TaskList.defaultColorHex

  @Flag(help: "Create it even if another list has this name.")
  var force = false

  func run(in session: Session) throws {
    try TaskList.checkNotReserved(name)
    try session.write(for: .adding) { transaction in
      let others = try transaction.lists().map(\.name).filter { $0.lowercased() == name.lowercased() }
      try TaskList.check(name, isNotAmong: others, unless: force)
      let list = try transaction.addList(name: name, colorHex: color.withoutNumberSign)
      var change = ChangeReport(lists: [list], messages: ["Created list \(name.quotedForMessage)."])
      if others.contains(name) {
        change.messages.append("Another list has the same name; from now on, use their ids.")
      } else if let other = others.first {
        change.messages.append("There is also a list \(other.quotedForMessage); type each name exactly.")
      }
      return change
    }
  }
}

extension String {
  /// A colour as the library takes it; people also write `#FF9500`.
  var withoutNumberSign: String { hasPrefix("#") ? String(dropFirst()) : self }
}
