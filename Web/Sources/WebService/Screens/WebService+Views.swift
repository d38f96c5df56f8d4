import Foundation
import Hummingbird
import Tally

extension WebService {
  func addViewRoutes(to router: Router<BasicRequestContext>) {
    router.get("/") { _, _ in Response.redirect(to: "/today") }
    for screen in Screen.all {
      router.get(RouterPath(screen.path)) { [self] request, _ in try await show(screen, for: request) }
    }
    router.get("agenda") { [self] _, _ in
      let shown = try store.read { try agenda($0) }
      return Response.html(try renderer.html("agenda", shown.map { ["agenda": $0] } ?? [:]))
    }
    router.get("places") { [self] request, _ in
      let path = try request.query()["at"] ?? ""
      return Response.html(try renderer.html("places", try store.read { try places(at: path, in: $0) }))
    }
    router.get("more") { [self] request, _ in
      try page("more", title: "More", for: request, [:])
    }
    router.get("keyboard") { [self] request, _ in
      try page("keyboard", title: "Keyboard", for: request, ["keys": KeyboardSheet.rows])
    }
  }

  /// How many rows the first answer has; more are made as they come into view.
  static let firstRowCount = 100

  /// A screen of a view: the first rows, or those from a position on.
  func show(_ screen: Screen, for request: Request, _ more: [String: Any] = [:]) async throws -> Response {
    let first = Int(try request.query()["from"] ?? "0") ?? 0
    guard first >= 0 else { throw HTTPError(.badRequest, message: "Rows have numbers.") }
    let window = try await feeds.feed(of: screen.view).window(from: first, count: Self.firstRowCount)
    let shown = min(first, window.count)
    let rest = window.count - shown - window.tasks.count
    var content: [String: Any] = [
      "view": screen.view.text, "path": screen.path, "feed": window.version, "count": window.count, "first": shown,
      "hasEarlier": shown > 0, "rows": window.frame.rows(window.tasks, in: screen.view, nested: window.nested),
      "isOrdered": screen.isOrdered,
      "emptyWords": screen.emptyWords, "summary": Self.summary(window.count, window.completedCount),
      "isFirst": try store.read { try $0.taskCount } == 0,
    ]
    if rest > 0 {
      content["rest"] = [
        "count": rest,
        "address": "\(screen.path)\(screen.path.contains("?") ? "&" : "?")from=\(shown + window.tasks.count)",
      ]
    }
    content["hasAgenda"] = screen.view == .today
    content["isEmpty"] = window.count == 0
    if screen.view == .today { content["agenda"] = try store.read { try agenda($0) } }
    content.merge(more) { _, new in new }
    return try page(
      "view", title: screen.title, for: request, capture: (screen.place, screen.placeName), content)
  }

  static func summary(_ count: Int, _ completed: Int) -> String {
    count == 0 ? "No tasks" : count.counted("task") + (completed == 0 ? "" : ", \(completed) completed")
  }

  /// What asks for attention besides the tasks that are planned for today; `nil` if nothing does.
  func agenda(_ transaction: borrowing StoreReadTransaction) throws -> [String: Any]? {
    let (agenda, frame) = (try transaction.agenda(), try RowFrame(transaction))
    let sections: [[String: Any]] = [
      ("Overdue", agenda.overdue), ("Due today", agenda.dueToday), ("Missed reminders", agenda.missedReminders),
    ]
    // Those that are planned for today are below.
    .map { ($0.0, $0.1.filter { $0.scheduledDate != transaction.today }) }
    .filter { !$0.1.isEmpty }
    .map { name, tasks in
      ["name": name, "count": tasks.count, "rows": tasks.prefix(Self.longestAgendaInRows).map { frame.row($0) }]
    }
    let lines: [[String: String]] = [
      agenda.pastCount > 0
        ? ["path": "/past", "text": "\(agenda.pastCount.counted("task")) left from earlier days"] : nil,
      agenda.inboxCount > 0 ? ["path": "/inbox", "text": "\(agenda.inboxCount.counted("task")) in the inbox"] : nil,
    ].compactMap(\.self)
    if sections.isEmpty, lines.isEmpty { return nil }
    return ["sections": sections, "lines": lines, "hasLines": !lines.isEmpty]
  }

  private static let longestAgendaInRows = 20
}
