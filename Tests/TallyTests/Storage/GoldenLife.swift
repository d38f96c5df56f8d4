import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallyTestSupport

@testable import Tally

/// A store with what tasks have in a person's life: series, other reminders, starts, dependencies and cancellations.
///
/// Everything is fixed, and so is every byte. The rows of the store and its export are kept beside this file, so that later
/// versions are tested with what this one left; those of the version before have the series as their tasks describe them.
struct GoldenLife {
  /// Which version left a store and an export.
  enum Version: String, CaseIterable {
    /// A version whose tasks describe their series, and have nothing that is not in ``TaskItem/isOfFirstVersion``.
    case described = "golden-described"
    /// This version.
    case life = "golden-life"

    /// The file with the rows of the store.
    var rows: URL { Self.folder.appendingPathComponent("\(rawValue).txt") }
    /// The file with the export.
    var export: URL { Self.folder.appendingPathComponent("\(rawValue).json") }
    /// The file with what its tasks show: in two zones a title, then when the open task and the two after it are due.
    var shown: URL { Self.folder.appendingPathComponent("\(rawValue)-shown.txt") }

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  }

  let clock = TestClock((try? Timestamp(iso8601: "2026-03-27T08:00:00Z")) ?? .earliest)
  private static func day(_ text: String) throws -> CalendarDay { try CalendarDay(iso8601: text) }

  /// The store's configuration, for a person in a zone.
  func configuration(_ zone: String = "Europe/Berlin") -> TaskStore.Configuration {
    .testing(clock: clock, timeZone: zone)
  }

  /// Writes the rows and the export of a version to the files where they are kept.
  func record(_ version: Version) throws {
    try write(version, rows: version.rows, export: FilePath(version.export.path))
  }

  /// Writes the rows and the export of a version.
  func write(_ version: Version, rows: URL, export: FilePath) throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let store = try TaskStore(at: path, configuration: configuration())
      try store.environment.write { base in
        let header = StoreHeader(storeID: GoldenStore.id(0xFE), sequence: 0)
        try store.tables.meta.put(header, forKey: .header, in: &base)
      }
      try version == .described ? fillAsBefore(store) : fill(store)
      try store.export(to: export, format: .json)
      try store.close()
      try StoredRows(ofStoreAt: path).write(to: rows)
    }
  }

  /// Each step happens a second after the previous one.
  private func write(_ store: TaskStore, _ body: (inout StoreWriteTransaction) throws -> Void) throws {
    clock.now = clock.now.adding(seconds: 1)
    try store.writeAndWait(body)
  }

  private func task(_ number: UInt8, _ title: String, every rule: String, due: String) throws -> TaskItem {
    var task = TaskItem(id: GoldenStore.id(number), title: title, createdAt: clock.now)
    task.recurrence = try Recurrence(text: rule)
    try task.setDue(due)
    return task
  }

  /// Adds a task with a fixed id.
  @discardableResult
  private func add(
    _ number: UInt8, _ title: String, to transaction: inout StoreWriteTransaction,
    _ change: (inout TaskItem) throws -> Void = { _ in }
  ) throws -> TaskItem {
    _ = try transaction.add(TaskDraft(id: GoldenStore.id(number), title: title))
    return try transaction.update(GoldenStore.id(number), keepingReminder: true, change)
  }

  /// The tasks of a version that knew no series, written as that version left them.
  private func fillAsBefore(_ store: TaskStore) throws {
    var pills = try task(1, "Pills", every: "FREQ=DAILY", due: "2026-03-28T02:30:00+01:00")
    pills.reminderDate = pills.dueDate?.adding(seconds: -900)
    var review = try task(2, "Review", every: "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH", due: "2026-03-30")
    (review.priority, review.tags, review.sortOrder) = (.high, ["work"], 1 << 20)
    var plants = try task(3, "Plants", every: "after 3 days", due: "2026-03-29")
    (plants.scheduledDate, plants.sortOrder) = (try Self.day("2026-03-28"), 2 << 20)
    var rent = try task(4, "Rent", every: "FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3", due: "2026-03-31T18:00:00+02:00")
    rent.sortOrder = 3 << 20
    let tasks = [pills, review, plants, rent].map { task in
      var task = task
      task.updateSeries(replacing: nil, in: configuration().calendar)
      return task
    }
    try write(store) { try $0.insert(contentsOf: tasks) }
    // The second task of a series, beside the first.
    var (done, next) = (pills, pills)
    done.series = RecurrenceSeries(startingWith: pills.id, on: try Self.day("2026-03-28"))
    next.series = RecurrenceSeries(
      id: pills.id, start: try Self.day("2026-03-28"), occurrence: try Self.day("2026-03-29"), index: 1)
    next.id = next.series?.taskID ?? next.id
    (next.dueDate, next.reminderDate) = (
      try Timestamp(iso8601: "2026-03-29T03:30:00+02:00"), try Timestamp(iso8601: "2026-03-29T03:15:00+02:00")
    )
    done.state = .completed
    done.completedAt = OffsetTimestamp(clock.now, in: configuration().calendar.timeZone)
    let (first, second) = (done, next)
    try write(store) { transaction in
      try transaction.put(first)
      try transaction.put(second)
    }
  }
}

