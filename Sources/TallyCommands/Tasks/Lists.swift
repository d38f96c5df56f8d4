import ArgumentParser
import Foundation
import Tally

/// `tally lists`: alone it shows the lists.
struct ListsCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "lists", "Show the lists, or add, rename, recolour, reorder, merge and delete them.",
    discussion: """
      With --plain, a line has these columns: \(columns.joined(separator: ", ")).

      EXAMPLES
        tally lists add Work --color FF9500
        tally lists move Work --before Home
      """,
    subcommands: [
      AddListCommand.self, RenameListCommand.self, ColorListCommand.self, MoveListCommand.self, MergeListsCommand.self,
      DeleteListCommand.self,
    ])

  private static let columns = TaskList.columns + ["open"]

  func run(in session: Session) throws {
    let lists = try session.read { transaction in
      try transaction.lists().map { ($0, openCount: try transaction.count(.list($0.id) && .is(.open))) }
    }
    try session.answer("lists", lists.map { $0.facts.adding(["open": .count($1)]) }, columns: Self.columns) {
      try session.output.write(Self.text(of: lists.map(\.0), lists.map(\.openCount), session))
    }
    if lists.isEmpty { session.hint("There are no lists yet. Lists group tasks; create one: tally lists add Work") }
  }

  private static func text(of lists: [TaskList], _ openCounts: [Int], _ session: Session) -> String {
    let details = zip(lists, openCounts.map(\.grouped).numberColumn).map { "  \($0.colorHex)  \($1) open" }
    let room = max(8, (session.width ?? .max) - 4 - (details.first?.count ?? 0))
    let names = lists.map { $0.name.escapedForDisplay() }.column(ofWidthAtMost: room)
    return lists.indices.map { index in
      "  \(session.painter.paint("▪", colorHex: lists[index].colorHex)) \(names[index])"
        + session.painter.paint(details[index], .detail) + "\n"
    }.joined()
  }
}

/// `tally list NAME`.
struct ListCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "list", "Show the tasks of a list, or the lists.", usage: "[<name>] [--open] [--tree] [--waiting] [--limit <n>]",
    discussion: "Without a name, shows the lists, as 'tally lists' does.\n\n\(SharedHelp.taskRecord)")

  @Argument(help: SharedHelp.list)
  var name: String?

  @OptionGroup var options: ViewOptions

  func run(in session: Session) throws {
    guard let name else { return try ListsCommand().run(in: session) }
    try session.show { transaction in
      let list = try transaction.list(named: name)
      return options.applied(
        to: ViewDescription(
          view: .list(list.id),
          title: list.name.escapedForDisplay(),
          emptyHint: "The list \(list.name.quotedForMessage) is empty. "
            + "Add a task to it: \(session.line(running: "add Buy milk --list \(list.name.shellQuoted)"))",
          list: list,
          filter: .list(list.id),
          isPlace: true,
          hiding: [.list]
        ))
    }
  }
}

/// `tally lists add NAME`.
struct AddListCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "lists add", "Create a list.", usage: "<name> [--color <rrggbb>] [--force]",
    discussion: "These names are reserved: \(TaskList.reservedNamesInWords).")

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

/// `tally lists rename NAME NEW`.
struct RenameListCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "lists rename", "Rename a list.", usage: "<name> <new> [--force]")

  @Argument(help: SharedHelp.list)
  var name: String

  @Argument(help: ArgumentHelp("The new name.", valueName: "new"))
  var newName: String

  @Flag(help: "Rename it even if another list has this name.")
  var force = false

  func run(in session: Session) throws {
    try TaskList.checkNotReserved(newName)
    try session.changeList(name) { before, transaction in
      let others = try transaction.lists().filter { $0.id != before.id }.map(\.name)
      try TaskList.check(newName, isNotAmong: others, unless: force || newName == before.name)
      let after = try transaction.renameList(before.id, to: newName)
      return (after, "Renamed list \(before.name.quotedForMessage) to \(after.name.quotedForMessage).")
    }
  }
}

/// `tally lists color NAME RRGGBB`.
struct ColorListCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "lists color", "Change the colour of a list.", usage: "<name> <rrggbb>")

  @Argument(help: SharedHelp.list)
  var name: String

  @Argument(help: ArgumentHelp("Six hexadecimal digits.", valueName: "rrggbb"))
  var color: String

  func run(in session: Session) throws {
    try session.changeList(name) { before, transaction in
      let after = try transaction.recolorList(before.id, to: color.withoutNumberSign)
      return (after, "Set the colour of list \(after.name.quotedForMessage) to \(after.colorHex).")
    }
  }
}

/// `tally lists move NAME`.
struct MoveListCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "lists move", "Move a list before or after another list.", usage: "<name> --before <name> | --after <name>")

  @Argument(help: SharedHelp.list)
  var name: String

  @Option(help: ArgumentHelp("Put it before this list.", valueName: "name"))
  var before: String?

  @Option(help: ArgumentHelp("Put it after this list.", valueName: "name"))
  var after: String?

  func validate(with global: GlobalOptions) throws {
    if (before == nil) == (after == nil) { throw ValidationError("Give either --before or --after.") }
  }

  func run(in session: Session) throws {
    try session.changeList(name) { list, transaction in
      let anchor = try transaction.list(named: before ?? after ?? "")
      guard list.id != anchor.id else {
        throw CommandFailure.usage("A list cannot be moved next to itself", remedy: "Name two lists")
      }
      let (moved, side) =
        before != nil
        ? (try transaction.moveList(list.id, before: anchor.id), "before")
        : (try transaction.moveList(list.id, after: anchor.id), "after")
      return (moved, "Moved list \(list.name.quotedForMessage) \(side) \(anchor.name.quotedForMessage).")
    }
  }
}

