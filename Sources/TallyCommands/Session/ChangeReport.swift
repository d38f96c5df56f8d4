import Foundation
import Tally

/// The changes that a command made, and how to undo them.
struct ChangeReport {
  /// The command that undoes a change.
  struct Remedy {
    let purpose: String
    let command: String
    /// The state of the command that this one reverses.
    var participle = "undone"

    static let undo = Remedy(purpose: "To undo", command: "undo")
    static let redo = Remedy(purpose: "To redo", command: "redo", participle: "redone")

    /// The command for several changes.
    func repeated(_ count: Int) -> Remedy {
      count < 2 ? self : Remedy(purpose: purpose, command: "\(command) \(count)", participle: participle)
    }

    /// Restores the store that a file holds.
    static func restore(file: String) -> Remedy {
      Remedy(purpose: "To undo", command: "restore \(file.shellQuoted)")
    }
  }

  var changed: [NamedTask] = []
  var deleted: [UUID] = []
  var lists: [TaskList] = []
  var filters: [SavedFilter] = []
  /// The names of deleted filters.
  var deletedFilters: [String] = []
  /// Whether values of applications changed, too.
  var hasChangedValues = false
  /// Further members of the facts, for programs.
  var details: Facts = [:]
  /// The messages, each of one sentence.
  var messages: [String] = []
  /// How many of them are printed.
  static let shownMessageCount = 20
  /// Likely mistakes, one sentence each; printed in any format.
  var warnings: [String] = []
  /// The command that is offered; `nil` if nothing was changed after all.
  var remedy: Remedy? = .undo
  /// Whether undo is possible: the change may have been too large to record.
  var isUndoable = true
}

extension ChangeReport {
  /// Whether nothing changed.
  var isEmpty: Bool {
    [changed.count, deleted.count, lists.count, filters.count, deletedFilters.count].allSatisfy { $0 == 0 }
      && !hasChangedValues
  }

  var facts: Facts {
    let facts: Facts = [
      "changed": .array(changed.map(\.facts)), "deleted": .array(deleted.map { .id($0) }),
      "lists": .array(lists.map(\.facts)),
    ]
    // These facts matter only where filters change: by their commands, by renaming a tag and by undo.
    if filters.isEmpty, deletedFilters.isEmpty { return facts.adding(details) }
    return facts.adding([
      "filters": .array(filters.map(\.facts)), "deletedFilters": .array(deletedFilters.map { .text($0) }),
    ]).adding(details)
  }

  /// Adds another change that happened after this one.
  mutating func append(_ other: ChangeReport) {
    changed += other.changed
    deleted += other.deleted
    lists += other.lists
    filters += other.filters
    deletedFilters += other.deletedFilters
    hasChangedValues = hasChangedValues || other.hasChangedValues
    details = details.adding(other.details)
    messages += other.messages
    warnings += other.warnings
  }
}

extension Session {
  /// Prints a change: facts to programs, messages to people.
  func report(_ change: ChangeReport) throws {
    let layout = RecordLayout.records([
      ("changed", NamedTask.columns), ("lists", TaskList.columns), ("filters", SavedFilter.columns), ("deleted", []),
      ("deletedFilters", []),
    ])
    try answer(change.facts, plain: layout) { printMessages(of: change) }
    for warning in change.warnings { report(warning) }
    if !change.isUndoable, !change.isEmpty {
      report(
        change.remedy.map { "This cannot be \($0.participle): there was no room to record it." }
          ?? "There is no room to record this change, so it cannot be reversed.")
    }
  }

  private func printMessages(of change: ChangeReport) {
    let shownCount = ChangeReport.shownMessageCount
    for message in change.messages.prefix(shownCount) { say(message) }
    if change.messages.count > shownCount { say("… and \((change.messages.count - shownCount).grouped) more.") }
    guard !change.isEmpty else { return }
    guard let remedy = change.remedy else { return say("Nothing was changed.") }
    guard change.isUndoable, settings.hasHints else { return }
    // Once is enough for a person; a log or another program gets it each time.
    if remedy.command != ChangeReport.Remedy.undo.command
      || TerminalSession(of: invocation)?.recordShown("undo") ?? true
    {
      say(offer(remedy))
    }
  }

  /// The sentence that offers a command.
  func offer(_ remedy: ChangeReport.Remedy) -> String {
    "\(remedy.purpose): \(line(running: remedy.command))"
  }

  /// The line that runs a command on the same store.
  func line(running command: String) -> String {
    let program = ["tally"] + (options.store.map { ["--store", $0.shellQuoted] } ?? [])
    return (program + [command]).joined(separator: " ")
  }
}
