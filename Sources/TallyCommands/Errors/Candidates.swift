import Tally
import TallySync

/// What a name may have meant: tasks or lists, for a person to choose from.
struct Candidates {
  private var all: [(facts: Facts, words: String)] = []
  private var hasMore = false
  /// Whether the name matches none of them, but is like theirs.
  private var areGuesses = false

  /// No candidates.
  init() {}

  /// Tasks that a handle matches.
  init(tasks: [NamedTask], hasMore: Bool) {
    all = tasks.map {
      (["handle": .text($0.handle), "id": .id($0.task.id), "title": .text($0.task.title)], $0.inWords)
    }
    self.hasMore = hasMore
  }

  /// The one task that may be meant.
  init(guess task: NamedTask) {
    self.init(tasks: [task], hasMore: false)
    areGuesses = true
  }

  /// Lists that have a name, each with the number of its open tasks.
  init(lists: [(list: TaskList, openCount: Int)]) {
    all = lists.map { list, openCount in
      (
        ["id": .id(list.id), "name": .text(list.name)],
        "\(list.id.text) \(list.name.quotedForMessage), \(openCount.grouped) open"
      )
    }
  }

  /// Devices that have a name.
  init(members: [SyncStatus.Member]) {
    all = members.map { member in
      let name = member.name?.quotedForMessage ?? "unknown"
      let mark = member.isRevoked ? ", revoked" : member.isFormer ? ", a former identity" : ""
      return (
        ["replica": .text(member.replica.description), "handle": .text(member.handle), "name": .text(member.name)],
        "\(member.handle) \(name)\(mark)"
      )
    }
  }

  /// Lists with a similar name.
  init(guesses lists: [TaskList]) {
    all = lists.map { (["id": .id($0.id), "name": .text($0.name)], $0.name.quotedForMessage) }
    areGuesses = true
  }

  /// Whether there are several to choose from.
  var areSeveral: Bool { all.count > 1 }

  /// The candidates as a member of the error; none without candidates.
  var facts: Facts { all.isEmpty ? [:] : ["candidates": .array(all.map(\.facts))] }

  /// The candidates as lines, or as a question.
  var text: String {
    guard !all.isEmpty else { return "" }
    if areGuesses { return "Did you mean \(all.map(\.words).joined(separator: " or "))?\n" }
    return all.map { "  \($0.words)\n" }.joined() + (hasMore ? "  …\n" : "")
  }
}
