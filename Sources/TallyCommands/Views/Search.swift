import ArgumentParser
import Tally

/// `tally search WORDS…`.
struct SearchCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "search", "Find tasks by words in their titles, notes and tags.", usage: "<words> ... [--substring] [--limit <n>]",
    discussion: """
      Every word must be found, in any order; case, accents and width do not matter. The last word may be the \
      beginning of one. Words in double quotes must follow each other; the shell needs quotes around them, too. Text in \
      scripts without spaces is found inside longer text.

      A match in the title comes before one in a tag or in the notes, a whole word before the beginning of one, an open \
      task before a completed one, a newer one before an older one. Without --limit people see the first \
      \(defaultLimit), and programs all.

      With --json, each match has the task and its ranges: pairs of a start and an end, counted in Unicode scalars. \
      \(SharedHelp.taskRecord)

      EXAMPLES
        tally search tax form
        tally search '"tax form" 2026'
        tally search --substring orm --limit 5
      """)

  private static let defaultLimit = 20

  @Argument(help: ArgumentHelp("The words to look for.", valueName: "words"))
  var words: [String]

  @Flag(help: "Look for the words inside others, too.")
  var substring = false

  @OptionGroup var limited: LimitOption

  static var manyWords: WritableKeyPath<Self, [String]>? { \.words }

  func run(in session: Session) throws {
    let query = SearchQuery(words.joined(separator: " "), substring ? .substrings : .words)
    let limit = limited.limit ?? (session.options.format == .human ? Self.defaultLimit : nil)
    try session.read { transaction in
      // One match more than the limit shows whether there are more.
      var matches = try transaction.search(query, limit: limit.map { $0 + 1 })
      let hasMore = limit.map { matches.count > $0 } ?? false
      if let limit { matches = Array(matches.prefix(limit)) }
      var lists: KnownLists = [:]
      let hasSeries = session.options.format == .json
      let named = try matches.map { try transaction.name($0.task, knowing: &lists, withSeries: hasSeries) }
        .withHandlesOfOneLength
      let found = zip(named, matches).map { SearchResult(named: $0, match: $1) }
      let columns = NamedTask.columns.map { "task." + $0 }
      try session.answer(
        ["query": .text(words.joined(separator: " ")), "matches": .array(found.map(\.facts))],
        plain: .records([(path: "matches", columns: columns)])
      ) {
        let rows = TaskRows(session, handleWidth: PrintedView.handleWidth(taskCount: try transaction.taskCount))
        try session.output.write(rows.text(of: found, hasMore: hasMore))
      }
      if found.isEmpty { session.hint("Nothing was found. Try fewer words, or --substring") }
    }
  }
}

/// A task that a search found, with the details for printing it.
struct SearchResult {
  let named: NamedTask
  let match: SearchMatch

  var facts: Facts {
    let task = match.task
    let tags = zip(task.tags, match.tagRanges).map { Facts.ranges($1, in: $0) }
    let ranges: Facts = [
      "title": .ranges(match.titleRanges, in: task.title),
      "notes": .ranges(match.notesRanges, in: task.notes ?? ""),
      "tags": .array(tags),
    ]
    return ["task": named.facts, "ranges": ranges]
  }
}

extension Facts {
  /// Ranges of a text as pairs of offsets, in Unicode scalars.
  fileprivate static func ranges(_ ranges: [Range<String.Index>], in text: String) -> Facts {
    .array(text.scalarOffsets(of: ranges).map { .array([.count($0.lowerBound), .count($0.upperBound)]) })
  }
}

extension TaskRows {
  /// How much of a text is shown before its first match.
  private static let leadInCharacters = 24

  /// The results of a search for people: a line or two per task, and where else than in the title something matched.
  fileprivate func text(of found: [SearchResult], hasMore: Bool) -> String {
    var all = found.flatMap { lines(of: $0) }
    if hasMore { all.append(painter.paint("There are more; --limit shows them.", .detail)) }
    return all.map { $0 + "\n" }.joined()
  }

  private func lines(of found: SearchResult) -> [String] {
    let match = found.match
    var lines = self.lines(of: found.named, matches: match.titleRanges)
    let blanks = blanksBeforeTitle(behind: found.named.handle)
    for (tag, ranges) in zip(match.task.tags, match.tagRanges) where !ranges.isEmpty {
      lines.append(line(blanks + "tag: ", tag, ranges))
    }
    if let notes = match.task.notes, !match.notesRanges.isEmpty {
      lines.append(line(blanks + "notes: ", notes, match.notesRanges))
    }
    return lines
  }

  /// The part of a text around its first match.
  private func line(_ label: String, _ text: String, _ matches: [Range<String.Index>]) -> String {
    let first = matches.first?.lowerBound ?? text.startIndex
    let start = text.index(first, offsetBy: -Self.leadInCharacters, limitedBy: text.startIndex) ?? text.startIndex
    let lead = start > text.startIndex ? "…" : ""
    let marked = MarkedText(text, matches: matches, from: start).truncated(
      toWidth: max(8, width - label.utf8.count - 1))
    return painter.paint(label, .detail) + lead + marked.painted(by: painter)
  }
}
