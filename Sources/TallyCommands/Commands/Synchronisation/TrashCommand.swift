import ArgumentParser
import Foundation
import Tally
import TallySync

/// `tally trash`: alone it shows deleted tasks and lists.
struct TrashCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "trash",
    abstract: "Show deleted tasks and lists of a store that synchronises, or restore them.",
    usage: """
      tally trash [<options>]
      tally trash restore <task> ... [<options>]
      """,
    discussion: "With --plain, a line has these columns: \(DeletedItem.columns.joined(separator: ", ")).",
    subcommands: withGlobalOptions([RestoreTrashCommand.self])
  )

  func run(in session: Session) throws {
    let sync = StoreSync(try session.openStore(for: .changing))
    let items = try session.wait { try await sync.trash() }
    let handles = items.handles
    try session.answer(
      ["items": .array(zip(items, handles).map { $0.facts(handle: $1) })],
      plain: .records([("items", DeletedItem.columns)])
    ) {
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
    let digits = map { $0.id.uuidString.lowercased().filter { $0 != "-" } }
    let length = (4...32).first { length in Set(digits.map { $0.suffix(length) }).count == Set(digits).count } ?? 32
    return digits.map { String($0.suffix(length)) }
  }
}
