public import Foundation
public import LMDB
public import TallyEngine

/// A consistent view of a store; a write transaction can also change it.
///
/// The store passes a transaction to the closure of `read` or `write`, and it cannot outlive the closure. Everything
/// read in one closure comes from the same snapshot; a write transaction also sees its own changes.
///
/// ```swift
/// let today = try store.read { try $0.view(.today) }
/// let task = try store.writeAndWait { try $0.add("Water the plants", to: .today) }
/// ```
///
/// `Base` is the kind of access; use the names `StoreReadTransaction` and `StoreWriteTransaction`.
public struct StoreTransaction<Base: LMDBTransaction & ~Copyable>: ~Copyable {
  var base: Base
  let tables: Tables
  /// The instant at which this transaction began, by the store's clock; views and changes use it as the current time.
  public let now: Timestamp
  /// The calendar, with its time zone and first weekday, that defines days and weeks.
  public private(set) var calendar: Calendar
  /// The minutes after midnight at which a day begins.
  public private(set) var dayStartInMinutes: Int
  /// The weights of the order ``TaskOrder/Key/next``; a program that answers several people may set them for each.
  public var nextWeights = NextWeights()
  /// Whether views, queries and counts also show the open tasks that wait for their start, see ``TaskItem/start``.
  ///
  /// Without it, ``TaskView/all``, ``TaskView/waiting``, ``TaskFilter/all`` and filters that name the start show them.
  ///
  /// ```swift
  /// let everything = try store.read { transaction in
  ///   transaction.showsWaiting = true
  ///   return try transaction.view(.inbox)
  /// }
  /// ```
  public var showsWaiting = false

  /// The generator of the ids of new records, which follow the store's clock.
  let ids: UUIDv7Generator
  /// The progress of a write.
  var state: WriteState
  /// The snapshot of the application's collections, if there are any.
  let records: StoreSnapshot?

  /// Whether times are stored in whole seconds, see ``TaskStore/Configuration``.
  var stampsWholeSeconds = false
  /// The tables of synchronisation, in a write to a store that synchronises.
  var syncTables: SyncTables?

  init(
    base: consuming Base, tables: Tables, now: Timestamp, calendar: Calendar, dayStartInMinutes: Int,
    ids: UUIDv7Generator, state: WriteState = WriteState(commitSequence: 0)
  ) {
    records = tables.collections.map { StoreSnapshot(of: base, $0, now: now) }
    self.base = base
    (self.tables, self.now, self.ids, self.state) = (tables, now, ids, state)
    (self.calendar, self.dayStartInMinutes) = (calendar, dayStartInMinutes)
  }

  /// The sequence of the commit that will contain the changes of a write transaction; zero in a read.
  var commitSequence: UInt64 { state.commitSequence }
}

/// A read-only snapshot of a store.
public typealias StoreReadTransaction = StoreTransaction<ReadTransaction>

/// A snapshot of a store together with changes that take effect together or not at all.
public typealias StoreWriteTransaction = StoreTransaction<WriteTransaction>

extension StoreTransaction where Base: ~Copyable {
  /// The local day of `now`: the calendar's day, or the day before it until the store's day begins.
  public var today: CalendarDay { day(of: now) }

  /// Replaces the configuration's rules for days and weeks, for the rest of this closure.
  ///
  /// It is for a program that answers several people from one store, each with their own calendar and start of day:
  ///
  /// ```swift
  /// let theirToday = try store.read { transaction in
  ///   transaction.countDays(in: calendar, startingAtMinute: 4 * 60)
  ///   return try transaction.view(.today)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - calendar: the calendar, with its time zone and first weekday.
  ///   - dayStartInMinutes: the minutes after midnight at which a day begins, clamped to the morning.
  public mutating func countDays(in calendar: Calendar, startingAtMinute dayStartInMinutes: Int) {
    self.calendar = calendar
    self.dayStartInMinutes = min(max(dayStartInMinutes, 0), 719)
  }

  /// The current time and calendar, for parsing and formatting words for days and times.
  public var dateReference: DateReference {
    DateReference(now: now, today: today, calendar: calendar, dayStartInMinutes: dayStartInMinutes)
  }

  /// The local day that contains an instant, by the start of days.
  func day(of instant: Timestamp) -> CalendarDay {
    CalendarDay(containing: instant, in: calendar.timeZone, startingAtMinute: dayStartInMinutes)
  }

  /// The time of a new record: now, in whole seconds if the store is configured for them.
  var stamp: Timestamp { stampsWholeSeconds ? now.wholeSecond : now }
}

