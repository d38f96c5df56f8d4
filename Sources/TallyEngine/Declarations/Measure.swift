public import Foundation

/// A count or a sum of a collection's records over time, or the distribution of an amount, kept with each write.
///
/// ```swift
/// extension Workout {
///   static let trained = sum("trained", of: \.minutes, over: bySport)
///   static let sessions = count("sessions", at: \.start)
///   static let length = distribution("length", of: \.minutes)
/// }
/// ```
///
/// A measure over an index has the index's groups: the parts of its keys before the last one, which is the time. It is
/// exact to the instant in every time zone, and its answers cost by days, not by records. Amounts are whole numbers; a
/// sum that leaves the range of 64 bits is an error, and the write changes nothing.
public struct Measure<Record: StoredRecord, Group: CompositeKey>: Sendable {
  /// The name, which is stored.
  public var name: String { declared.name }
  let declared: DeclaredMeasure<Record>
  /// Calls a closure with each event of a record: its group, its instant in microseconds, its amount.
  let events: @Sendable (Record, (Group, Int64, Int64) -> Void) -> Void

  /// Declares a measure; the compiler makes its hot code where it is called.
  @inlinable
  init(
    _ name: String, version: Int, _ form: MeasureForm, totals: Bool, over index: String? = nil,
    _ events: @escaping @Sendable (Record, (Group, Int64, Int64) -> Void) -> Void
  ) {
    self.init(
      DeclaredMeasure(name: name, version: version, form: form, hasTotals: totals, index: index) {
        records, sign, deltas, all in
        for record in records {
          events(record) { group, microseconds, amount in
            let slot =
              form == .distribution
              ? AmountBucket.number(of: microseconds) : Int32(clamping: QuarterHour.number(containing: microseconds))
            deltas.add(amount, sign: sign, slot: slot, to: group)
            if totals { all.add(amount, sign: sign, slot: slot, to: NoKey()) }
          }
        }
      }, events)
  }

  @usableFromInline
  init(
    _ declared: DeclaredMeasure<Record>, _ events: @escaping @Sendable (Record, (Group, Int64, Int64) -> Void) -> Void
  ) {
    (self.declared, self.events) = (declared, events)
  }
}

/// The amounts that a measure adds up; the raw values are stored: do not change them.
@usableFromInline
enum MeasureForm: UInt8, Sendable {
  /// Amounts at instants.
  case instants = 1
  /// Amounts on days, which are the same in every zone: a day counts as the first instant of it in UTC.
  case days = 2
  /// The number of records in each bucket of an amount.
  case distribution = 3
}

/// The parts of a measure that a store needs, whatever its groups are.
@usableFromInline
struct DeclaredMeasure<Record: StoredRecord>: Sendable {
  let name: String
  let version: Int
  let form: MeasureForm
  /// Whether the sum of all groups is kept, too.
  let hasTotals: Bool
  /// The index over which it is declared; `nil` if there is none.
  let index: String?
  /// Adds the events of some records, with a sign, to the deltas of the groups and to those of all groups.
  let gather: @Sendable ([Record], _ sign: Int64, inout MeasureDeltas, inout MeasureDeltas) -> Void

  @usableFromInline
  init(
    name: String, version: Int, form: MeasureForm, hasTotals: Bool, index: String?,
    gather: @escaping @Sendable ([Record], _ sign: Int64, inout MeasureDeltas, inout MeasureDeltas) -> Void
  ) {
    (self.name, self.version, self.form) = (name, version, form)
    (self.hasTotals, self.index, self.gather) = (hasTotals, index, gather)
  }
}

/// A part of a key that is a time, so that a measure can be declared over an index that ends in it.
public protocol TimeComponent: KeyComponent {
  /// The instant in microseconds since 1970; of a day, its first one in UTC.
  var microsecondsSince1970: Int64 { get }
  /// Whether the values are days, which are the same in every zone.
  static var isDay: Bool { get }
}

extension Date: TimeComponent {
  /// The instant, to the microsecond and between the years 1 and 9999.
  public var microsecondsSince1970: Int64 { Timestamp(clamping: self).microsecondsSince1970 }
  /// A date is an instant.
  public static var isDay: Bool { false }
}

extension Timestamp: TimeComponent {
  /// A timestamp is an instant.
  public static var isDay: Bool { false }
}

