import Tally

/// The results of a search for people: a line or two per task, and where else than in the title something matched.
struct PrintedMatches {
  private let painter: Painter
  private let width: Int
  private let rows: TaskRows

  /// How much of a text is shown before its first match.
  private static let leadInCharacters = 24

  init(session: Session, taskCount: Int) {
    painter = session.painter
    width = session.width ?? .max
    rows = TaskRows(
      clock: session.clock, painter: session.painter, width: session.width ?? .max,
      handleWidth: PrintedView.handleWidth(taskCount: taskCount), hidden: [])
  }

  func text(of found: [FoundTask], hasMore: Bool) -> String {
    var all = found.flatMap { lines(of: $0) }
    if hasMore { all.append(painter.paint("There are more; --limit shows them.", .detail)) }
    return all.map { $0 + "\n" }.joined()
  }

  private func lines(of found: FoundTask) -> [String] {
    let match = found.match
    var lines = rows.lines(of: found.named, matches: match.titleRanges)
    let blanks = rows.blanksBeforeTitle(behind: found.named.handle)
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
