import Foundation
import Hummingbird
import Tally

extension WebService {
  func addTaskRoutes(to router: Router<BasicRequestContext>) {
    router.get("tasks/:id") { [self] request, context in
      let id = try UUID(form: try context.parameters.require("id"))
      let sheet = try store.read { transaction in
        guard let task = try transaction.task(id) else { throw Self.noTask }
        return try TaskSheet(task, in: transaction).content
      }
      return try page("task", title: sheet["short"] as? String ?? "", for: request, sheet)
    }
    router.post("tasks/:id") { [self] request, context in
      let id = try UUID(form: try context.parameters.require("id"))
      let form = try await request.form()
      if form["action"] == "delete" {
        return try await change(form, request, to: "/today") { try $0.delete(id) }
      }
      return try await change(form, request, to: "/tasks/\(id.text)") { transaction in
        let edit = try TaskEdit(form, in: transaction)
        try transaction.update(id, edit.apply)
        if let state = edit.state { try transaction.setState(state, of: id) }
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

  private static var noTask: TallyError {
    TallyError(.taskNotFound, "This task does not exist any more", remedy: "Look for its deletion in the history")
  }
}

/// What a task's sheet changes.
struct TaskEdit: Sendable {
  let state: TaskState?
  let apply: @Sendable (inout TaskItem) throws -> Void

  /// Reads the fields of the sheet; one that is missing stays, an empty one is cleared.
  init(_ form: Form, in transaction: borrowing StoreWriteTransaction) throws {
    let reference = transaction.dateReference
    state = try form.text("state").map { try TaskState(name: $0) }
    let day = try form.text("day").map { try DateExpression($0, as: .day).day(against: reference) }
    let due = try form.text("due").map { try DateExpression($0).resolved(against: reference) }
    let reminder = try form.text("reminder").map {
      try DateExpression($0).instant(against: reference, bareDay: .morning)
    }
    let recurrence = try form.text("repeat").map { text in
      do { return try Recurrence(phrase: text) } catch { return try Recurrence(text: text) }
    }
    let list = try form.id("list")
    let priority = try form.text("priority").map { try Priority(name: $0) }
    let tags = TagSet(
      (form["tags"] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces.union(["#"])) }
        .filter { !$0.isEmpty })
    apply = { task in
      if let title = form["title"], title.withUnixLineBreaks != task.title.withUnixLineBreaks {
        task.title = title.withUnixLineBreaks
      }
      if let notes = form["notes"], notes.withUnixLineBreaks != (task.notes ?? "").withUnixLineBreaks {
        task.notes = form.text("notes")
      }
      if form["day"] != nil { task.scheduledDate = day }
      if let text = form["due"], text != TaskSheet.text(ofDueOf: task, Clock(reference)) {
        switch due {
        case .day(let day): task.dueDay = day
        case .instant(let instant): task.dueDate = instant
        case nil: (task.dueDay, task.dueDate) = (nil, nil)
        }
      }
      if let text = form["reminder"], text != task.reminderDate.map({ Clock(reference).text(of: $0) }) ?? "" {
        task.reminderDate = reminder
      }
      if let text = form["repeat"], text != task.recurrence?.words ?? "" { task.recurrence = recurrence }
      if form["list"] != nil { task.listID = list }
      if let priority { task.priority = priority }
      if form["tags"] != nil, tags != task.tags { task.tags = tags }
    }
  }
}
