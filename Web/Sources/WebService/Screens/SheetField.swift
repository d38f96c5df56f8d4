import Foundation
import Tally

/// A field of a task's sheet, as the text that the form shows and sends.
enum SheetField: String, CaseIterable {
  case title, state, list, day, start, priority, due, reminder, `repeat`, tags, notes
  /// A task to wait for, too. Those that the task waits for already have buttons of their own.
  case after

  /// The text of a task's field, which a form sends if nobody changes it.
  func text(of task: TaskItem, _ clock: DateReference) -> String {
    switch self {
    case .title: task.title.withUnixLineBreaks
    case .state: task.state.name
    case .list: task.listID?.text ?? ""
    case .day: task.scheduledDate?.iso8601 ?? ""
    case .start: task.start.map { $0.day?.iso8601 ?? Self.someday } ?? ""
    case .priority: task.priority.name
    case .due: task.dueDay?.iso8601 ?? task.dueDate.map(clock.text) ?? ""
    // A date may have a comma.
    case .reminder: task.reminders.map { $0.instant.map(clock.text) ?? $0.text }.joined(separator: "; ")
    case .repeat: task.recurrence?.words ?? ""
    case .tags: task.tags.joined(separator: ", ")
    case .notes: (task.notes ?? "").withUnixLineBreaks
    case .after: ""
    }
  }

  /// The text of a start without a day.
  private static let someday = "someday"

  /// The name above the field.
  var name: String { self == .repeat ? "Repeats" : rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

  /// The name of the hidden field with the stamp of the text that was shown.
  var stampName: String { "was-\(rawValue)" }

  /// The stamps of all fields, for a form that shows them.
  static func stamps(of task: TaskItem, _ clock: DateReference) -> [[String: String]] {
    allCases.map { ["name": $0.stampName, "value": $0.text(of: task, clock).digest] }
  }
}

extension SheetField {
  /// Sets the field to the value of a text; an empty text clears it.
  ///
  /// A task to wait for is given by its id, and added to the others.
  ///
  /// - Throws: errors of the library for a text that cannot be read.
  func set(_ text: String, of task: inout TaskItem, _ reference: DateReference) throws {
    let value = text.allSatisfy(\.isWhitespace) ? nil : text
    switch self {
    case .title: task.title = text
    case .notes: task.notes = value
    case .after: if let value { task.dependsOn.insert(try UUID(form: value)) }
    case .state: task.state = try TaskState(name: text)
    case .priority: task.priority = try Priority(name: text)
    case .list: task.listID = try value.map { try UUID(form: $0) }
    case .day: task.scheduledDate = try value.map { try DateExpression($0, as: .day).day(against: reference) }
    case .start:
      task.start = try value.map { text in
        if text.trimmingCharacters(in: .whitespaces).lowercased() == Self.someday { return .someday }
        return .day(try DateExpression(text, as: .day).day(against: reference))
      }
    case .reminder:
      task.reminders = try text.split(separator: ";").filter { !$0.allSatisfy(\.isWhitespace) }.map { text in
        if let relative = try RelativeReminder(words: String(text), of: task.reminderAnchor ?? .due) {
          return .before(relative)
        }
        return .at(try DateExpression(String(text)).instant(against: reference, bareDay: .morning))
      }
    case .due:
      switch try value.map({ try DateExpression($0).resolved(against: reference) }) {
      case .day(let day): task.dueDay = day
      case .instant(let instant): task.dueDate = instant
      case nil: (task.dueDay, task.dueDate) = (nil, nil)
      }
    case .repeat:
      let written = try value.map { try WrittenRecurrence($0, reference: reference) }
      task.recurrence = nil
      written?.apply(to: &task, reference: reference)
    case .tags:
      task.tags = TagSet(
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces.union(["#"])) }.filter { !$0.isEmpty })
    }
  }
}
