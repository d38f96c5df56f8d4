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
        try refusing("text") {
          // The form was sent before, but the program ended before it answered.
          if let id = form.newID, try transaction.task(id) != nil { return }
          let entry = isLiteral ? nil : try Self.entry(text, in: transaction)
          try transaction.add(entry?.title ?? text, to: place, id: form.newID) {
            [lists = try transaction.lists()] task in
            entry?.fill(&task)
            if let name = entry?.listName { task.listID = lists.first { $0.name == name }?.id }
            if let tag { task.tags.insert(tag) }
          }
        }
      }
    }
  }

  /// The parsed sentence.
  private static func entry<Base: ~Copyable>(
    _ text: String, in transaction: borrowing StoreTransaction<Base>
  ) throws -> QuickEntry {
    try QuickEntry.validate(text)
    return QuickEntry.parse(text, reference: transaction.dateReference, lists: try transaction.lists().map(\.name))
  }

  /// The parts of a sentence, as they are understood while it is typed.
  @Sendable private func understand(_ request: Request, _ context: BasicRequestContext) throws -> Response {
    let text = try request.query()["text"] ?? ""
    let html = try store.read(by: DayRules(request)) { transaction in
      let parts = try Self.entry(text, in: transaction).words(transaction.dateReference)
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
  /// The parts of the sentence besides the title, in words.
  fileprivate func words(_ clock: DateReference) -> [[String: String]] {
    var words: [[String: String]] = []
    func add(_ kind: Kind, _ name: String, _ text: String?) {
      if let text { words.append(["kind": kind.rawValue, "kindName": name, "text": text]) }
    }
    add(.schedule, "Day", scheduledDate.map(clock.relativeName))
    add(.due, "Due", (dueDay.map(clock.relativeName) ?? dueDate.map(clock.relativeName)).map { "due \($0)" })
    add(.reminder, "Reminder", reminderDate.map { "reminder \(clock.relativeName(of: $0))" })
    for reminder in relativeReminders { add(.reminder, "Reminder", "reminder \(reminder)") }
    add(.list, "List", listName)
    for tag in tags { add(.tag, "Tag", "#\(tag)") }
    add(.priority, "Priority", priority == .none ? nil : "\(priority.name) priority")
    add(.recurrence, "Repeats", recurrence?.words)
    return words
  }
}
