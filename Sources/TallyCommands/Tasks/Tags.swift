import ArgumentParser
import Tally

/// `tally tags`: alone it shows the tags.
struct TagsCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "tags", "Show the tags that tasks have, or rename and delete them.",
    discussion: """
      With --plain, a line has these columns: \(TagUse.columns.joined(separator: ", ")).

      EXAMPLES
        tally tags rename house home
        tally find +home is:open
      """,
    subcommands: [RenameTagCommand.self, DeleteTagCommand.self])

  func run(in session: Session) throws {
    let tags = try session.read { try $0.tags() }
    try session.answer("tags", tags.map(\.facts), columns: TagUse.columns) {
      let open = tags.map(\.openCount.grouped).numberColumn
      let completed = tags.map(\.completedCount.grouped).numberColumn
      let counts = zip(open, completed).map { "\($0) open, \($1) completed" }
      let room = max(8, (session.width ?? .max) - (counts.first?.count ?? 0) - 5)
      let names = tags.map { $0.tag.escapedForDisplay() }.column(ofWidthAtMost: room)
      for (name, counts) in zip(names, counts) {
        try session.output.write("  #\(name)  \(session.painter.paint(counts, .detail))\n")
      }
    }
    if tags.isEmpty { session.hint("No task has a tag. Add one: tally add Buy milk --tag home") }
  }
}

extension TagUse {
  static let columns = ["tag", "open", "completed"]

  var facts: Facts {
    ["tag": .text(tag), "open": .count(openCount), "completed": .count(completedCount)]
  }
}

/// `tally tags rename A B`.
struct RenameTagCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "tags rename", "Rename a tag on every task and in saved filters, merging it into an existing one.",
    usage: "<tag> <new>", discussion: "Completions already recorded keep the old tag in statistics.")

  @Argument(help: ArgumentHelp("The tag.", valueName: "tag"))
  var tag: String

  @Argument(help: ArgumentHelp("Its new name.", valueName: "new"))
  var newTag: String

  func run(in session: Session) throws {
    try session.write { transaction in
      let use = try transaction.tag(named: tag)
      let newTag = newTag.withoutNumberSign
      let oldFilters = try transaction.savedFilters()
      let changed = try transaction.renameTag(use.tag, to: newTag)
      guard !changed.isEmpty else { return ChangeReport(messages: ["No change: the tag already has that name."]) }
      let message = "Renamed #\(use.tag.escapedForDisplay()) to #\(newTag.escapedForDisplay())"
      let filters = try transaction.savedFilters().filter { !oldFilters.contains($0) }
      let inFilters = filters.isEmpty ? "" : " and in \(filters.count.counted("filter"))"
      return ChangeReport(
        changed: try changed.map { try transaction.name($0) }, filters: filters,
        messages: ["\(message) on \(changed.count.counted("task"))\(inFilters)."])
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// A tag that tasks have, however written, with or without a number sign.
  ///
  /// - Throws: ``CommandFailure`` if no task has it.
  func tag(named name: String) throws -> TagUse {
    let tags = try tags()
    let name = name.withoutNumberSign
    if let use = tags.first(where: { TagSet([$0.tag]).contains(name) }) { return use }
    let near = name.nearNames(among: tags.map(\.tag)).map { "#\($0.escapedForDisplay())" }
    throw CommandFailure(
      .notFound, code: "tagNotFound", "No task has the tag \(name.quotedForMessage)",
      remedy: near.isEmpty
        ? "List them with 'tally tags'" : "Did you mean \(near.joined(separator: " or "))?")
  }
}

/// `tally tags delete A`.
struct DeleteTagCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "tags delete", "Remove a tag from every task; the tasks stay.", usage: "<tag>",
    discussion: "Completions already recorded keep the tag in statistics.")

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