extension StoreTransaction where Base: ~Copyable {
  /// The shortest tail of a task's identifier that no other task shares: at least four hexadecimal digits.
  ///
  /// A UUIDv7 begins with its time, which neighbours share, but ends in random digits.
  ///
  /// - Throws: what the storage throws.
  /// - Complexity: reads two neighbours in an index, whatever the size of the store.
  public func handle(of id: UUID) throws -> String {
    let key = TailKey(id)
    var sharedDigitCount = 0
    var cursor = try tables.byTail.cursor(in: base)
    if try cursor.move(toLastBefore: key) {
      sharedDigitCount = try cursor.key().sharedDigitCount(with: key)
    }
    if try cursor.move(toFirstAtOrAfter: key) {
      var neighbor: TailKey? = try cursor.key()
      if neighbor == key { neighbor = try cursor.next() ? try cursor.key() : nil }
      if let neighbor { sharedDigitCount = max(sharedDigitCount, neighbor.sharedDigitCount(with: key)) }
    }
    let digitCount = min(max(sharedDigitCount + 1, minimumHandleDigitCount), TailKey.digitCount)
    return id.lastDigits(digitCount)
  }

  /// The length of the longest handle of any task.
  ///
  /// - Complexity: scans the index of the identifiers' ends.
  package func longestHandleLength() throws -> Int {
    var sharedDigitCount = 0
    var cursor = try tables.byTail.cursor(in: base)
    guard try cursor.moveToFirst() else { return minimumHandleDigitCount }
    var last = try cursor.key()
    while try cursor.next() {
      let key = try cursor.key()
      sharedDigitCount = max(sharedDigitCount, key.sharedDigitCount(with: last))
      last = key
    }
    return min(max(sharedDigitCount + 1, minimumHandleDigitCount), TailKey.digitCount)
  }

  /// The tasks whose identifier ends in the given hexadecimal digits.
  ///
  /// - Parameters:
  ///   - handle: at least four digits in either case; dashes are ignored, so a whole UUID works too.
  ///   - limit: the most tasks to return.
  /// - Returns: the ids of the tasks; empty if the text is not a handle.
  /// - Throws: what the storage throws.
  public func taskIDs(withHandle handle: String, limit: Int = 10) throws -> [UUID] {
    guard let tail = HandleTail(handle) else { return [] }
    var ids: [UUID] = []
    try scan(tables.byTail, from: tail.first) { key in
      guard ids.count < limit, tail.fits(key) else { return false }
      ids.append(key.id)
      return true
    }
    return ids
  }
}

/// The last digits of a task's identifier, as a person enters them.
package struct HandleTail {
  fileprivate let first: TailKey
  private let digitCount: Int

  /// Parses at least four hexadecimal digits in either case, ignoring dashes; `nil` for any other text.
  package init?(_ handle: String) {
    let digits = handle.filter { $0 != "-" }.map { $0.isASCII ? $0.hexDigitValue : nil }
    guard (minimumHandleDigitCount...TailKey.digitCount).contains(digits.count), !digits.contains(nil) else {
      return nil
    }
    first = TailKey(firstEndingIn: digits.compactMap { $0.map(UInt8.init) })
    digitCount = digits.count
  }

  /// Whether an identifier ends in these digits.
  package func fits(_ id: UUID) -> Bool { fits(TailKey(id)) }

  fileprivate func fits(_ key: TailKey) -> Bool { key.sharedDigitCount(with: first) >= digitCount }
}

/// The fewest digits of a handle: shorter ones would become ambiguous with nearly every new task.
private let minimumHandleDigitCount = 4

extension StoreTransaction where Base: ~Copyable {
  /// The task with an identifier; `nil` if there is none.
  ///
  /// - Throws: `damagedStore` if the record cannot be read; otherwise what the storage throws.
  /// - Complexity: one lookup, whatever the size of the store.
  @_specialize(where Base == ReadTransaction)
  public func task(_ id: UUID) throws -> TaskItem? {
    guard let bytes = try tables.tasks.bytes(forKey: IDKey(id), in: base) else { return nil }
    return try TaskFields(bytes).item(id: id).shown(in: calendar.timeZone)
  }

  /// The task with an identifier as its record has it, whatever the zone of the reader; `nil` if there is none.
  ///
  /// - Throws: what `task(_:)` throws.
  package func storedTask(_ id: UUID) throws -> TaskItem? { try record(TaskRecord.self, id)?.item }

  /// The list with an identifier; `nil` if there is none.
  ///
  /// - Throws: what `task(_:)` throws.
  public func list(_ id: UUID) throws -> TaskList? {
    try record(ListRecord.self, id)?.item
  }

  /// All lists, in the user's order.
  ///
  /// - Throws: what `task(_:)` throws.
  /// - Complexity: one lookup for each list.
  public func lists() throws -> [TaskList] {
    var ids: [UUID] = []
    try forEachKey(of: tables.listsByOrder, from: .lowest) { ids.append($0.id) }
    return try ids.map { id in
      guard let list = try list(id) else { throw TallyError.missingRecord(of: "listsByOrder") }
      return list
    }
  }

  /// The number of tasks; throws what the storage throws.
  public var taskCount: Int {
    get throws { try tables.tasks.count(in: base) }
  }

  /// The number of lists; throws what the storage throws.
  public var listCount: Int {
    get throws { try tables.lists.count(in: base) }
  }

