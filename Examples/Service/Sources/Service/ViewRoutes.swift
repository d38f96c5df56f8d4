import Hummingbird
import Tally

/// Views, page by page: `/views/today?limit=20`, then the same with `&after=` and the `next` of the page before.
struct ViewRoutes {
  let store: TaskStore

  private static let maximumLimit = 1000

  func add(to router: Router<BasicRequestContext>) {
    // The view of a list is named by two parts of the path, as is that of a day.
    router.get("views/**") { [store] request, context in
      let view = try TaskView(text: context.parameters.getCatchAll().joined(separator: "/"))
      let query = request.uri.queryParameters
      let position = try query.get("after").map { token throws(TallyError) in try ViewPosition(text: token) }
      guard let limit = Int(query.get("limit") ?? "50") else { throw HTTPError(.badRequest) }
      return Answer(
        value: try store.read { try $0.page(of: view, after: position, limit: min(limit, Self.maximumLimit)) })
    }
  }
}
