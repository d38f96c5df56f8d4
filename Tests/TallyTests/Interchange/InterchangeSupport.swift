import Foundation
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// Stores with nasty contents, and documents as text, for the tests of export and import.
enum Samples {
  static let now = Timestamp(clamping: 1_795_251_600_000_000)

  /// Titles that broke other programs: each must come back unchanged.
  static let nastyTexts = [
    "plain", " leading and trailing ", "quotes \" and \\ backslash /", "line\nfeed\r\ncarriage\ttab", "\u{0}",
    "a\u{0}b", "\u{1}\u{1F}\u{7F}\u{80}\u{9F}", "\u{200F}\u{202E}right to left\u{202C}", "\u{301}", "e\u{301}", "é",
    "👩‍👩‍👧‍👦🏳️‍🌈", "\u{FFFF}\u{FFFE}\u{FEFF}", "\u{10FFFF}\u{1F600}", "x\u{2028}\u{2029}", "çiçekleri sula 水をやる",
    "\\u0041 \\n", "</script>", "{\"text\": null}", String(repeating: "long ", count: 20_000),
  ]

  static func task(_ title: String, id: UUID, order: Int64, state: TaskState = .notStarted) -> TaskItem {
    TaskItem(
      id: id,
      title: title,
      state: state,
      sortOrder: order,
      createdAt: now.adding(seconds: -86_400),
      updatedAt: now,
      completedAt: state == .completed ? OffsetTimestamp(now, in: .gmt) : nil
    )
  }

  /// Random tasks in the given lists; each optional field is sometimes absent.
  static func tasks(_ count: Int, in lists: [TaskList], using generator: inout SeededGenerator) -> [TaskItem] {
    (0..<count).map { number in
      let created = now.adding(microseconds: -Int64.random(in: 0...1_000_000_000_000_000, using: &generator))
      let state = TaskState.allCases.randomElement(using: &generator) ?? .active
      let offset = Int.random(in: -720...840, using: &generator)
      return TaskItem(
        id: generator.uuid(),
        title: nastyTexts.randomElement(using: &generator) ?? "x",
        notes: generator.oneIn(2) ? nil : nastyTexts.randomElement(using: &generator),
        state: state,
        scheduledDate: generator.oneIn(2)
          ? nil : CalendarDay(clamping: .random(in: 20_000...21_000, using: &generator)),
        dueDate: generator.oneIn(2) ? nil : created.adding(seconds: 1_000),
        reminderDate: generator.oneIn(2) ? nil : created.adding(microseconds: 1_001),
        listID: generator.oneIn(3) ? nil : lists.randomElement(using: &generator)?.id,
        sortOrder: Int64(number) * 1_000 - 50_000,
        createdAt: created,
        updatedAt: created.adding(microseconds: 5),
        completedAt: state == .completed
          ? try? OffsetTimestamp(created.adding(seconds: 9), utcOffsetInMinutes: offset) : nil,
        cancelledAt: state == .cancelled
          ? try? OffsetTimestamp(created.adding(seconds: 8), utcOffsetInMinutes: offset) : nil
      )
    }
  }

  /// Fills a store with lists, tasks, completions of deleted tasks and tasks that have changed their list since.
  static func fill(_ store: TaskStore, taskCount: Int, using generator: inout SeededGenerator) throws {
    try store.writeAndWait { transaction in
      let lists = try ["Home", "Work \"x\"", "\u{202E}庭"].map { try transaction.addList(name: $0, colorHex: "ff8800") }
      let tasks = Self.tasks(taskCount, in: lists, using: &generator)
      try transaction.insert(contentsOf: tasks)
      for task in tasks where generator.oneIn(8) { try transaction.delete(task.id) }
      // Whatever the seed, there is one of each.
      let (deleted, moved) = (generator.uuid(), generator.uuid())
      for id in [deleted, moved] {
        try transaction.add("completed", id: id) { $0.listID = lists[0].id }
        try transaction.complete(id)
      }
      try transaction.delete(deleted)
      try transaction.move(moved, toList: lists[1].id)
      let left = tasks.map(\.id)
      for id in left where generator.oneIn(8) {
        if try transaction.task(id) != nil {
          try transaction.move(id, toList: lists.randomElement(using: &generator)?.id)
        }
      }
    }
  }
}

extension TaskStore {
  /// An export as text.
  func exportedText(_ format: InterchangeFormat = .json, matching filter: TaskFilter? = nil) throws -> String {
    try withTemporaryDirectory { directory in
      let file = directory.appending("export")
      try export(to: file, format: format, matching: filter)
      return String(decoding: try Data(contentsOf: URL(filePath: file.string)), as: UTF8.self)
    }
  }

  /// Imports a text.
  @discardableResult
  func importText(
    _ text: String,
    _ format: InterchangeFormat = .json,
    _ options: ImportOptions = ImportOptions(),
    report: ImportedRecord.Observer? = nil
  ) throws -> ImportSummary {
    try importBytes(Array(text.utf8), format, options, report: report)
  }

  /// Imports bytes, which need not be a text.
  @discardableResult
  func importBytes(
    _ bytes: [UInt8],
    _ format: InterchangeFormat = .json,
    _ options: ImportOptions = ImportOptions(),
    report: ImportedRecord.Observer? = nil
  ) throws -> ImportSummary {
    try withTemporaryDirectory { directory in
      let file = directory.appending("import")
      try Data(bytes).write(to: URL(filePath: file.string))
      return try importDocument(from: file, format: format, options: options, report: report)
    }
  }
}

extension String {
  /// A JSON export without the line of its date.
  var withoutExportDate: String {
    replacing(/"exportDate": "[^"]*"/, with: "\"exportDate\": \"\"", maxReplacements: 1)
  }
}