extension GoldenLife {
  /// The tasks of this version.
  private func fill(_ store: TaskStore) throws {
    let health = GoldenStore.id(0xB0)
    try write(store) { _ = try $0.addList(name: "Health", id: health) }
    try fillSeries(store, in: health)
    try fillRules(store)
    try write(store) { transaction in
      let paint = try add(30, "Buy paint", to: &transaction)
      try add(31, "Paint", to: &transaction) { $0.dependsOn = [paint.id] }
      try add(32, "Sell the car", to: &transaction) { $0.start = .someday }
      try add(33, "Pack", to: &transaction) { task in
        task.start = .day(try Self.day("2026-06-01"))
        task.dueDay = try Self.day("2026-06-10")
        task.reminders = try ["1 day before", "9:00 on the day", "2026-06-09T18:00:00Z"].map { try Reminder(text: $0) }
      }
      let party = try add(34, "Party", to: &transaction)
      try transaction.cancel(party.id)
    }
  }

  /// Series of which tasks were done, skipped and changed.
  private func fillSeries(_ store: TaskStore, in health: UUID) throws {
    try write(store) { transaction in
      let pills = try add(10, "Pills", to: &transaction) { task in
        (task.recurrence, task.listID) = (try Recurrence(text: "FREQ=DAILY"), health)
        task.dueDate = try Timestamp(iso8601: "2026-03-27T02:30:00+01:00")
        task.reminderDate = task.dueDate
        task.otherReminders = [
          .at(try Timestamp(iso8601: "2026-03-27T02:45:00+01:00")), try Reminder(text: "1 hour before"),
        ]
      }
      try transaction.complete(pills.id)
    }
    try write(store) { transaction in
      let call = try add(11, "Call", to: &transaction) { task in
        task.recurrence = try Recurrence(text: "FREQ=WEEKLY;BYDAY=MO,TH")
        task.dueDate = try Timestamp(iso8601: "2026-03-30T20:00:00+02:00")
      }
      try transaction.setTimeZone(TimeZone(identifier: "America/New_York"), ofSeriesWith: call.id)
      try transaction.skip(call.id)
      guard let next = try transaction.successor(of: call) else { return }
      try transaction.update(next.id) { ($0.title, $0.notes) = ("Call twice", "once") }
    }
    try write(store) { transaction in
      try add(12, "Taxes", to: &transaction) { task in
        task.recurrence = try Recurrence(text: "FREQ=YEARLY")
        task.dueDay = try Self.day("2026-05-31")
        task.start = .day(try Self.day("2026-04-01"))
      }
    }
    // By hours, a place has a step.
    try write(store) { transaction in
      let drops = try add(13, "Drops", to: &transaction) { task in
        task.recurrence = try Recurrence(text: "FREQ=HOURLY;INTERVAL=8")
        task.dueDate = try Timestamp(iso8601: "2026-03-27T22:00:00+01:00")
      }
      try transaction.complete(drops.id)
    }
  }

  /// A task for each kind of rule that earlier versions cannot read.
  private func fillRules(_ store: TaskStore) throws {
    let rules = [
      "FREQ=DAILY;BYMONTH=3,4;EXDATE=20260329,20260401", "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1",
      "FREQ=YEARLY;BYYEARDAY=-1", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
    ]
    for (index, rule) in rules.enumerated() {
      let task = try task(UInt8(20 + index), "Rule \(index)", every: rule, due: "2026-03-28")
      try write(store) { transaction in
        try add(UInt8(20 + index), task.title, to: &transaction) { added in
          (added.recurrence, added.dueDay) = (task.recurrence, task.dueDay)
        }
      }
    }
  }
}
