import Foundation

/// When a time zone has which UTC offset: by the system's tz database, or by Foundation where that does not list it.
///
/// The database comes first, because Foundation on Linux carries a copy of its own from when it was built. That copy keeps
/// the rules of its year however often the system is updated, and it was built without the histories that the database
/// counts as backward: Amsterdam before 1940 gets the times of Brussels. The C library, Python and PostgreSQL use the
/// system's files too. No file lists fixed offsets (`GMT+0300`), and some systems have no database.
enum TimeZoneRules {
  case table(TimeZoneTable)
  case foundation(TimeZone)

  /// The rules of a zone.
  ///
  /// - Complexity: a lookup by name; the first one reads a file of some kilobytes.
  init(of timeZone: TimeZone, in database: TimeZoneDatabase = .system) {
    self = database.table(named: timeZone.identifier).map(Self.table) ?? .foundation(timeZone)
  }

  /// Local time minus UTC at a second since 1970, in seconds.
  func offset(atSecond second: Int64) -> Int64 {
    switch self {
    case .table(let table): table.offset(atSecond: second)
    // Without a fraction a `Date` is exact over the whole range of instants.
    case .foundation(let timeZone):
      Int64(timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second))))
    }
  }

  /// The next second since 1970 at which the offset changes; `nil` if it stays.
  func change(afterSecond second: Int64) -> Int64? {
    switch self {
    case .table(let table): table.change(afterSecond: second)
    case .foundation(let timeZone):
      timeZone.nextDaylightSavingTimeTransition(after: Date(timeIntervalSince1970: Double(second)))
        .map { Int64($0.timeIntervalSince1970.rounded()) }
        .flatMap { $0 > second ? $0 : nil }
    }
  }
}
