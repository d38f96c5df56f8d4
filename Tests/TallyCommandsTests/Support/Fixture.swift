import Foundation
import SystemPackage
import Tally
import TallyTestSupport

/// A small store with a bit of everything, whose ids are fixed.
enum Fixture {
  /// Creates the store that a program will open.
  static func fill(_ program: Program) throws {
    let clock = TestClock(try Timestamp(iso8601: "2026-11-18T06:00:00Z"))
    let store = try TaskStore(at: program.store, configuration: .testing(clock: clock))
    try store.writeAndWait { transaction in
      let work = try transaction.addList(name: "Work", colorHex: "FF9500", id: id("11111111"))
      let home = try transaction.addList(name: "Home 家", id: id("22222222"))
      for draft in try drafts(work: work.id, home: home.id) { _ = try transaction.add(draft) }
      try transaction.start(id("00007f3a"))
      try transaction.complete(id("00000d4e"), at: OffsetTimestamp(iso8601: "2026-11-21T09:05:00+03:00"))
      try transaction.complete(id("00002e11"), at: OffsetTimestamp(iso8601: "2026-11-19T18:30:00-05:00"))
    }
    try store.close()
  }

  /// Creates a store with values and an index of an application, besides one task.
  static func fillWithValues(_ program: Program) throws {
    var configuration = TaskStore.Configuration.testing()
    configuration.indexes = [TaskIndex("byTitle", version: 3) { [$0.title] }]
    let store = try TaskStore(at: program.store, configuration: configuration)
    try store.writeAndWait { transaction in
      _ = try transaction.add(TaskDraft(id: id("000091bc"), title: "Buy milk"))
      try transaction.setValue(["theme": "dark", "language": "Türkçe"], forKey: "look", in: "app.settings")
      try transaction.setValue(
        "a text\nof two lines and \u{1B}[31mcolour, too long for a line of so few columns",
        forKey: "note", in: "app.settings")
      try transaction.setBytes([0, 255, 7], forKey: "token", in: "app.settings")
      for number in [256, -1] { try transaction.setValue(number, forKey: number, in: "app.numbers") }
    }
    try store.close()
  }

  /// The prefix of the fixture's ids, which ids created by the program do not have.
  static let idPrefix = "01a1f000-0000-7000-8000-0000"

  /// An id that ends in these eight digits.
  static func id(_ tail: String) throws -> UUID {
    guard let id = UUID(uuidString: idPrefix + tail) else { throw InvalidID(tail: tail) }
    return id
  }

  struct InvalidID: Error {
    let tail: String
  }

  private static func drafts(work: UUID, home: UUID) throws -> [TaskDraft] {
    let today = try CalendarDay(iso8601: "2026-11-21")
    return [
      TaskDraft(
        id: try id("00007f3a"),
        title: "Draft the quarterly report",
        notes: "Ask Ayşe for the figures.\nTwo pages.",
        scheduledDate: today,
        dueDate: try Timestamp(iso8601: "2026-11-21T14:00:00Z"),
        listID: work
      ),
      TaskDraft(id: try id("000091bc"), title: "Buy milk", scheduledDate: today),
      TaskDraft(id: try id("00000d4e"), title: "Call the bank", scheduledDate: today),
      TaskDraft(
        id: try id("00005c21"),
        title: "Überweisung 漢字 👨‍👩‍👧‍👦 an die Versicherung",
        scheduledDate: try today.adding(days: 1),
        dueDate: try Timestamp(iso8601: "2026-11-20T20:59:59Z"),
        listID: home
      ),
      TaskDraft(
        id: try id("0000be77"),
        title: "Évier: \u{1B}[31mred\nsecond line",
        scheduledDate: try today.adding(days: 4)
      ),
      TaskDraft(
        id: try id("000a44f0"),
        title: "Renew the passport",
        scheduledDate: try today.adding(days: 41),
        reminderDate: try Timestamp(iso8601: "2026-12-30T06:00:00Z")
      ),
      TaskDraft(id: try id("000b44f0"), title: "Return the library books", scheduledDate: try today.adding(days: -3)),
      TaskDraft(id: try id("00002e11"), title: "Send the invoice", listID: work),
      TaskDraft(
        id: try id("0000c0de"),
        title: "Read about B-trees",
        dueDate: try Timestamp(iso8601: "2026-11-27T20:59:59Z")
      ),
    ]
  }
}
