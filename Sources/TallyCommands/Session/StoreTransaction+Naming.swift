import Foundation
import Tally

extension StoreTransaction where Base: ~Copyable {
  /// The task with a handle, a longer tail of its id, or its id.
  ///
  /// - Throws: ``CommandFailure`` if there is none or more than one.
  func task(named name: String) throws -> TaskItem {
    let shownCount = 5
    let ids = try taskIDs(withHandle: name, limit: shownCount + 1)
    guard ids.count <= 1 else { throw try ambiguity(of: name, between: ids, shownCount: shownCount) }
    guard let id = ids.first, let task = try task(id) else {
      throw CommandFailure(
        .notFound, code: "taskNotFound", "No task has the handle '\(name.escapedForDisplay())'",
        remedy: "Find the handle in a view such as 'tally all'; it has at least four digits, 0-9 and a-f")
    }
    return task
  }

  /// The tasks named, each once, in the order given.
  func tasks(named names: [String]) throws -> [TaskItem] {
    var seen: Set<UUID> = []
    return try names.map { try task(named: $0) }.filter { seen.insert($0.id).inserted }
  }

  private func ambiguity(of name: String, between ids: [UUID], shownCount: Int) throws -> CommandFailure {
    let candidates = try ids.prefix(shownCount).map { id in
      "\(try handle(of: id)) \(try task(id).map { $0.title.quotedForMessage } ?? "")"
    }
    let more = ids.count > shownCount ? " and more" : ""
    return CommandFailure(
      .notFound, code: "ambiguousHandle",
      "'\(name.escapedForDisplay())' matches \(candidates.joined(separator: ", "))\(more)",
      remedy: "Use one of these handles, or the whole id")
  }

  /// The list with an exact name, a name in other case, or an id.
  ///
  /// - Throws: ``CommandFailure`` if there is none or more than one.
  func list(named name: String) throws -> TaskList {
    let lists = try lists()
    let exact = lists.filter { $0.name == name }
    let found = exact.isEmpty ? lists.filter { $0.name.lowercased() == name.lowercased() } : exact
    if found.count == 1 { return found[0] }
    guard found.isEmpty else {
      throw CommandFailure(
        .notFound, code: "ambiguousList", "\(found.count) lists are named \(name.quotedForMessage)",
        remedy: "Use an id: \(found.prefix(5).map(\.id.text).joined(separator: ", "))")
    }
    if let id = UUID(uuidString: name), let list = try list(id) { return list }
    let near = name.nearNames(among: lists.map(\.name)).map(\.quotedForMessage)
    throw CommandFailure(
      .notFound,
      code: "listNotFound",
      "There is no list \(name.quotedForMessage)",
      remedy: near.isEmpty
        ? "See the lists with 'tally lists'; create one with 'tally lists add NAME'"
        : "Did you mean \(near.joined(separator: " or "))?"
    )
  }

  /// The list with an id, if there is one.
  func list(withID id: UUID?) throws -> TaskList? {
    try id.flatMap { try list($0) }
  }
}

extension UUID {
  /// The id as documents and handles write it, in lower case.
  var text: String { uuidString.lowercased() }

  /// The end of the id, which stands for a list whose name is gone.
  var shownEnd: Substring { text.suffix(Self.shownEndLength) }

  /// Its length.
  static let shownEndLength = 4
}

extension String {
  /// The text in quotation marks, escaped and shortened for a message.
  var quotedForMessage: String {
    "“\(escapedForDisplay().truncated(toWidth: 60))”"
  }
}
