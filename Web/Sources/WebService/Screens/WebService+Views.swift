import Foundation
import Hummingbird
import Tally

extension WebService {
  func addViewRoutes(to router: Router<BasicRequestContext>) {
    router.get("/") { _, _ in Response.redirect(to: "/today") }
    for screen in Screen.all {
      router.get(RouterPath(screen.path)) { [self] request, _ in try await show(screen, for: request) }
    }
    router.get("agenda") { [self] request, _ in
      let shown = try store.read(by: DayRules(request)) { try AgendaContent($0).content }
      return Response.html(try renderer.html("agenda", shown.map { ["agenda": $0] } ?? [:]))
    }
    router.get("places") { [self] request, _ in
      let path = try request.query()["at"] ?? ""
      let places = try store.read(by: DayRules(request)) { try Places($0) }
      return Response.html(try renderer.html("places", places.content(at: path)))
    }
    router.get("more") { [self] request, _ in
      try page("more", title: "More", for: request)
    }
    router.get("keyboard") { [self] request, _ in
      try page("keyboard", title: "Keyboard", for: request) { _ in ["keys": KeyboardSheet.rows] }
    }
  }

  /// The number of rows in the first answer; more are made as they come into view.
  static let firstRowCount = 100

  /// A screen of a view: the first rows, or those from a position on.
  func show(_ screen: Screen, for request: Request, _ more: [String: Any] = [:]) async throws -> Response {
    let first = Int(try request.query()["from"] ?? "0") ?? 0
    guard first >= 0 else { throw HTTPError(.badRequest, message: "The numbers of the rows are missing or invalid.") }
    // The selection of a refused form is kept.
    let chosen = Set(RefusedForm.typed("change")?.all("id") ?? [])
    let window = try await feeds.feed(of: screen.view, by: DayRules(request)).window(
      from: first, count: Self.firstRowCount)
    let shown = min(first, window.count)
    let rest = window.count - shown - window.tasks.count
    var content: [String: Any] = [
      "view": screen.view.text, "path": screen.path, "feed": window.version, "count": window.count, "first": shown,
      "hasEarlier": shown > 0,
      "rows": window.frame.rows(window.tasks, in: screen.view, nested: window.nested).map { row in
        row.merging(["isChosen": (row["id"] as? String).map(chosen.contains) ?? false]) { $1 }
      },
      "isOrdered": screen.isOrdered,
      // Dropping a task between the rows of today plans it for today.
      "rowsDay": screen.view == .today ? window.frame.clock.today.iso8601 : "",
      "emptyWords": screen.emptyWords, "summary": Self.summary(window.count, window.completedCount),
    ]
    if rest > 0 {
      content["rest"] = [
        "count": rest,
        "address": "\(screen.path)\(screen.path.contains("?") ? "&" : "?")from=\(shown + window.tasks.count)",
      ]
    }
    content["hasAgenda"] = screen.view == .today
    content["isEmpty"] = window.count == 0
    content.merge(more) { _, new in new }
    return try page(
      "view", title: screen.title, for: request, capture: (screen.place, screen.placeName),
      following: .view(screen.view, version: window.version)
    ) { [content] transaction in
      var content = content
      content["isFirst"] = try transaction.taskCount == 0
      if screen.view == .today {
        let agenda = try AgendaContent(transaction)
        (content["agenda"], content["agendaVersion"]) = (agenda.content, agenda.version)
      }
      return content
    }
  }

  static func summary(_ count: Int, _ completed: Int) -> String {
    switch completed {
    case _ where count == 0: "No tasks"
    case 0: count.counted("task")
    case count: "\(count.counted("task")), all completed"
    default: "\(count.counted("task")), \(completed) completed"
    }
  }
}
