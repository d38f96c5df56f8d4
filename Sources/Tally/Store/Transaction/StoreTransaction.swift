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

  /// Uses other rules for days and weeks than the store's configuration, for the rest of this closure.
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
