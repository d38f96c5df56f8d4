import ArgumentParser
import Foundation
import Tally
import TallySync

/// `tally trash`: alone it shows deleted tasks and lists.
struct TrashCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "trash", "Show deleted tasks and lists of a store that synchronises, or restore them.",
    usage: """

      restore <task> ...
      """,
    discussion: "With --plain, a line has these columns: \(DeletedItem.columns.joined(separator: ", ")).",
    subcommands: [RestoreTrashCommand.self])

  func run(in session: Session) throws {
    let items = try session.inSpace { try await $0.trash() }
    let handles = items.handles
    try session.answer("items", zip(items, handles).map { $0.facts(handle: $1) }, columns: DeletedItem.columns) {
      for (item, handle) in zip(items, handles) {
        let when = item.deletedAt.map(session.clock.relativeName) ?? ""
        try session.output.write(
          "  \(session.painter.paint(handle, .handle))  \(item.isList ? "List: " : "")\(item.name.escapedForDisplay())  "
            + session.painter.paint(when, .detail) + "\n")
      }
    }
    if items.isEmpty { session.hint("The trash is empty.") }
  }
}

extension [DeletedItem] {
  /// For each the shortest end of its id, of four digits or more, that no other one has.
  fileprivate var handles: [String] {
    let digits = map { $0.id.text.filter { $0 != "-" } }
    let length = (4...32).first { length in Set(digits.map { $0.suffix(length) }).count == Set(digits).count } ?? 32
    return digits.map { String($0.suffix(length)) }
  }
}

/// `tally trash restore TASK…`.
struct RestoreTrashCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "trash restore", "Restore deleted tasks and lists, on every device.",
    usage: """
      <task> ...
      --since <time>
      """)

  @Argument(help: ArgumentHelp("The handles that 'tally trash' shows, ids or titles.", valueName: "task"))
  var tasks: [String] = []

  @Option(
    help: ArgumentHelp(
      "Restore everything that this device has deleted, or learned to be deleted, since then.", valueName: "time"))
  var since: String?

  static var manyWords: WritableKeyPath<Self, [String]>? { \.tasks }

  func validate() throws {
    if tasks.isEmpty == (since == nil) { throw ValidationError("Name tasks, or a time with --since.") }
  }

  func run(in session: Session) throws {
    let store = try session.openStore(for: .changing)
    let sync = StoreSync(store)
    let items = try session.wait { try await sync.trash() }
    let start = try since.map { try session.clock.instant($0, of: "--since", bareDay: .start, looking: .backward) }
    if let since, let start, start > session.clock.now {
      throw CommandFailure.usage(
        "--since \(since.shellQuoted) is in the future", remedy: "Write a time that has passed, such as 'today 14:00'")
    }
    let found =
      try start.map { start in items.filter { $0.noticedAt.map { $0 >= start } ?? false } }
      ?? tasks.map { try items.item(named: $0) }
    let (_, isUndoable) = try session.runUndoable(in: store) { try await sync.restore(found.map(\.id)) }
    let restored = try store.read { transaction in
      try found.compactMap { try transaction.task($0.id) }.map { try transaction.name($0) }
    }
    try session.answer("restored", restored.map(\.facts), columns: NamedTask.columns) {
      let list = found.first { $0.isList }.map { "the list \($0.name.quotedForMessage)" }
      let only = found.count == 1 ? restored.first?.inWords ?? list : nil
      session.say("Restored \(only ?? found.count.counted("item")).")
      if isUndoable { session.say(session.offer(.undo)) }
    }
  }
}

extension [DeletedItem] {
  /// The item with a title, or the end of an id.
  fileprivate func item(named name: String) throws -> DeletedItem {
    let byID = HandleTail(name).map { tail in filter { tail.fits($0.id) } } ?? []
    let matches = byID.isEmpty ? filter { $0.name == name } : byID
    guard let item = matches.first else {
      throw CommandFailure(
        .notFound, code: "taskNotFound", "Nothing in the trash matches \(name.quotedForMessage)",
        remedy: "List deleted tasks and lists with 'tally trash'")
    }
    guard matches.count == 1 else {
      throw CommandFailure(
        .notFound, code: "ambiguousHandle", "\(matches.count) deleted items match \(name.quotedForMessage)",
        remedy: "Name one by a longer handle")
    }
    return item
  }
}
