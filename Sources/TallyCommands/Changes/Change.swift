import Foundation
import Tally

/// What a command changed, and how to take it back.
struct Change {
  var changed: [NamedTask] = []
  var deleted: [UUID] = []
  var lists: [TaskList] = []
  /// What happened, a sentence each.
  var messages: [String] = []
  /// What takes it back, in the order in which it happened.
  var remedies: [Remedy] = []
}

/// A command that takes back what was done to one task.
///
/// Those that differ only in the task are offered as one command.
struct Remedy: Equatable {
  let verb: String
  let handle: String
  var options: [String] = []
}

extension Change {
  /// Adds what happened to one task.
  mutating func append(_ named: NamedTask, _ message: String, _ remedies: [Remedy]) {
    changed.append(named)
    messages.append(message)
    self.remedies += remedies
  }
}

extension Session {
  /// Prints a change: the result to programs, the message to people.
  func report(_ change: Change) throws {
    switch options.format {
    case .json: try output.write(json(of: change))
    case .plain: try output.write(records(of: change))
    case .human: tellPeople(of: change)
    }
  }

  private func json(of change: Change) -> [UInt8] {
    TerminalSafeJSON.line { json in
      json.object { json in
        json.array("changed", of: change.changed) { json, named in json.object { $0.members(of: named) } }
        json.array("deleted", of: change.deleted) { $0.value($1) }
        json.array("lists", of: change.lists) { json, list in json.object { $0.members(of: list) } }
      }
    }
  }

  private func records(of change: Change) -> String {
    change.changed.map(PlainRecords.record).joined() + change.lists.map(PlainRecords.record).joined()
      + change.deleted.map { PlainRecords.line([$0.text]) }.joined()
  }

  private func tellPeople(of change: Change) {
    let shownCount = 20
    for message in change.messages.prefix(shownCount) { say(message) }
    if change.messages.count > shownCount { say("… and \((change.messages.count - shownCount).grouped) more.") }
    guard !change.remedies.isEmpty else { return }
    // A line of a thousand handles would help nobody.
    let isMany = change.remedies.count > shownCount
    let remedies = isMany ? Array(change.remedies.prefix(1)) : change.remedies
    let commands = Remedy.commands(for: remedies, storeOption: options.store)
    say("To take \(isMany ? "the first of them" : "it") back: \(commands.joined(separator: " && "))")
  }
}

extension Remedy {
  /// The commands that take everything back, last things first; neighbours that differ only in the task become one.
  static func commands(for remedies: [Remedy], storeOption: String?) -> [String] {
    var groups: [(remedy: Remedy, handles: [String])] = []
    for remedy in remedies.reversed() {
      if let last = groups.last, last.remedy.verb == remedy.verb, last.remedy.options == remedy.options {
        groups[groups.count - 1].handles.append(remedy.handle)
      } else {
        groups.append((remedy, [remedy.handle]))
      }
    }
    let program = ["tally"] + (storeOption.map { ["--store", $0.shellQuoted] } ?? [])
    return groups.map { group in
      (program + [group.remedy.verb] + group.handles.reversed() + group.remedy.options.map(\.shellQuoted))
        .filter { !$0.isEmpty }.joined(separator: " ")
    }
  }
}
