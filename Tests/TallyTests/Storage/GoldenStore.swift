import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallyTestSupport

@testable import Tally

/// A store in which everything is fixed: identifiers, clock, texts, and therefore every byte.
struct GoldenStore {
  /// One entry of a table, as stored by liblmdb.
  struct Entry: Equatable {
    let table: String
    let key: [UInt8]
    let value: [UInt8]
  }

  let clock = TestClock.noon
  let start = TestClock.noon.now
  let home = id(0xA0)
  let books = id(0xA1)

  static let attributes: [String: AttributeValue] = [
    "text": "ü", "integer": -1, "real": 0.5, "flag": true, "instant": .instant(.earliest), "day": .day(.latest),
    "bytes": .bytes([0, 255]),
  ]

  static func id(_ byte: UInt8) -> UUID {
    UUID(high: 0x0193_F1C2_89AB_7DEF, low: 0x8000_0000_0000_0000 | UInt64(byte))
  }

  /// Creates the store, returns its entries and removes it.
  func entries() throws -> (entries: [Entry], tasks: [TaskItem]) {
    try withStore(.testing(clock: clock)) { store in
      try fixIdentity(of: store)
      try fill(store)
      return (try Tables.names.flatMap { try entries(of: $0, in: store) }, try store.read { try $0.view(.all).tasks })
    }
  }

  private func fixIdentity(of store: TaskStore) throws {
    try store.environment.write { base in
      let meta = try store.tables.meta
      let header = StoreHeader(storeID: Self.id(0xFF), sequence: 0)
      try meta.put(header, forKey: .header, in: &base)
    }
  }

  private func fill(_ store: TaskStore) throws {
    try store.writeAndWait { transaction in
      _ = try transaction.addList(name: "Home", id: home)
      _ = try transaction.addList(name: "Bücher 📚", colorHex: "00ff0a", id: books)
    }
    try write(store) { transaction in
      _ = try transaction.add(TaskDraft(id: Self.id(1), title: "water\0plants", notes: ""))
    }
    try write(store) { transaction in
      let draft = TaskDraft(
        id: Self.id(2), title: "pay the rent", notes: "with çare", scheduledDate: transaction.today,
        dueDate: start.adding(seconds: 3_600), reminderDate: start.adding(seconds: -3_600), listID: home)
      try transaction.start(try transaction.add(draft).id)
    }
    try write(store) { transaction in
      _ = try transaction.add(
        TaskDraft(id: Self.id(3), title: "read", dueDate: .latest, reminderDate: .latest, listID: books))
      try transaction.complete(
        Self.id(3), at: try OffsetTimestamp(start.adding(seconds: -86_400), utcOffsetInMinutes: -210))
      try transaction.move(Self.id(3), toList: home)
    }
    try write(store) { transaction in
      let day = try CalendarDay(iso8601: "1969-12-31")
      _ = try transaction.add(TaskDraft(id: Self.id(4), title: "long ago", scheduledDate: day, dueDate: .earliest))
    }
    try write(store) { transaction in
      _ = try transaction.add(TaskDraft(id: Self.id(5), title: "gone", listID: books))
      try transaction.complete(Self.id(5))
      try transaction.delete(Self.id(5))
    }
    try write(store) { transaction in
      // As a version without series wrote it.
      try transaction.insert(contentsOf: expectedTasks().suffix(1))
    }
  }

  /// Each step happens a second after the previous one.
  private func write(_ store: TaskStore, _ body: (inout StoreWriteTransaction) throws -> Void) throws {
    clock.now = clock.now.adding(seconds: 1)
    try store.writeAndWait(body)
  }

  private func entries(of table: String, in store: TaskStore) throws -> [Entry] {
    let database = try Database<[UInt8], [UInt8]>(opening: table, in: store.environment)
    var entries: [Entry] = []
    try store.environment.read { transaction in
      var cursor = try database.cursor(in: transaction)
      var isAtEntry = try cursor.moveToFirst()
      while isAtEntry {
        entries.append(Entry(table: table, key: try cursor.key(), value: try cursor.value()))
        isAtEntry = try cursor.next()
      }
    }
    return entries
  }
}

extension GoldenStore {
  /// The expected result of the steps, written by hand.
  func expectedTasks() throws -> [TaskItem] {
    let spacing: Int64 = 1 << 20
    func time(_ seconds: Int64) -> Timestamp { start.adding(seconds: seconds) }
    let completedAt = try OffsetTimestamp(time(-86_400), utcOffsetInMinutes: -210)
    return [
      TaskItem(id: Self.id(1), title: "water\0plants", notes: "", createdAt: time(1)),
      TaskItem(
        id: Self.id(2), title: "pay the rent", notes: "with çare", state: .active,
        scheduledDate: try CalendarDay(iso8601: "2026-11-21"), dueDate: time(3_600), reminderDate: time(-3_600),
        listID: home, createdAt: time(2)),
      TaskItem(
        id: Self.id(3), title: "read", state: .completed, dueDate: .latest, reminderDate: .latest, listID: home,
        sortOrder: spacing, createdAt: time(3), completedAt: completedAt),
      TaskItem(
        id: Self.id(4), title: "long ago", scheduledDate: try CalendarDay(iso8601: "1969-12-31"), dueDate: .earliest,
        createdAt: time(4)),
      TaskItem(
        id: Self.id(6), title: "renew", listID: home, sortOrder: 2 * spacing, createdAt: time(6),
        dueDay: try CalendarDay(iso8601: "2026-12-01"), priority: .high, tags: ["Home", "çay"], parentID: Self.id(2),
        recurrence: try Recurrence(text: "FREQ=YEARLY"),
        series: RecurrenceSeries(
          id: Self.id(6), start: try CalendarDay(iso8601: "2026-12-01"),
          occurrence: try CalendarDay(iso8601: "2026-12-01"), index: 0),
        attributes: Self.attributes),
    ]
  }
}
