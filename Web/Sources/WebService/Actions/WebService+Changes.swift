import Foundation
import Hummingbird
import Tally

extension WebService {
  func addChangeRoutes(to router: Router<BasicRequestContext>) {
    router.post("change") { [self] request, _ in
      let form = try await request.form()
      // The default button, which Enter presses in a field of the tools, must not do what another button does.
      if form["action"] == "nothing" { return Response.redirect(to: form.back) }
      let circle = try CirclePress(form)
      let ids = try circle.map { [$0.id] } ?? form.ids()
      guard !ids.isEmpty else { throw HTTPError(.badRequest, message: "No task is selected.") }
      return try await change(form, request) { transaction in
        let action = try circle.map { .state($0.state) } ?? TaskAction(form, transaction.dateReference)
        try action.apply(to: ids, in: &transaction)
      }
    }
    router.post("undo") { [self] request, _ in
      let form = try await request.form()
      let id = try form.text("change").map { try ChangeID(text: $0) }
      return try await change(form, request, words: "Undone", isUndo: true) { transaction in
        if let id { try transaction.undo(id) } else { try transaction.undo() }
      }
    }
    router.post("redo") { [self] request, _ in
      try await change(try await request.form(), request, words: "Done again") { try $0.redo() }
    }
  }

  /// Changes the store, and answers with the words of the change and the id that undoes it.
  ///
  /// - Parameters:
  ///   - form: The form, which names the screen to go back to.
  ///   - request: The request; a script gets the notice, a browser is sent back to the screen.
  ///   - words: The words before those of the history.
  ///   - path: The screen to go to instead.
  ///   - isUndo: Whether the change is an undo. An undo that is too large cannot be redone; earlier changes can still be undone.
  ///   - body: The change; a script gets the fields that it returns.
  /// - Returns: The answer.
  /// - Throws: What the change throws.
  func change<Result: Sendable>(
    _ form: Form, _ request: Request, words: String? = nil, to path: String? = nil, isUndo: Bool = false,
    _ body: @escaping @Sendable (inout StoreWriteTransaction) throws -> Result
  ) async throws -> Response {
    let (rules, isConfirmed) = (DayRules(request), form["confirmed"] == "yes")
    let (result, change): (Result, ChangeID?)
    do {
      (result, change) = try await store.write(by: rules) { transaction in
        try transaction.setActionName("tally-web")
        let result: Result
        do { result = try body(&transaction) } catch { throw transaction.naming(error) }
        guard isConfirmed || transaction.isUndoable else { throw IrreversibleChange(isUndo: isUndo) }
        return (result, try transaction.changeID)
      }
    } catch let question as IrreversibleChange {
      return try page(asking: question, about: form, request)
    }
    let back = path ?? form.back
    guard request.wantsJSON else {
      // The notice of the screen to which the browser goes has the button that undoes the change.
      let separator = back.contains("?") ? "&" : "?"
      return .redirect(to: change.map { "\(back)\(separator)done=\($0.text)" } ?? back)
    }
    let fields = result as? [SavedField]
    // An undo and a redo are no changes themselves: their words are those of the change that is undone or done again.
    guard let named = change ?? (result as? UndoResult)?.change else {
      return try .json(Answer(change: nil, words: words ?? "Nothing has changed", fields: fields))
    }
    let shown = try store.read(by: rules) { transaction in try notice(of: named, back: back, in: transaction) }
    let parts = [words, shown?["words"] as? String].compactMap(\.self)
    let undoable = change == nil ? nil : shown?["change"] as? String
    return try .json(Answer(change: undoable, words: parts.joined(separator: ": "), fields: fields))
  }

  /// Asks before a change that cannot be taken back, with the same form and a button that confirms it.
  ///
  /// The status is 409; a script gets the words, and sends the form again with `confirmed=yes`.
  private func page(asking question: IrreversibleChange, about form: Form, _ request: Request) throws -> Response {
    guard !request.wantsJSON else {
      return try .json(["question": question.words, "title": question.title], status: .conflict)
    }
    var response = try page("question", title: question.title, for: request) { _ in
      [
        "words": question.words, "action": request.uri.path, "back": form.back,
        "fields": form.fields.map { ["name": $0.name, "value": $0.value] },
      ]
    }
    response.status = .conflict
    return response
  }

  /// Runs a call of the library that commits by itself, and looks for its change, which a notice can undo.
  ///
  /// - Parameters:
  ///   - action: The name of the action, if the call gives it one.
  ///   - body: The call.
  /// - Returns: The result of the call, and its change; `nil` if nothing has changed, or if it cannot be distinguished
  ///   from another program's.
  /// - Throws: What the call throws; errors of the storage.
  func findingChange<Result: Sendable>(
    named action: String? = nil, _ body: () async throws -> Result
  ) async throws -> (result: Result, change: ChangeID?) {
    let last = try store.read { try $0.history(limit: 1).first?.id }
    let result = try await body()
    let newer = try store.read { try $0.history(limit: 20) }.prefix { $0.id != last }
    let own = newer.filter { $0.kind == .change && $0.actionName == action }
    // Another program may have committed meanwhile: no button is better than one that undoes its change.
    return (result, newer.count < 20 && own.count == 1 ? own[0].id : nil)
  }

  private struct Answer: Encodable {
    let change: String?
    let words: String
    let fields: [SavedField]?
  }
}

/// A change or an undo that is too large for the history and was not confirmed; it was rolled back.
struct IrreversibleChange: Error {
  let isUndo: Bool

  var title: String { isUndo ? "This cannot be redone" : "This cannot be undone" }

  var words: String {
    isUndo
      ? "This undo is too large to be recorded. Redo will not bring back what it takes back, "
        + "nor what you have undone before it. Everything else can still be undone."
      : "This change is too large to be undone: afterwards neither it nor any earlier change can be undone. "
        + "Export your tasks first if you may need them."
  }
}