extension CalendarDay: TimeComponent {
  /// The first instant of the day in UTC.
  public var microsecondsSince1970: Int64 { Int64(dayNumber) * QuarterHour.microsecondsPerDay }
  /// A day is a day.
  public static var isDay: Bool { true }
}

extension Descending: TimeComponent where Value: TimeComponent {
  /// The microseconds of the value.
  public var microsecondsSince1970: Int64 { value.microsecondsSince1970 }
  /// Whether the value is a day.
  public static var isDay: Bool { Value.isDay }
}

/// Buckets of amounts: exact up to 127, and at most 1.6 % wide beyond; negative amounts have buckets of their own.
@usableFromInline
enum AmountBucket {
  @usableFromInline
  static func number(of amount: Int64) -> Int32 {
    amount >= 0
      ? Int32(CycleTimeBucket.number(ofSeconds: amount)) : -1 - Int32(CycleTimeBucket.number(ofSeconds: ~amount))
  }

  /// The middle of a bucket.
  static func middle(of bucket: Int32) -> Int64 {
    bucket >= 0
      ? CycleTimeBucket.middleInSeconds(of: UInt16(bucket)) : ~CycleTimeBucket.middleInSeconds(of: UInt16(~bucket))
  }
}

extension StoredRecord {
  @usableFromInline
  static func form<Time: TimeComponent>(of time: Time.Type) -> MeasureForm { Time.isDay ? .days : .instants }

  /// Sums an amount over an index whose keys are a time.
  ///
  /// - Parameters:
  ///   - name: the name, which is stored: 1 to 64 bytes, without control characters.
  ///   - version: raise it whenever a closure gives another amount, or the index other keys, than before.
  ///   - amount: the amount of a record.
  ///   - index: the index.
  /// - Returns: the measure.
  @inlinable
  public static func sum<Time: TimeComponent>(
    _ name: String, version: Int = 1, of amount: @escaping @Sendable (Self) -> Int, over index: Index<Self, Key1<Time>>
  ) -> Measure<Self, NoKey> {
    let keys = index.keys
    return Measure(name, version: version, form(of: Time.self), totals: false, over: index.name) { record, body in
      keys(record) { key in body(NoKey(), key.a.microsecondsSince1970, Int64(amount(record))) }
    }
  }

  /// Sums an amount over an index whose keys are a group and a time.
  ///
  /// - Parameters:
  ///   - name: the name, which is stored: 1 to 64 bytes, without control characters.
  ///   - version: raise it whenever a closure gives another amount, or the index other keys, than before.
  ///   - amount: the amount of a record.
  ///   - index: the index.
  ///   - totals: whether the sum of all groups is also kept: questions about all groups are then as quick as about one.
  /// - Returns: the measure.
  @inlinable
  public static func sum<A: KeyComponent, Time: TimeComponent>(
    _ name: String, version: Int = 1, of amount: @escaping @Sendable (Self) -> Int,
    over index: Index<Self, Key2<A, Time>>, totals: Bool = false
  ) -> Measure<Self, Key1<A>> {
    let keys = index.keys
    return Measure(name, version: version, form(of: Time.self), totals: totals, over: index.name) { record, body in
      keys(record) { key in body(Key1(key.a), key.b.microsecondsSince1970, Int64(amount(record))) }
    }
  }

  /// Sums an amount over an index whose keys are two groups and a time.
  @inlinable
  public static func sum<A: KeyComponent, B: KeyComponent, Time: TimeComponent>(
    _ name: String, version: Int = 1, of amount: @escaping @Sendable (Self) -> Int,
    over index: Index<Self, Key3<A, B, Time>>, totals: Bool = false
  ) -> Measure<Self, Key2<A, B>> {
    let keys = index.keys
    return Measure(name, version: version, form(of: Time.self), totals: totals, over: index.name) { record, body in
      keys(record) { key in body(Key2(key.a, key.b), key.c.microsecondsSince1970, Int64(amount(record))) }
    }
  }

  /// Counts the records over an index whose keys are a time.
  @inlinable
  public static func count<Time: TimeComponent>(
    _ name: String, version: Int = 1, over index: Index<Self, Key1<Time>>
  ) -> Measure<Self, NoKey> {
    sum(name, version: version, of: { _ in 1 }, over: index)
  }

