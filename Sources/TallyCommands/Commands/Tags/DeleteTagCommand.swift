import ArgumentParser
import Tally

/// `tally tags delete A`.
struct DeleteTagCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Remove a tag from every task; the tasks stay.",
    usage: "tally tags delete <tag> [<options>]",
    discussion: "Completions already recorded keep the tag in statistics."
  )

  static let takesText = true

  @Argument(help: ArgumentHelp("The tag.", valueName: "tag"))
  var tag: String

  func run(in session: Session) throws {
    try session.write { transaction in
      let use = try transaction.tag(named: tag)
      let changed = try transaction.deleteTag(use.tag)
      return ChangeReport(
        changed: try changed.map { try transaction.name($0) },
        messages: ["Removed #\(use.tag.escapedForDisplay()) from \(changed.count.counted("task"))."])
    }
  }
}
