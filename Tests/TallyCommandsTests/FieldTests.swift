import Foundation
import Testing

@testable import Tally

/// A field of a task that the command line forgets is found here.
struct FieldTests {
  /// The command that sets each field, whose last word is its value, for the task `91bc` of the fixture; `nil` for a
  /// field that only the store sets.
  ///
  /// Without a default: a new field must say here how it is set.
  private static func command(setting field: TaskField) -> [String]? {
    switch field {
    case .text: ["edit", "91bc", "--title", "Buy oat milk"]
    case .notes: ["edit", "91bc", "--notes", "two litres"]
    case .state: ["start", "91bc"]
    case .scheduledDate: ["move", "91bc", "--to", "2026-11-27"]
    case .dueDate: ["edit", "91bc", "--due", "2026-11-27 17:00"]
    case .reminderDate: ["edit", "91bc", "--remind", "2026-11-27"]
    case .listID: ["move", "91bc", "--list", "Work"]
    case .completedAt: ["done", "91bc"]
    case .dueDay: ["edit", "91bc", "--due", "2026-11-27"]
    case .priority: ["edit", "91bc", "--priority", "high"]
    case .tags: ["edit", "91bc", "--tag", "home"]
    case .parentID: ["edit", "91bc", "--parent", "7f3a"]
    case .recurrence: ["edit", "91bc", "--repeat", "FREQ=WEEKLY"]
    case .attributes: ["edit", "91bc", "--set", "estimate=90"]
    case .cancelledAt: ["cancel", "91bc"]
    case .dependsOn: ["edit", "91bc", "--after", "7f3a"]
    case .reminders: ["edit", "91bc", "--on", "2026-11-27", "--remind", "1 day before"]
    case .startDay: ["edit", "91bc", "--wait", "2026-11-27"]
    case .someday: ["edit", "91bc", "--wait", "someday"]
    case .series, .id, .sortOrder, .createdAt, .updatedAt, .floatingDue, .floatingReminder, .floatingReminders: nil
    }
  }

  /// The options of `add` for each field that a new task may have.
  private static func options(adding field: TaskField) -> [String]? {
    switch field {
    case .text: []
    case .notes: ["--notes", "two litres"]
    case .scheduledDate: ["--on", "2026-11-27"]
    case .dueDate: ["--due", "2026-11-27 17:00"]
    case .reminderDate: ["--remind", "2026-11-27"]
    case .listID: ["--list", "Work"]
    case .dueDay: ["--due", "2026-11-27"]
    case .priority: ["--priority", "high"]
    case .tags: ["--tag", "home", "--tag", "garden"]
    case .parentID: ["--parent", "91bc"]
    case .recurrence: ["--repeat", "FREQ=WEEKLY"]
    case .attributes: ["--set", "estimate=90"]
    case .dependsOn: ["--after", "91bc"]
    case .reminders: ["--on", "2026-11-27", "--remind", "2026-11-26", "--remind", "9:00 on the day"]
    case .startDay: ["--wait", "2026-11-27"]
    case .someday: ["--wait", "someday"]
    case .series, .id, .state, .sortOrder, .createdAt, .updatedAt, .completedAt, .cancelledAt, .floatingDue,
      .floatingReminder, .floatingReminders:
      nil
    }
  }

  @Test(arguments: TaskField.all)
  func everyFieldIsSetAndShown(field: TaskField) throws {
    guard let command = Self.command(setting: field) else { return }
    try withProgram { program in
      try Fixture.fill(program)
      let before = try program.run(["show", "91bc"]).output
      let outcome = try program.run(command + ["--json"])
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(try self.value(of: field, in: outcome) != nil)
      let labels = Self.labels(of: try program.run(["show", "91bc"]).output)
      let unchanged = labels.filter { Self.labels(of: before).contains($0) }
      #expect(unchanged.count < labels.count, "'show' does not show the field \(field)")
    }
  }

  @Test(arguments: TaskField.all)
  func everyFieldOfANewTaskHasAnOption(field: TaskField) throws {
    guard let options = Self.options(adding: field) else { return }
    try withProgram { program in
      try Fixture.fill(program)
      let outcome = try program.run(["add", "Water the plants", "--json"] + options)
      #expect(try self.value(of: field, in: outcome) != nil)
    }
  }

  /// The value of a field in the first changed task of an answer; `nil` for null and for an unknown key.
  private func value(of field: TaskField, in outcome: Outcome) throws -> Any? {
    let answer = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
    let task = try #require((answer?["changed"] as? [[String: Any]])?.first)
    let value = task[field == .text ? "title" : "\(field.name)"]
    return value is NSNull ? nil : value
  }

  /// The lines of a sheet, except that of the last change, which every change alters.
  private static func labels(of sheet: String) -> [String] {
    sheet.split(separator: "\n").map(String.init).filter { !$0.contains("changed ") }
  }
}
