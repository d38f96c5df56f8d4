import Foundation
import Tally

extension StoreTransaction where Base: ~Copyable {
  /// The task with a handle, a longer tail of its id, or its id.
  ///
  /// - Throws: ``CommandFailure`` if there is none or more than one.
  func task(named name: String) throws -> TaskItem {
    let ids = try taskIDs(withHandle: name, limit: CommandFailure.shownCandidateCount + 1)
    guard ids.count <= 1 else {
      let tasks = try ids.compactMap { try task($0) }.map { try self.name($0) }
      throw CommandFailure(ambiguousHandle: name, among: tasks)
    }
    guard let id = ids.first, let task = try task(id) else {
      throw try CommandFailure(
        .notFound, code: Self.unknownTask, "No task has the handle '\(name.escapedForDisplay())'",
        remedy: "Find the handle in a view such as 'tally all'; a handle has four or more characters, 0–9 and a–f"
      ).offering(tasksTitled(name), for: [name])
    }
    return task
  }

  /// Some open tasks with a text in their title: a person who writes `done milk` means one of them.
  ///
  /// Tasks with exactly this title come before all others, and tasks with the title in another case before longer ones.
  private func tasksTitled(_ text: String) throws -> [NamedTask] {
    let filter: TaskFilter = .title(contains: text) && .is(.open)
    guard (try? filter.validate()) != nil, text.count > 1 else { return [] }
    let found = try tasks(TaskQuery(filter)).tasks
    let isMeant: [(TaskItem) -> Bool] = [{ $0.title == text }, { $0.title.lowercased() == text.lowercased() }]
    let meant = isMeant.lazy.map { found.filter($0) }.first { !$0.isEmpty } ?? found
    return try meant.prefix(CommandFailure.shownCandidateCount + 1).map { try name($0) }
  }

  /// The tasks with these names, each once, in the order of the names.
  ///
  /// - Throws: ``CommandFailure`` if there is none or more than one. It offers a command if a single name is wrong, or if the
  ///   names together are a title.
  func tasks(named names: [String]) throws -> [TaskItem] {
    var seen: Set<UUID> = []
    do {
      return try names.map { try task(named: $0) }.filter { seen.insert($0.id).inserted }
    } catch let failure as CommandFailure where failure.code == Self.unknownTask && names.count > 1 {
      let unknown = try names.filter { try taskIDs(withHandle: $0, limit: 1).isEmpty }
      if unknown.count == 1 { throw failure }
      let title = names.joined(separator: " ")
      guard unknown.count == names.count else { throw failure.withoutOffer }
      throw try failure.withoutOffer.offering(tasksTitled(title), for: names)
    }
  }

  private static var unknownTask: String { "taskNotFound" }

  /// The list with exactly this name, the name in another case, this id, or an id that ends so.
  ///
  /// - Throws: ``CommandFailure`` if there is none or more than one.
  func list(named name: String) throws -> TaskList {
    let lists = try lists()
    var found = lists.filter { $0.name == name }
    if found.isEmpty { found = lists.filter { $0.name.lowercased() == name.lowercased() } }
    if found.count == 1 { return found[0] }
    guard found.isEmpty else {
      throw CommandFailure(
        .notFound, code: "ambiguousList", "\(found.count) lists are named \(name.quotedForMessage)",
        remedy:
          "Use one of these ids, or make one list of them: tally lists merge \(name.shellQuoted) \(name.shellQuoted)"
      ).with(try Candidates(lists: found.map { ($0, try count(.list($0.id) && .is(.open))) }))
    }
    if let id = UUID(uuidString: name), let list = try list(id) { return list }
    found = HandleTail(name).map { tail in lists.filter { tail.fits($0.id) } } ?? []
    if found.count == 1 { return found[0] }
    guard found.isEmpty else {
      throw CommandFailure(
        .notFound, code: "ambiguousList", "The ids of \(found.count) lists end in \(name.quotedForMessage)",
        remedy: "Use one of these ids"
      ).with(try Candidates(lists: found.map { ($0, try count(.list($0.id) && .is(.open))) }))
    }
    let nearNames = name.nearNames(among: Set(lists.map(\.name)).sorted())
    let near = nearNames.compactMap { name in lists.first { $0.name == name } }
    throw CommandFailure(
      .notFound, code: "listNotFound", "There is no list \(name.quotedForMessage)",
      remedy: "See the lists with 'tally lists'; create one with 'tally lists add NAME'"
    ).with(Candidates(guesses: near))
  }
}

extension CommandFailure {
  /// How many tasks an error lists at most.
  static let shownCandidateCount = 5

  /// The failure, with the tasks whose title has the text that is not a handle, and the command for the first one.
  fileprivate func offering(_ tasks: [NamedTask], for name: [String]) -> CommandFailure {
    guard let first = tasks.first else { return self }
    let hasMore = tasks.count > Self.shownCandidateCount
    let shown = Array(tasks.prefix(Self.shownCandidateCount))
    var failure = with(Candidates(tasks: shown, hasMore: hasMore, areGuesses: tasks.count == 1))
    failure.meant = (name, first.handle)
    return failure
  }

  /// The failure without a command, which would still have another name that is none.
  fileprivate var withoutOffer: CommandFailure {
    var failure = self
    failure.meant = nil
    return failure
  }

  /// The error for a handle of several tasks.
  init(ambiguousHandle name: String, among tasks: [NamedTask]) {
    let hasMore = tasks.count > Self.shownCandidateCount
    let count = hasMore ? "more than \(Self.shownCandidateCount)" : "\(tasks.count)"
    self = CommandFailure(
      .notFound, code: "ambiguousHandle", "'\(name.escapedForDisplay())' matches \(count) tasks",
      remedy: "Use one of these handles, or the whole id"
    ).with(Candidates(tasks: Array(tasks.prefix(Self.shownCandidateCount)), hasMore: hasMore))
  }
}