  /// Counts the records over an index whose keys are a group and a time.
  @inlinable
  public static func count<A: KeyComponent, Time: TimeComponent>(
    _ name: String, version: Int = 1, over index: Index<Self, Key2<A, Time>>, totals: Bool = false
  ) -> Measure<Self, Key1<A>> {
    sum(name, version: version, of: { _ in 1 }, over: index, totals: totals)
  }

  /// Counts the records over an index whose keys are two groups and a time.
  @inlinable
  public static func count<A: KeyComponent, B: KeyComponent, Time: TimeComponent>(
    _ name: String, version: Int = 1, over index: Index<Self, Key3<A, B, Time>>, totals: Bool = false
  ) -> Measure<Self, Key2<A, B>> {
    sum(name, version: version, of: { _ in 1 }, over: index, totals: totals)
  }

  /// Sums an amount at a time.
  ///
  /// Without an index, the part of a quarter hour at which a period begins or ends is read from all records: every zone
  /// in use today has offsets of whole quarter hours, but periods of single instants have not.
  @inlinable
  public static func sum<Time: TimeComponent>(
    _ name: String, version: Int = 1, of amount: @escaping @Sendable (Self) -> Int,
    at time: @escaping @Sendable (Self) -> Time
  ) -> Measure<Self, NoKey> {
    Measure(name, version: version, form(of: Time.self), totals: false) { record, body in
      body(NoKey(), time(record).microsecondsSince1970, Int64(amount(record)))
    }
  }

  /// Sums an amount at a time, by a group.
  @inlinable
  public static func sum<A: KeyComponent, Time: TimeComponent>(
    _ name: String, version: Int = 1, of amount: @escaping @Sendable (Self) -> Int,
    at time: @escaping @Sendable (Self) -> Time, by group: @escaping @Sendable (Self) -> A, totals: Bool = false
  ) -> Measure<Self, Key1<A>> {
    Measure(name, version: version, form(of: Time.self), totals: totals) { record, body in
      body(Key1(group(record)), time(record).microsecondsSince1970, Int64(amount(record)))
    }
  }

  /// Counts the records at a time.
  @inlinable
  public static func count<Time: TimeComponent>(
    _ name: String, version: Int = 1, at time: @escaping @Sendable (Self) -> Time
  ) -> Measure<Self, NoKey> {
    sum(name, version: version, of: { _ in 1 }, at: time)
  }

  /// Counts the records at a time, by a group.
  @inlinable
  public static func count<A: KeyComponent, Time: TimeComponent>(
    _ name: String, version: Int = 1, at time: @escaping @Sendable (Self) -> Time,
    by group: @escaping @Sendable (Self) -> A, totals: Bool = false
  ) -> Measure<Self, Key1<A>> {
    sum(name, version: version, of: { _ in 1 }, at: time, by: group, totals: totals)
  }

  /// Sums the amounts of any number of events that each record stands for.
  ///
  /// ```swift
  /// static let paid = sum("paid", version: 1) { invoice in
  ///   invoice.payments.map { (amount: $0.cents, at: $0.date, by: invoice.customer) }
  /// }
  /// ```
  @inlinable
  public static func sum<A: KeyComponent, Time: TimeComponent>(
    _ name: String, version: Int = 1, totals: Bool = false,
    _ events: @escaping @Sendable (Self) -> [(amount: Int, at: Time, by: A)]
  ) -> Measure<Self, Key1<A>> {
    Measure(name, version: version, form(of: Time.self), totals: totals) { record, body in
      for (amount, time, group) in events(record) { body(Key1(group), time.microsecondsSince1970, Int64(amount)) }
    }
  }

  /// The distribution of an amount, for quantiles: exact up to 127, and to 0.8 % beyond.
  @inlinable
  public static func distribution(
    _ name: String, version: Int = 1, of amount: @escaping @Sendable (Self) -> Int
  ) -> Measure<Self, NoKey> {
    Measure(name, version: version, .distribution, totals: false) { record, body in
      body(NoKey(), Int64(amount(record)), 1)
    }
  }

  /// The distribution of an amount, by a group.
  @inlinable
  public static func distribution<A: KeyComponent>(
    _ name: String, version: Int = 1, of amount: @escaping @Sendable (Self) -> Int,
    by group: @escaping @Sendable (Self) -> A, totals: Bool = false
  ) -> Measure<Self, Key1<A>> {
    Measure(name, version: version, .distribution, totals: totals) { record, body in
      body(Key1(group(record)), Int64(amount(record)), 1)
    }
  }
}
