import Foundation
import Tally

/// What `tally import` prints: what an import did, or would do.
struct ImportReport {
  let summary: ImportSummary
  /// The tasks, lists and filters that a dry run would change or keep.
  let affected: [ImportedRecord]

  static let columns: [String] = {
    let counts = ["added", "changed", "unchanged", "keptNewer"]
    return counts + ["completions"] + counts.map { "lists." + $0 } + ["dryRun"]
  }()

  func print(in session: Session, _ store: TaskStore) throws {
    try session.answer(facts, plain: .record(Self.columns)) {
      if summary.isDryRun {
        // This is the answer, not a message about a change.
        for record in affected { try session.writeWrapped(record.line) }
        for line in inWords("would be ") + account + ["Nothing was changed."] { try session.writeWrapped(line) }
      } else {
        for line in inWords("") { session.say(line) }
        for line in account { session.note(line) }
        if hasKept { session.say("To use the file's values instead, add --overwrite.") }
        if !hasChanges { session.say("Nothing was changed.") }
      }
    }
    guard !summary.isDryRun, hasChanges else { return }
    // Another process may have changed something meanwhile; undo then says what it undoes.
    if try store.read({ try $0.undoableChange }) != nil {
      session.say(session.offer(.undo))
    } else {
      session.note("This import was too large to undo; --dry-run shows beforehand what an import would do.")
    }
  }

  private var facts: Facts {
    let facts = summary.tasks.facts.adding([
      "completions": .count(summary.completions.added + summary.completions.changed),
      "lists": summary.lists.facts, "filters": summary.filters.facts, "dryRun": .flag(summary.isDryRun),
      Facts.Name("account", onlyIn: .json): .array(summary.account.map(\.facts)),
    ])
    guard summary.isDryRun else { return facts }
    return facts.adding([Facts.Name("affected", onlyIn: .json): .array(affected.map(\.facts))])
  }

  private var hasChanges: Bool {
    [summary.tasks, summary.lists, summary.completions, summary.filters].contains { $0.added + $0.changed > 0 }
  }

  private var hasKept: Bool {
    [summary.tasks, summary.lists, summary.filters].contains { $0.keptNewer > 0 }
  }

  /// A line for each kind of record; that of the tasks is always there.
  private func inWords(_ mood: String) -> [String] {
    func line(_ noun: String, _ counts: ImportSummary.Counts) -> String {
      "\(noun): \(counts.added.grouped) \(mood)added, \(counts.changed.grouped) \(mood)changed, "
        + "\(counts.unchanged.grouped) unchanged"
        + (counts.keptNewer == 0
          ? "" : ", \(counts.keptNewer.grouped) skipped (the store has a newer change or a deletion)")
    }
    var lines = [line("Tasks", summary.tasks)]
    if summary.lists.total > 0 { lines.append(line("Lists", summary.lists)) }
    if summary.filters.total > 0 { lines.append(line("Filters", summary.filters)) }
    if summary.completions.total > summary.completions.unchanged {
      lines.append(line("Completions without their task", summary.completions))
    }
    return lines
  }
}

extension ImportReport {
  /// What was not understood: a line for each kind.
  private var account: [String] {
    summary.account.map { remark in
      let count = remark.count == 1 ? "" : "\(remark.count.grouped)× "
      let line = remark.line.map { " (line \($0))" } ?? ""
      let example = remark.example.escapedForDisplay()
      return "Not understood: \(count)\(remark.kind)\(remark.count == 1 ? " " : ", as ")“\(example)”\(line)"
    }
  }
}

extension ImportRemark {
  fileprivate var facts: Facts {
    [
      "kind": .text(kind), "count": .count(count), "example": .text(example), "line": .integer(line.map(Int64.init)),
    ]
  }
}

extension ImportSummary.Counts {
  fileprivate var total: Int { added + changed + unchanged + keptNewer }

  fileprivate var facts: Facts {
    [
      "added": .count(added), "changed": .count(changed), "unchanged": .count(unchanged),
      "keptNewer": .count(keptNewer),
    ]
  }
}

extension ImportedRecord {
  fileprivate var facts: Facts {
    var members: [Facts.Member] = [("kind", .text(kind.rawValue))]
    if let id { members.append(("id", .id(id))) }
    members.append((Facts.Name(kind == .task ? "title" : "name"), .text(name)))
    members.append(("outcome", .text(outcome.rawValue)))
    return .object(members)
  }

  /// A line for people: what would happen, and to what.
  fileprivate var line: String {
    let noun = kind == .task ? "" : " " + kind.rawValue
    let name = name.escapedForDisplay()
    return switch outcome {
    case .added: "add\(noun): \(name)"
    case .changed: "change\(noun): \(name)"
    case .keptNewer: "keep\(noun) (newer here): \(name)"
    case .keptDeleted: "keep\(noun) deleted: \(name)"
    }
  }
}
