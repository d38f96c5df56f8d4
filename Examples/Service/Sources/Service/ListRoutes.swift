import Hummingbird
import Tally

/// Lists: reading and adding them.
struct ListRoutes {
  let store: TaskStore

  private struct NewList: Decodable, Sendable {
    let name: String
    let colorHex: String?
  }

  func add(to router: Router<BasicRequestContext>) {
    router.get("lists") { [store] _, _ in Answer(value: try store.read { try $0.lists() }) }
    router.post("lists") { [store] request, context in
      let new = try await request.body(as: NewList.self, context)
      let (list, change) = try await store.write { transaction in
        let color = new.colorHex ?? TaskList.defaultColorHex
        return (try transaction.addList(name: new.name, colorHex: color), try transaction.changeID)
      }
      return Answer(value: list, status: .created, change: change)
    }
  }
}
