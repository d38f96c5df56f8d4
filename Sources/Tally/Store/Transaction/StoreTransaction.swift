public import Foundation
public import LMDB

/// A consistent view of a store; a write transaction can also change it.
///
/// The store passes one to the closure of `read` or `write`; it cannot be kept beyond it. Everything read inside one
/// closure comes from the same snapshot; a write transaction also sees its own changes.
///
/// ```swift
/// let today = try store.read { try $0.view(.today) }
/// let task = try store.writeAndWait { try $0.add("Water the plants", to: .today) }
/// ```
///
/// `Base` is the kind of access; use the names `StoreReadTransaction` and `StoreWriteTransaction`.
public struct StoreTransaction<Base: LMDBTransaction & ~Copyable>: ~Copyable {
  // Owned by this transaction alone.
  var base: Base
  // Constant while the transaction lives.
  let tables: Tables
  /// The instant at which this transaction began, by the store's clock: the `now` of its views and changes.
  public let now: Timestamp
  /// The calendar, with its time zone and first weekday, that defines days and weeks.
  public private(set) var calendar: Calendar
  /// The minutes after midnight at which a day begins.
  public private(set) var dayStartInMinutes: Int
  /// What counts in the order ``TaskOrder/Key/next``; a program that answers several people may set it for each.
  public var nextWeights = NextWeights()

  /// Generates the ids of new records, which follow the store's clock.
  let ids: UUIDv7Generator
  /// The sequence of the commit that the changes of a write transaction belong to; zero in a read.
  let commitSequence: UInt64

  /// Whether times are stored without a fraction of a second, see ``TaskStore/Configuration``.
  var stampsWholeSeconds = false
  /// Whether there is anything to commit.
  var hasChanges = false
  /// Whether a change began and did not end: such a transaction must not commit.
  var isHalfDone = false
  /// The images of changes that are not in the history yet.
  var images = BeforeImages()
  /// Whether there is room for images; if not, there are none.
  var keepsImages = true
  /// Whether changes went into the history without their images.
  var hasLostImages = false
  /// Whether there are changes that are not in the history yet.
  var hasUnrecordedChanges = false
  /// Where the changes come from, as recorded in the history.
  var origin = WriteOrigin.local
  /// The replica whose changes they are, if they come from one other replica.
  var originReplica: UUID?
  /// The tables that other replicas need, in a write to a store that synchronises.
  var syncTables: SyncTables?
  /// The name of the action that the changes belong to, as recorded in the history.
  var actionName: String?
}

/// A snapshot of a store: reads, no changes.
public typealias StoreReadTransaction = StoreTransaction<ReadTransaction>

/// A snapshot of a store with changes of its own, which take effect together or not at all.
public typealias StoreWriteTransaction = StoreTransaction<WriteTransaction>

extension StoreTransaction where Base: ~Copyable {
  /// The local day of `now`: that of the calendar, or the one before until the store's day begins.
  public var today: CalendarDay { day(of: now) }

  /// Counts days and weeks by other rules than the store's configuration, for the rest of this closure.
  ///
  /// For a program that answers several people over one store, each with a week and a start of day of their own:
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

  /// The present, against which words for days and times are read, and by which they are named.
  public var dateReference: DateReference {
    DateReference(now: now, today: today, calendar: calendar, dayStartInMinutes: dayStartInMinutes)
  }

  /// The local day in which an instant lies, by the start of days.
  func day(of instant: Timestamp) -> CalendarDay {
    CalendarDay(containing: instant, in: calendar.timeZone, startingAtMinute: dayStartInMinutes)
  }

  /// The time of a new record: now, by whole seconds if the store counts them.
  var stamp: Timestamp { stampsWholeSeconds ? now.wholeSecond : now }
}
