import Foundation
import Hummingbird
import Logging
import NIOCore
import Tally

/// A refused form, while its screen is shown again with the typed values and the reason beside the field.
struct RefusedForm: Sendable {
  /// The refused form for which a screen is being rendered.
  @TaskLocal static var current: RefusedForm?

  /// The name of the form in the templates.
  let name: String
  /// The fields that were sent.
  let fields: Form
  let failure: Failure
  /// The address of the screen that has the form; `nil` for an address that has none.
  let screen: String?

  /// The fields with which a form was sent, if it is the refused one.
  static func typed(_ name: String) -> Form? { current?.name == name ? current?.fields : nil }
}

extension RefusedForm {
  /// Finds the screen that has the form.
  init(_ request: Request, _ fields: Form, _ failure: Failure) {
    let path = request.uri.path
    let parts = path.split(separator: "/")
    let (name, screen): (String, String?) =
      switch (request.method == .post, parts.first ?? "", parts.count) {
      case (true, "tasks", 3): ("newSubtask", "/tasks/\(parts[1])")
      case (true, "tasks", _): ("sheet", "/tasks/\(parts.dropFirst().first ?? "")")
      case (true, "lists", 1): ("newList", "/lists")
      case (true, "lists", _): ("list", fields.back)
      case (true, "filters", _): ("newFilter", "/filters")
      case (true, "settings", _): ("settings", "/settings")
      case (true, "import-text", _): ("import", "/transfer")
      case (true, "sync", _): ("sync", "/sync")
      case (true, let action, _): (String(action), fields.back)
      case (_, "find", _): ("find", "/filters")
      case (_, "filter", _): ("filter", "/filters")
      case (_, "tag", _): ("tagged", "/tags")
      case (_, "statistics", _), (_, "done", _): ("statistics", "/statistics")
      case (_, "export", _): ("export", "/transfer")
      default: ("", nil)
      }
    self.init(name: name, fields: fields, failure: failure, screen: screen)
  }

  /// The words for the place beside the field; `nil` if the template has no such place.
  func spot(in template: String, _ renderer: Renderer) -> (name: String, content: [String: Any])? {
    let spot = "refused_\(name)_\(failure.field ?? "")"
    guard renderer.mentions(spot, in: [template, "page"]) else { return nil }
    return (spot, ["id": spot.replacing("_", with: "-"), "words": failure.words])
  }

  /// Adds the typed values and the words of the refusal to the content of a page.
  func fill(_ context: inout [String: Any], _ template: String, _ renderer: Renderer) {
    for (field, value) in fields.fields { context["typed_\(name)_\(field)"] = value }
    context["isRefused_\(name)"] = true
    if let spot = spot(in: template, renderer) {
      context[spot.name] = spot.content
    } else if template != "refused" {
      context["notice"] = ["words": failure.words, "isFailure": true]
    }
  }
}

/// Answers every request that the gate admits: a form only once, and a refused form with its screen.
struct Screens: RouterMiddleware {
  let service: WebService
  let routes: any HTTPResponder<BasicRequestContext>
  private let sent = SentForms()

  init(_ service: WebService, routes: any HTTPResponder<BasicRequestContext>) {
    (self.service, self.routes) = (service, routes)
  }

  /// All routes are behind this middleware, so it calls them instead of the next responder.
  func handle(
    _ request: Request, context: BasicRequestContext,
    next: (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    var request = request
    do {
      guard request.method == .post, request.hasForm else { return try await answer(request, context) }
      let bytes = try await request.formBytes(ofAtMost: Request.longestFormInBytes)
      request.body = .init(buffer: bytes)
      guard let fingerprint = request.fingerprint(ofForm: bytes) else { return try await answer(request, context) }
      return try await sent.answer(to: fingerprint) { [request] in try await answer(request, context) }
    } catch {
      let failure = Failure(error)
      if failure.status.code >= 500 { context.logger.error("\(failure.message)") }
      if request.wantsJSON { return try failure.json }
      return try await screen(of: failure, request, context)
    }
  }

  @Sendable private func answer(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    try await routes.respond(to: request, context: context)
  }

  /// The screen of the form with the typed values, or, if that screen fails, too, a page with them.
  private func screen(
    of failure: Failure, _ request: Request, _ context: BasicRequestContext
  ) async throws -> Response {
    let isPost = request.method == .post
    // A body that is too large has not been read.
    let isRead = isPost && request.hasForm && failure.status != .contentTooLarge
    let form = (isPost ? (isRead ? try? await request.form() : nil) : try? request.query()) ?? Form()
    let refused = RefusedForm(request, form, failure)
    return try await RefusedForm.$current.withValue(refused) {
      if let path = refused.screen, path != request.head.path || isPost {
        var head = request.head
        (head.method, head.path) = (.get, path)
        let screen = try? await routes.respond(to: Request(head: head, body: .init(buffer: .init())), context: context)
        if var screen, screen.status == .ok {
          screen.status = failure.status
          for header in failure.headers { screen.headers[header.name] = header.value }
          return screen
        }
      }
      var content = failure.content
      content["path"] = form.back
      if isPost { content["again"] = form.contentToSendAgain(to: request.uri.path) }
      var page = try service.page("refused", title: "This did not work", for: request) { [content] _ in content }
      page.status = failure.status
      for header in failure.headers { page.headers[header.name] = header.value }
      return page
    }
  }
}

extension Form {
  /// The fields in which people write.
  private static let texts: Set<String> = [
    "title", "notes", "tags", "due", "reminder", "repeat", "day", "start", "after", "subtask", "text", "name", "new",
    "q",
  ]

  /// The form for a page that lacks it: texts can be read and changed, everything else is sent along.
  func contentToSendAgain(to path: String) -> [String: Any]? {
    if fields.isEmpty { return nil }
    func isText(_ field: (name: String, value: String)) -> Bool {
      Self.texts.contains(field.name) && !field.value.isEmpty
    }
    return [
      "action": path,
      "texts": fields.filter(isText).map { ["name": $0.name, "value": $0.value] },
      "others": fields.filter { !isText($0) }.map { ["name": $0.name, "value": $0.value] },
    ]
  }
}
