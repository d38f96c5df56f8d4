import Foundation
import Hummingbird
import Tally

extension WebService {
  func addCaptureRoutes(to router: Router<BasicRequestContext>) {
    router.get("capture", use: understand)
    router.post("capture") { [self] request, _ in
      let form = try await request.form()
      let (text, isLiteral) = (form["text"]?.withUnixLineBreaks ?? "", form["literal"] == "yes")
      let name = form["place"] ?? "inbox"
      // On the screen of a tag, a new task gets it.
      let tag = name.hasPrefix("tag:") ? String(name.dropFirst("tag:".count)) : nil
      let place = tag == nil ? try CapturePlace(form: name) : .inbox
      return try await change(form, request) { transaction in
        guard !isLiteral else {
          return _ = try transaction.add(text, to: place) { task in
            if let tag { task.tags.insert(tag) }
          }
        }
        let lists = try transaction.lists()
        let entry = QuickEntry.parse(text, reference: transaction.dateReference, lists: lists.map(\.name))
        let list = lists.first { $0.name == entry.listName }
        try transaction.add(entry.title, to: place) { task in
          entry.fill(&task)
          if let tag { task.tags.insert(tag) }
          if let list { task.listID = list.id }
        }
      }
    }
  }

  /// The parts of a sentence, as they are understood while it is typed.
  @Sendable private func understand(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    let text = try request.query()["text"] ?? ""
    let html = try store.read { transaction in
      let clock = Clock(transaction)
      let entry = QuickEntry.parse(
        text, reference: transaction.dateReference, lists: try transaction.lists().map(\.name))
      let parts = entry.words(clock)
      return try renderer.html("understood", ["parts": parts, "hasParts": !parts.isEmpty])
    }
    return .html(html)
  }
}

extension CapturePlace {
  /// The place that a form names: `inbox`, `today`, `upcoming` or `list:ID`.
  init(form text: String) throws {
    switch text {
    case "inbox": self = .inbox
    case "today": self = .today
    case "upcoming": self = .upcoming
    case let list where list.hasPrefix("list:"): self = .list(try UUID(form: String(list.dropFirst("list:".count))))
    default: throw HTTPError(.badRequest, message: "The place is unknown.")
    }
  }
}

extension QuickEntry {
  /// What the sentence gives besides a title, part by part.
  fileprivate func words(_ clock: Clock) -> [[String: String]] {
    var words: [[String: String]] = []
    func add(_ kind: Kind, _ name: String, _ text: String?) {
      if let text { words.append(["kind": kind.rawValue, "kindName": name, "text": text]) }
    }
    add(.schedule, "Day", scheduledDate.map(clock.relativeName))
    add(.due, "Due", (dueDay.map(clock.relativeName) ?? dueDate.map(clock.relativeName)).map { "due \($0)" })
    add(.reminder, "Reminder", reminderDate.map { "reminder \(clock.relativeName(of: $0))" })
    add(.list, "List", listName)
    for tag in tags { add(.tag, "Tag", "#\(tag)") }
    add(.priority, "Priority", priority == .none ? nil : "\(priority.name) priority")
    add(.recurrence, "Repeats", recurrence?.words)
    return words
  }
}
