import Foundation
import Hummingbird
import Tally

extension WebService {
  func addListRoutes(to router: Router<BasicRequestContext>) {
    router.get("lists") { [self] request, _ in try page("lists", title: "Lists", for: request, following: .store) }
    router.get("lists/:id") { [self] request, context in
      let list = try list(context)
      let typed = RefusedForm.typed("list")
      let color = typed.map(Self.color) ?? list.colorHex
      return try await show(
        .list(list), for: request,
        ["list": ["id": list.id.text, "name": typed?["name"] ?? list.name, "color": color]])
    }
    router.post("lists") { [self] request, _ in
      let form = try await request.form()
      let (name, color) = (form["name"] ?? "", Self.color(form))
      return try await change(form, request, to: "/lists") { transaction in
        try Self.refusingFields {
          if let id = form.newID, try transaction.list(id) != nil { return }
          try transaction.addList(name: name, colorHex: color, id: form.newID)
        }
      }
    }
    router.post("lists/:id") { [self] request, context in
      let (id, form) = (try list(context).id, try await request.form())
      switch form["action"] {
      case "delete": return try await change(form, request, to: "/lists") { try $0.deleteList(id) }
      case "merge":
        return try await change(form, request, to: "/lists") { try Self.mergeLists(namedLike: id, in: &$0) }
      case "up": return try await change(form, request, to: "/lists") { try Self.moveList(id, by: -1, in: &$0) }
      case "down": return try await change(form, request, to: "/lists") { try Self.moveList(id, by: 1, in: &$0) }
      default:
        return try await change(form, request, to: "/lists/\(id.text)") { transaction in
          try Self.refusingFields {
            if let name = form["name"] { try transaction.renameList(id, to: name) }
            if form["color"] != nil { try transaction.recolorList(id, to: Self.color(form)) }
          }
        }
      }
    }
  }

  private func list(_ context: BasicRequestContext) throws -> TaskList {
    let id = try UUID(form: try context.parameters.require("id"))
    guard let list = try store.read({ try $0.list(id) }) else {
      throw TallyError(
        .listNotFound, "This list does not exist any more", remedy: "Look for its deletion in the history")
    }
    return list
  }

  /// The colour without the `#` that a browser puts before it.
  private static func color(_ form: Form) -> String {
    (form["color"] ?? TaskList.defaultColorHex).trimmingPrefix("#").uppercased()
  }

  /// Merges the lists that have the name of one into the oldest of them, as `tally lists merge NAME NAME` does.
  private static func mergeLists(namedLike id: UUID, in transaction: inout StoreWriteTransaction) throws {
    let lists = try transaction.lists()
    let same = lists.first { $0.id == id }.map { lists.namesakes(of: $0.name) } ?? []
    for list in same.dropFirst() { try transaction.mergeList(list.id, into: same[0].id) }
  }

  /// Writes the fields of a list; an error gets the name of its field.
  private static func refusingFields(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as TallyError where error.code == .invalidColor {
      throw FieldRefusal(field: "color", cause: error)
    } catch {
      throw FieldRefusal(field: "name", cause: error)
    }
  }

  /// Moves a list beside its neighbour, if it has one.
  private static func moveList(_ id: UUID, by step: Int, in transaction: inout StoreWriteTransaction) throws {
    let lists = try transaction.lists()
    guard let index = lists.firstIndex(where: { $0.id == id }), lists.indices.contains(index + step) else { return }
    let neighbor = lists[index + step].id
    if step < 0 {
      try transaction.moveList(id, before: neighbor)
    } else {
      try transaction.moveList(id, after: neighbor)
    }
  }
}
