import Foundation
import Tally

extension StoreTransaction where Base: ~Copyable {
  /// The task that a person means by a title, or else by a handle or an id.
  ///
  /// Open tasks with exactly this title come before those with the title in another case.
  ///
  /// - Parameters:
  ///   - text: what the person has typed.
  ///   - id: the task on whose sheet it was typed, which is meant only if no other one is.
  /// - Returns: the task.
  /// - Throws: `taskNotFound` if there is none, `invalidDependency` if there are several; what the storage throws.
  func task(meantBy text: String, besides id: UUID) throws -> TaskItem {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    let titled = try openTasks(titled: text, besides: id)
    var meant = titled.exactly.isEmpty ? titled.inAnotherCase : titled.exactly
    if meant.isEmpty {
      meant = try taskIDs(withHandle: text, limit: Self.shownCandidateCount + 1).compactMap { try task($0) }
    }
    let others = meant.filter { $0.id != id }
    if !others.isEmpty { meant = others }
    guard meant.count < 2 else { throw try ambiguous(text, meant) }
    guard let task = meant.first else { throw Self.unknown(text, titled.similarly) }
    return task
  }

  private static var shownCandidateCount: Int { 5 }

  /// Some of the open tasks with a text in their titles, one more of each kind than an error shows.
  private func openTasks(
    titled text: String, besides id: UUID
  ) throws -> (exactly: [TaskItem], inAnotherCase: [TaskItem], similarly: [TaskItem]) {
    var (exactly, inAnotherCase, similarly): ([TaskItem], [TaskItem], [TaskItem]) = ([], [], [])
    let filter: TaskFilter = .title(contains: text) && .is(.open)
    // A text that is too long to look for is not a title that anybody types.
    guard (try? filter.validate()) != nil else { return ([], [], []) }
    let (limit, lowercased) = (Self.shownCandidateCount + 2, text.lowercased())
    try forEachTask(in: .matching(filter, by: .created)) { task, _ in
      let title = task.title.trimmingCharacters(in: .whitespacesAndNewlines)
      if title == text {
        exactly.append(task)
      } else if title.lowercased() == lowercased {
        if inAnotherCase.count < limit { inAnotherCase.append(task) }
      } else if task.id != id, similarly.count < limit {
        similarly.append(task)
      }
      return exactly.count < limit
    }
    return (exactly, inAnotherCase, similarly)
  }

  private static func unknown(_ text: String, _ similar: [TaskItem]) -> TallyError {
    let titles = similar.prefix(shownCandidateCount).map { "“\($0.title.quotable())”" }
    return TallyError(
      .taskNotFound, "No open task has the title or the handle “\(text.quotable())”",
      remedy: titles.isEmpty
        ? "Choose a task that is suggested, or write the handle that its sheet shows"
        : "Write the whole title, such as \(titles.joined(separator: " or "))")
  }

  private func ambiguous(_ text: String, _ tasks: [TaskItem]) throws -> TallyError {
    let shown = try tasks.prefix(Self.shownCandidateCount).map { task in
      let place = try task.listID.flatMap { try list($0) }.map { " in \($0.name.quotable())" } ?? ""
      return "\(try handle(of: task.id)) “\(task.title.quotable())”\(place)"
    }
    let count = tasks.count > shown.count ? "more than \(shown.count)" : "\(tasks.count)"
    return TallyError(
      .invalidDependency, "“\(text.quotable())” matches \(count) tasks",
      remedy: "Use one of these handles, or the whole id: \(shown.joined(separator: ", "))")
  }

  /// An error with the titles of tasks that it names by their ids.
  func naming(_ error: any Error) -> any Error {
    if let refusal = error as? FieldRefusal {
      return FieldRefusal(field: refusal.field, cause: naming(refusal.cause))
    }
    guard let error = error as? TallyError, let refused = error.cause as? RefusedDependency else { return error }
    let message = refused.ids.reduce(error.message) { message, id in
      guard message.contains(id.text), let task = try? task(id) else { return message }
      return message.replacing(id.text, with: "“\(task.title.quotable())”")
    }
    return TallyError(error.code, message, remedy: error.remedy)
  }
}

/// The open tasks that a sheet suggests to wait for: those with the words that are being typed, or else those beside the task.
struct Suggestions {
  /// The content of `suggestions.mustache`.
  let content: [[String: String]]

  private static let longestInTasks = 20
  private static let longestQueryInBytes = 500
  private static let longestTitle = 200

  init(
    for task: TaskItem, typed text: String = "", in frame: RowFrame, _ transaction: borrowing StoreReadTransaction
  ) throws {
    // Some of those that are found are closed, or already waited for.
    let limit = Self.longestInTasks * 5
    let query = SearchQuery(text)
    let found: [TaskItem]
    if text.allSatisfy(\.isWhitespace) {
      found = try transaction.page(of: task.listID.map { .list($0) } ?? .inbox, limit: limit).tasks
    } else if query.isEmpty || text.utf8.count > Self.longestQueryInBytes {
      found = []
    } else {
      found = try transaction.search(query, limit: limit).map(\.task)
    }
    let tasks = found.filter { other in
      other.isOpen && ![task.id, task.parentID].contains(other.id) && !task.dependsOn.contains(other.id)
        && !other.dependsOn.contains(task.id)
    }.prefix(Self.longestInTasks)
    let counts = Dictionary(tasks.map { ($0.title.lowercased(), 1) }, uniquingKeysWith: +)
    content = try tasks.map { other in
      let title = other.title
      let handle = try transaction.handle(of: other.id)
      let list = other.listID.flatMap { frame.lists[$0]?.name.quotable() }
      let day = other.scheduledDate.map(frame.clock.relativeName)
      // A field has one line, and its text must name one task.
      let isClear = counts[title.lowercased()] == 1 && !title.contains(where: \.isNewline)
      let isTitle = isClear && title.count <= Self.longestTitle
      let label = [isTitle ? handle : title.quotable(to: 80), list, day].compactMap(\.self)
      return ["value": isTitle ? title : handle, "label": label.joined(separator: " · ")]
    }
  }
}
