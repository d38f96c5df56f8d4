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

  /// The generator of the ids of new records, which follow the store's clock.
  let ids: UUIDv7Generator
  /// The sequence of the commit that will contain the changes of a write transaction; zero in a read.
  let commitSequence: UInt64

  /// Whether times are stored in whole seconds, see ``TaskStore/Configuration``.
  var stampsWholeSeconds = false
  /// Whether there is anything to commit.
  var hasChanges = false
  /// Whether a change began and did not finish; such a transaction must not commit.
  var isHalfDone = false
  /// The images of changes that are not yet in the history.
  var images = BeforeImages()
  /// Whether images are recorded; false if there is no space for them.
  var keepsImages = true
  /// Whether changes were added to the history without their images.
  var hasLostImages = false
  /// Whether there are changes that are not yet in the history.
  var hasUnrecordedChanges = false
  /// Where the changes come from, as recorded in the history.
  var origin = WriteOrigin.local
  /// The other replica that the changes come from, if they all come from the same one.
  var originReplica: UUID?
  /// The tables of synchronisation, in a write to a store that synchronises.
  var syncTables: SyncTables?
  /// The name of the action that the changes belong to, as recorded in the history.
  var actionName: String?
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
