import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// What version 0e4248f does with the documents of this one: it refuses what it would misread.
@Suite struct EarlierReaderTests {
  /// That version's reader, as far as it refuses: the keys, states and recurrences that it knew.
  private enum EarlierReader {
    static let documentKeys: Set<String> = [
      "exportDate", "appVersion", "schemaVersion", "lists", "tasks", "completions", "filters",
    ]
    static let taskKeys: Set<String> = [
      "id", "text", "notes", "state", "scheduledDate", "dueDate", "reminderDate", "listID", "sortOrder", "createdAt",
      "updatedAt", "completedAt", "dueDay", "priority", "tags", "parentID", "recurrence", "series", "attributes",
    ]

    /// The first thing that it refuses; `nil` for a document that it reads.
    static func refusal(of text: String, isLenient: Bool) throws -> String? {
      let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
      if !isLenient, let key = Set(document.keys).subtracting(documentKeys).min() { return key }
      for task in document["tasks"] as? [[String: Any]] ?? [] {
        if let state = task["state"] as? String, !["notStarted", "active", "completed"].contains(state) {
          return state
        }
        if let rule = task["recurrence"] as? String, try !Recurrence(text: rule).isOfFirstVersion { return rule }
        if !isLenient, let key = Set(task.keys).subtracting(taskKeys).min() { return key }
      }
      return nil
    }
  }

  /// A change of a task, and what that version refuses, strictly and leniently.
  struct Example: Sendable {
    let refused: String
    var refusedLeniently: String?
    let change: @Sendable (inout TaskItem) throws -> Void
  }

  static let examples = [
    Example(refused: "series") { $0.recurrence = try Recurrence(text: "FREQ=DAILY") },
    Example(refused: "startDay") { $0.start = .day(.latest) }, Example(refused: "someday") { $0.start = .someday },
    Example(refused: "dependsOn") { $0.dependsOn = [.lowest] },
    Example(refused: "reminders") { $0.reminders = [.at(.earliest), .at(.latest)] },
    Example(refused: "cancelled", refusedLeniently: "cancelled") { $0.state = .cancelled },
    Example(refused: "series", refusedLeniently: "FREQ=DAILY;BYMONTH=12") {
      $0.recurrence = try Recurrence(text: "FREQ=DAILY;BYMONTH=12")
    },
  ]

  @Test(arguments: examples) func whatIsNewIsRefused(example: Example) throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        _ = try transaction.add("plain") { ($0.priority, $0.tags, $0.dueDay) = (.high, ["a"], .latest) }
      }
      let before = try store.exportedText()
      #expect(try EarlierReader.refusal(of: before, isLenient: false) == nil)
      try store.writeAndWait { _ = try $0.add("new") { try example.change(&$0) } }
      let text = try store.exportedText()
      #expect(try EarlierReader.refusal(of: text, isLenient: false) == example.refused)
      #expect(try EarlierReader.refusal(of: text, isLenient: true) == example.refusedLeniently)
      // Every new key is one that this version knows, and the reader above is complete for the others.
      #expect(Set(TaskField.all.map { "\($0.name)" }).isSuperset(of: EarlierReader.taskKeys))
    }
  }
}
