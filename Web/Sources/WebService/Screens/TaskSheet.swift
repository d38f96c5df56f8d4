import Foundation
import Tally

/// A task with all its fields, as its sheet shows it.
struct TaskSheet {
  /// The content of `task.mustache`.
  let content: [String: Any]

  init(_ task: TaskItem, by devices: DeviceNames, in transaction: borrowing StoreReadTransaction) throws {
    let frame = try RowFrame(transaction)
    let clock = frame.clock
    let words = ChangeSentences(clock: clock)
    let lists = try transaction.lists()
    // The typed values of a refused sheet.
    let typed = RefusedForm.typed("sheet")
    func text(_ field: SheetField) -> String { typed?[field.rawValue] ?? field.text(of: task, clock) }
    var content: [String: Any] = [
      "id": task.id.text, "path": "/tasks/\(task.id.text)", "short": task.title.quotable(to: 80),
      "stamps": SheetField.stamps(of: task, clock).map { stamp in
        stamp.merging(["value": stamp["name"].flatMap { typed?[$0] } ?? stamp["value"] ?? ""]) { $1 }
      },
      "states": [TaskState.notStarted, .active, .completed, .cancelled].map {
        ["value": $0.name, "name": $0.words, "selected": $0.name == text(.state)] as [String: Any]
      },
      "priorities": [Priority.none, .low, .medium, .high].map {
        ["value": $0.name, "name": $0.name.capitalized, "selected": $0.name == text(.priority)] as [String: Any]
      },
      "lists": lists.map {
        ["id": $0.id.text, "name": $0.name.shortened(to: 60), "selected": $0.id.text == text(.list)] as [String: Any]
      },
      "subtasks": try transaction.subtasks(of: task.id).map { frame.row($0) },
      "facts": try Self.facts(task, clock, transaction.handle(of: task.id)),
      "changes": try transaction.history(of: task.id, limit: 5).map {
        let first = try words($0, limit: 1, in: transaction).first ?? ""
        let change = ["when": clock.relativeName(of: $0.date), "words": first]
        return change.merging(devices.author(of: $0).map { ["device": $0] } ?? [:]) { $1 }
      },
    ]
    content["titleText"] = text(.title)
    for field in [SheetField.notes, .day, .start, .due, .reminder, .repeat, .tags, .after] {
      content[field.rawValue] = text(field)
    }
    content["isRepeating"] = task.recurrence != nil && task.isOpen
    content["isForSeries"] = typed?["series"] == "on"
    content["wait"] = clock.wait(of: task)
    content["waitsFor"] = Self.links(to: try task.dependsOn.compactMap { try transaction.task($0) })
    content["suggestions"] = try Suggestions(for: task, in: frame, transaction).content
    content["dependents"] = try Self.dependents(of: task, in: transaction)
    content["dayType"] = StatisticsContent.typeOfField(with: text(.day))
    if let parent = try task.parentID.flatMap({ try transaction.task($0) }) {
      content["parent"] = ["id": parent.id.text, "title": parent.title.shortened(to: 80)]
    }
    self.content = content
  }

  /// The open tasks that wait for it, each group with its name.
  private static func dependents(
    of task: TaskItem, in transaction: borrowing StoreReadTransaction
  ) throws -> [[String: Any]] {
    let ring = try transaction.dependencyCycle(of: task.id).filter { $0.id != task.id }
    let groups = [
      ("Blocks", try transaction.dependents(of: task.id).filter(\.isOpen)),
      ("Waits for itself through these, so they do not block each other", ring),
    ]
    return groups.filter { !$0.1.isEmpty }.map { name, tasks in ["name": name, "tasks": links(to: tasks)] }
  }

  private static func links(to tasks: [TaskItem]) -> [[String: String]] {
    tasks.map {
      [
        "id": $0.id.text, "title": $0.title.shortened(to: 80), "short": $0.title.quotable(to: 80),
        "stateName": $0.state.words,
      ]
    }
  }

  private static func facts(_ task: TaskItem, _ clock: DateReference, _ handle: String) -> [[String: String]] {
    var facts = [("Handle", handle), ("Created", clock.relativeName(of: task.createdAt))]
    facts.append(("Changed", clock.relativeName(of: task.updatedAt)))
    if let completed = task.completedAt { facts.append(("Completed", clock.relativeName(of: completed.instant))) }
    if let cancelled = task.cancelledAt { facts.append(("Cancelled", clock.relativeName(of: cancelled.instant))) }
    facts += task.attributes.sorted { $0.key < $1.key }.map { ("@\($0.key)", "\($0.value)") }
    return facts.map { ["name": $0.0, "value": $0.1] }
  }
}