/// `tally lists delete NAME`.
struct DeleteListCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "lists delete", "Delete a list; with --force, also one that holds tasks, together with them.",
    usage: "<name> [--force]")

  @Argument(help: SharedHelp.list)
  var name: String

  @Flag(help: "Delete the list's tasks, too.")
  var force = false

  func run(in session: Session) throws {
    try session.write { transaction in
      let list = try transaction.list(named: name)
      var change = ChangeReport()
      transaction.showsWaiting = true
      try transaction.forEachTask(in: .list(list.id)) { task, _ in
        change.deleted.append(task.id)
        return true
      }
      guard change.deleted.isEmpty || force else {
        throw CommandFailure.usage(
          "List \(name.quotedForMessage) holds \(change.deleted.count.counted("task"))", code: "listNotEmpty",
          remedy: "Add --force to delete them, too; run 'tally export' first to keep a copy")
      }
      let taskCount = try transaction.deleteList(list.id)
      change.deleted.append(list.id)
      let tasks = taskCount == 0 ? "" : " and its \(taskCount.counted("task"))"
      change.messages = ["Deleted list \(list.name.quotedForMessage)\(tasks)."]
      return change
    }
  }
}

/// `tally lists merge NAME INTO`.
struct MergeListsCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "lists merge", "Move the tasks of a list into another one, and delete the emptied list.", usage: "<name> <into>",
    discussion: """
      The tasks keep their order and follow those of the other list. One undo reverses the merge. If two devices have \
      created lists with the same name, give the name twice: all of them are merged into the oldest one.

      EXAMPLES
        tally lists merge Food Groceries
        tally lists merge Groceries Groceries
      """)

  @Argument(help: ArgumentHelp("The list that is emptied: its name, its id or the end of that.", valueName: "name"))
  var name: String

  @Argument(help: ArgumentHelp("The list that takes its tasks.", valueName: "name"))
  var target: String

  func run(in session: Session) throws {
    try session.write { transaction in
      let (merged, target) = try lists(in: transaction)
      var change = ChangeReport(lists: [target])
      var taskIDs: [UUID] = []
      transaction.showsWaiting = true
      for list in merged {
        try transaction.forEachTask(in: .list(list.id)) { task, _ in
          taskIDs.append(task.id)
          return true
        }
        try transaction.mergeList(list.id, into: target.id)
        change.deleted.append(list.id)
      }
      change.changed = try taskIDs.compactMap { try transaction.task($0) }.map { try transaction.name($0) }
      let lists =
        merged.count == 1
        ? "list \(merged[0].name.quotedForMessage)" : "\(merged.count) lists \(name.quotedForMessage)"
      change.messages = [
        "Merged \(lists) into \(target.name.quotedForMessage): moved \(taskIDs.count.counted("task"))."
      ]
      return change
    }
  }

  /// The lists that are emptied, and the one that takes their tasks.
  private func lists(in transaction: borrowing StoreWriteTransaction) throws -> ([TaskList], TaskList) {
    let same = name == target ? try transaction.lists().namesakes(of: name) : []
    if let oldest = same.first { return (Array(same.dropFirst()), oldest) }
    let (merged, into) = (try transaction.list(named: name), try transaction.list(named: target))
    guard merged.id != into.id else {
      throw CommandFailure.usage("A list cannot be merged with itself", remedy: "Name two lists")
    }
    return ([merged], into)
  }
}

extension TaskList {
  /// The words that commands read as places or views where a list's name is expected.
  static let reservedNames = [
    "inbox", "none", "agenda", "today", "tomorrow", "upcoming", "past", "overdue", "due", "active", "next", "completed",
    "all", "waiting",
  ]

  /// The reserved names in a sentence.
  static let reservedNamesInWords = reservedNames.dropLast().joined(separator: ", ") + " and waiting"

  /// Refuses a name that commands read as a place or a view.
  ///
  /// - Throws: ``CommandFailure``.
  static func checkNotReserved(_ name: String) throws {
    guard reservedNames.contains(name.lowercased()) else { return }
    throw CommandFailure.usage(
      "\(name.quotedForMessage) cannot be the name of a list", code: "reservedName",
      remedy: "Choose another one; these words name views and places: \(reservedNames.joined(separator: ", "))")
  }

  /// Refuses a second list of a name, in any case, unless that is wanted: from then on names must be exact, or ids.
  ///
  /// - Throws: ``CommandFailure``.
  static func check(_ name: String, isNotAmong others: [String], unless isForced: Bool) throws {
    let isExact = others.contains(name)
    guard !isForced, let other = isExact ? name : others.first(where: { $0.lowercased() == name.lowercased() }) else {
      return
    }
    let consequence = isExact ? "can then be named only by their ids" : "must then be typed exactly"
    throw CommandFailure.usage(
      "There is already a list \(other.quotedForMessage)", code: "listExists",
      remedy: "Choose another name, or add --force; the two \(consequence)")
  }
}
