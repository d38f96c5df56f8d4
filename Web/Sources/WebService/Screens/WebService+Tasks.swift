import Foundation
import Hummingbird
import Tally

extension WebService {
  func addTaskRoutes(to router: Router<BasicRequestContext>) {
    router.get("tasks/:id") { [self] request, context in
      let id = try UUID(form: try context.parameters.require("id"))
      let devices = try await DeviceNames(of: store)
      return try page("task", title: "", for: request, following: .store) { transaction in
        guard let task = try transaction.task(id) else { throw Self.noTask }
        var content = try TaskSheet(task, by: devices, in: transaction).content
        content["title"] = content["short"]
        return content
      }
    }
    // This route is for the script, which asks while somebody types.
    router.get("tasks/:id/suggestions") { [self] request, context in
      let id = try UUID(form: try context.parameters.require("id"))
      let text = try request.query()["q"] ?? ""
      let html = try store.read(by: DayRules(request)) { transaction in
        guard let task = try transaction.task(id) else { throw Self.noTask }
        let suggestions = try Suggestions(for: task, typed: text, in: RowFrame(transaction), transaction)
        return try renderer.html("suggestions", ["suggestions": suggestions.content])
      }
      return Response.html(html)
    }
    router.post("tasks/:id") { [self] request, context in
      let id = try UUID(form: try context.parameters.require("id"))
      return try await changeSheet(of: id, try await request.form(), request)
    }
    // This route is for the script, which saves the fields of the sheet separately.
    router.post("tasks/:id/subtasks") { [self] request, context in
      let id = try UUID(form: try context.parameters.require("id"))
      let form = try await request.form()
      return try await change(form, request, to: "/tasks/\(id.text)") { transaction in
        try Self.add(form["title"]?.withUnixLineBreaks ?? "", to: id, by: form, in: &transaction)
      }
    }
  }

  private static func add(
    _ title: String, to parent: UUID, by form: Form, in transaction: inout StoreWriteTransaction
  ) throws {
    try refusing("subtask") {
      // The form was sent before, but the program ended before it answered.
      if let id = form.newID, try transaction.task(id) != nil { return }
      try transaction.add(title, id: form.newID) { $0.parentID = parent }
    }
  }

  /// Writes a sheet: its fields, a press on the circle of a sub-task or on a button that ends waiting for a task, and a
  /// sub-task that was typed.
  ///
  /// Every button saves everything that was typed.
  private func changeSheet(of id: UUID, _ form: Form, _ request: Request) async throws -> Response {
    let circle = try CirclePress(form)
    let isEnding = ["delete", "delete-only", "skip"].contains(form["action"])
    do {
      let saved = try await change(form, request, to: "/tasks/\(id.text)") { transaction in
        guard let task = try transaction.task(id) else { throw Self.noTask }
        try TaskEdit(form, of: task, transaction.dateReference).apply(to: id, in: &transaction)
        if let circle { try transaction.setState(circle.state, of: circle.id) }
        if let title = form.text("subtask") { try Self.add(title, to: id, by: form, in: &transaction) }
        return try TaskEdit.saved(form, of: id, in: &transaction)
      }
      guard isEnding, saved.status.code < 400 else { return saved }
    } catch let conflict as SheetConflict {
      return try self.page(about: conflict, request)
    }
    // It is a change of its own, so that undoing it leaves the typed values.
    return try await change(form, request, to: "/today") { transaction in
      try TaskAction(form, transaction.dateReference).apply(to: [id], in: &transaction)
    }
  }

  /// Shows both values of each field that the form and somebody else have changed, to choose from.
  private func page(about conflict: SheetConflict, _ request: Request) throws -> Response {
    guard !request.wantsJSON else {
      let lists = try store.read { try $0.lists() }
      return try .json(ConflictAnswer(conflicts: conflict.fields(lists)), status: .conflict)
    }
    var response = try page("conflict", title: "Changed elsewhere", for: request) { transaction in
      conflict.content(transaction.dateReference, try transaction.lists())
    }
    response.status = .conflict
    return response
  }

  private struct ConflictAnswer: Encodable {
    var failure = "This has been changed elsewhere, too"
    var remedy = "Choose which of the two it is to be"
    let conflicts: [SavedField]
  }

  private static var noTask: TallyError {
    TallyError(.taskNotFound, "This task does not exist any more", remedy: "Look for its deletion in the history")
  }
}
