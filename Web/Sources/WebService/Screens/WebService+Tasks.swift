import Foundation
import Hummingbird
import Tally

extension WebService {
  func addTaskRoutes(to router: Router<BasicRequestContext>) {
    router.get("tasks/:id") { [self] request, context in
      let id = try UUID(form: try context.parameters.require("id"))
      return try page("task", title: "", for: request, following: .store) { transaction in
        guard let task = try transaction.task(id) else { throw Self.noTask }
        var content = try TaskSheet(task, in: transaction).content
        content["title"] = content["short"]
        return content
      }
    }
    router.post("tasks/:id") { [self] request, context in
      let id = try UUID(form: try context.parameters.require("id"))
      let form = try await request.form()
      if form["action"] == "delete" {
        return try await change(form, request, to: "/today") { try $0.delete(id) }
      }
      do {
        return try await change(form, request, to: "/tasks/\(id.text)") { transaction in
          guard let task = try transaction.task(id) else { throw Self.noTask }
          try TaskEdit(form, of: task, transaction.dateReference).apply(to: id, in: &transaction)
        }
      } catch let conflict as SheetConflict {
        return try self.page(about: conflict, request)
      }
    }
    router.post("tasks/:id/subtasks") { [self] request, context in
      let id = try UUID(form: try context.parameters.require("id"))
      let form = try await request.form()
      return try await change(form, request, to: "/tasks/\(id.text)") { transaction in
        try transaction.add(form["title"]?.withUnixLineBreaks ?? "") { $0.parentID = id }
      }
    }
  }

  /// Shows both values of each field that the form and somebody else have changed, to choose from.
  private func page(about conflict: SheetConflict, _ request: Request) throws -> Response {
    guard !request.wantsJSON else {
      throw HTTPError(.conflict, message: "The task has been changed elsewhere: load its sheet again.")
    }
    var response = try page("conflict", title: "Changed elsewhere", for: request) { transaction in
      conflict.content(transaction.dateReference, try transaction.lists())
    }
    response.status = .conflict
    return response
  }

  private static var noTask: TallyError {
    TallyError(.taskNotFound, "This task does not exist any more", remedy: "Look for its deletion in the history")
  }
}
