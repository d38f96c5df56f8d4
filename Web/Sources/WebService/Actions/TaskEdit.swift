import Foundation
import Tally

/// The changes that a person has made on a task's sheet.
///
/// The form has a stamp of each value that it showed. A field is written only if the person changed it, so that an old
/// sheet puts nothing back; a field that somebody else has changed meanwhile is a conflict, about which the person decides.
struct TaskEdit: Sendable {
  /// A field that this form and somebody else have changed.
  struct Conflict {
    let field: SheetField
    let own: String
    let now: String
  }

  /// The fields that the form changes, with their texts.
  private let changes: [(field: SheetField, text: String)]
  /// Whether the changes of a repeating task are meant for those that follow, too.
  private let isForSeries: Bool
  /// The task for which this one is not to wait any more.
  private let released: UUID?

  /// Compares a form with the task as it is now.
  ///
  /// - Throws: ``SheetConflict``.
  init(_ form: Form, of task: TaskItem, _ reference: DateReference) throws {
    var (changes, conflicts): ([(field: SheetField, text: String)], [Conflict]) = ([], [])
    for field in SheetField.allCases {
      guard let text = form[field.rawValue]?.withUnixLineBreaks else { continue }
      let (now, stamp) = (field.text(of: task, reference), form[field.stampName])
      // Without a stamp the field gets the value of the form, whatever it was.
      if text == now || stamp == text.digest { continue }
      if let stamp, stamp != now.digest { conflicts.append(Conflict(field: field, own: text, now: now)) }
      changes.append((field, text))
    }
    (self.changes, isForSeries, released) = (changes, form["series"] == "on", try form.id("release"))
    guard conflicts.isEmpty else {
      throw SheetConflict(task: task, conflicts: conflicts, changes: changes, isForSeries: isForSeries)
    }
  }

  /// Writes the changes.
  ///
  /// - Throws: ``FieldRefusal`` with the field that is refused.
  func apply(to id: UUID, in transaction: inout StoreWriteTransaction) throws {
    let reference = transaction.dateReference
    let texts = try changes.filter { $0.field != .state }.map { field, text in
      guard field == .after, !text.allSatisfy(\.isWhitespace) else { return (field: field, text: text) }
      let other = try refusing(field.rawValue) { try transaction.task(meantBy: text, besides: id) }
      return (field: field, text: other.id.text)
    }
    let hasReminder = texts.contains { $0.field == .reminder }
    do {
      let change = { (task: inout TaskItem) in
        for (field, text) in texts { try refusing(field.rawValue) { try field.set(text, of: &task, reference) } }
        if let released { task.dependsOn.remove(released) }
      }
      if isForSeries {
        try transaction.updateSeries(of: id, keepingReminder: hasReminder, change)
      } else {
        try transaction.update(id, keepingReminder: hasReminder, change)
      }
    } catch let refusal as FieldRefusal {
      throw refusal
    } catch {
      // The task as a whole is refused. Writing the fields one by one finds the first one that is refused.
      for (field, text) in texts {
        try refusing(field.rawValue) { try transaction.update(id) { try field.set(text, of: &$0, reference) } }
      }
      throw error
    }
    // The state is set separately, because its rules concern sub-tasks and series.
    if let state = changes.first(where: { $0.field == .state }) {
      try refusing(state.field.rawValue) { try transaction.setState(try TaskState(name: state.text), of: id) }
    }
  }

  /// The fields that a form has, with their values after the change.
  static func saved(
    _ form: Form, of id: UUID, in transaction: inout StoreWriteTransaction
  ) throws -> [SavedField] {
    guard let task = try transaction.task(id) else { return [] }
    let reference = transaction.dateReference
    return SheetField.allCases.filter { form[$0.rawValue] != nil }.map {
      SavedField($0, $0.text(of: task, reference))
    }
  }
}

/// The stored value of a field of a sheet, for the script that shows it.
struct SavedField: Encodable, Sendable {
  let name: String
  let text: String
  let stamp: String
  /// The value as people read it.
  let shown: String

  init(_ field: SheetField, _ text: String, shown: String? = nil) {
    (name, self.text, stamp, self.shown) = (field.rawValue, text, text.digest, shown ?? text)
  }
}

/// A sheet was saved whose fields somebody else has changed meanwhile; nothing was written.
struct SheetConflict: Error {
  let task: TaskItem
  let conflicts: [TaskEdit.Conflict]
  let changes: [(field: SheetField, text: String)]
  let isForSeries: Bool

  /// The fields in conflict with their stored values, for a script.
  func fields(_ lists: [TaskList]) -> [SavedField] {
    conflicts.map { conflict in
      let name = lists.first { $0.id.text == conflict.now }?.name.shortened(to: 60)
      return SavedField(conflict.field, conflict.now, shown: conflict.field == .list ? name ?? "" : nil)
    }
  }

  /// The content of `conflict.mustache`: the form once more, with both values of each conflict to choose from.
  func content(_ clock: DateReference, _ lists: [TaskList]) -> [String: Any] {
    func shown(_ field: SheetField, _ text: String) -> String {
      guard field == .list else { return text }
      return lists.first { $0.id.text == text }?.name.shortened(to: 60) ?? ""
    }
    let open = Set(conflicts.map(\.field))
    return [
      "id": task.id.text, "short": task.title.quotable(to: 80), "stamps": SheetField.stamps(of: task, clock),
      "conflicts": conflicts.map { conflict in
        [
          "field": conflict.field.rawValue, "name": conflict.field.name,
          "now": conflict.now, "nowShown": shown(conflict.field, conflict.now), "nowIsEmpty": conflict.now.isEmpty,
          "own": conflict.own, "ownShown": shown(conflict.field, conflict.own), "ownIsEmpty": conflict.own.isEmpty,
        ] as [String: Any]
      },
      "isForSeries": isForSeries,
      "changes": changes.filter { !open.contains($0.field) }.map { ["name": $0.field.rawValue, "value": $0.text] },
    ]
  }
}