  /// The number of commits in this snapshot; throws what the storage throws.
  public var sequence: UInt64 {
    get throws { try header().sequence }
  }

  /// The number of events over all time.
  func total(_ series: CounterSeries, _ scope: CounterScope) throws -> Int {
    Int(try tables.totals.value(forKey: TotalKey(series, scope), in: base)?.count ?? 0)
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Reads a task that must exist because an index refers to it.
  func indexedTask(_ id: UUID) throws -> TaskItem {
    guard let bytes = try tables.tasks.bytes(forKey: IDKey(id), in: base) else {
      throw TallyError.missingRecord(of: "a task index")
    }
    return try TaskFields(bytes).item(id: id).shown(in: calendar.timeZone)
  }

  /// The stored record of a task or list, including fields that a newer version may have added.
  func record<Record: ObjectRecord>(_ type: Record.Type, _ id: UUID) throws(LMDBError) -> Record? {
    guard let bytes = try Record.table(in: tables).bytes(forKey: IDKey(id), in: base) else { return nil }
    return try Record(id: id, decoding: bytes)
  }

  /// The store's header.
  func header() throws -> StoreHeader {
    guard let header = try tables.meta.value(forKey: .header, in: base) else {
      throw TallyError.missingRecord(of: "meta")
    }
    return header
  }

  /// The record of a task or list; throws if there is none.
  func require<Record: ObjectRecord>(_ type: Record.Type, _ id: UUID) throws -> Record {
    guard let record = try record(type, id) else {
      throw Record.kind == .task ? TallyError.taskNotFound(id) : TallyError.listNotFound(id)
    }
    return record
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Scans a table's keys from `lowerBound` up to but not including `upperBound`, until `body` returns false.
  func scan<Key: IndexKey, Value>(
    _ table: Database<Key, Value>, from lowerBound: Key, to upperBound: Key? = nil, _ body: (Key) throws -> Bool
  ) throws {
    let end = upperBound.map { KeyBytes($0) }
    var cursor = try table.cursor(in: base)
    var isAtEntry = try cursor.move(toFirstAtOrAfter: lowerBound)
    while isAtEntry {
      if let end, !cursor.keyBytes.precedes(end.bytes) { return }
      guard try body(cursor.key()) else { return }
      isAtEntry = try cursor.next()
    }
  }

  /// Scans all of a table's keys from `lowerBound` up to but not including `upperBound`.
  func forEachKey<Key: IndexKey, Value>(
    of table: Database<Key, Value>, from lowerBound: Key, to upperBound: Key? = nil, _ body: (Key) throws -> Void
  ) throws {
    try scan(table, from: lowerBound, to: upperBound) { key in
      try body(key)
      return true
    }
  }

  /// The open tasks that wait for their start on a day.
  func waitingTasks(on day: CalendarDay) throws -> Set<UUID> {
    var ids: Set<UUID> = []
    try forEachKey(of: tables.byDue, from: .starts(after: day), to: .endOfStarts) { ids.insert($0.id) }
    return ids
  }
}

/// The limit for texts in a store that synchronises.
package enum SyncLimit {
  /// The longest text, in bytes of UTF-8: a text must fit into one segment, which has at most 8 MiB.
  package static let maximumTextByteCount = 7 << 20
}

extension StoreTransaction where Base == WriteTransaction {
  /// Checks that other replicas can receive the texts that a write of this store changes.
  ///
  /// - Throws: `valueOutOfRange` if a text is too long.
  func checkSendable(_ task: TaskItem?, replacing old: TaskItem?) throws {
    guard let task, syncTables != nil, state.origin == .local else { return }
    try checkSendable(task.title, replacing: old?.title, "title", of: task.title)
    try checkSendable(task.notes ?? "", replacing: old?.notes, "notes", of: task.title)
  }

  /// Checks the texts of a list in the same way.
  func checkSendable(_ list: TaskList?, replacing old: TaskList?) throws {
    guard let list, syncTables != nil, state.origin == .local else { return }
    try checkSendable(list.name, replacing: old?.name, "name", of: list.name)
  }

  private func checkSendable(
    _ text: String, replacing old: String?, _ field: String, of name: String
  ) throws {
    guard text.utf8.count > SyncLimit.maximumTextByteCount, text != old else { return }
    throw TallyError.tooLargeToSend(field, of: name, byteCount: text.utf8.count)
  }
}

extension TallyError {
  /// The error for a text that other devices could not receive.
  static func tooLargeToSend(_ field: String, of name: String, byteCount: Int) -> TallyError {
    TallyError(
      .valueOutOfRange,
      "The \(field) of \u{201C}\(name.prefix(60))\u{201D} \(field == "notes" ? "have" : "has") \(byteCount) bytes; a store that synchronises takes at most \(SyncLimit.maximumTextByteCount)",
      remedy: "Shorten the text, or keep it in a file and write the file's name here")
  }
}
