/// Counts over time, a bucket per period.
public struct Series: Hashable, Codable, Sendable {
  /// The length of a bucket.
  public enum Unit: String, CaseIterable, Hashable, Codable, Sendable {
    /// A local day.
    case day
    /// Seven days from the first weekday of the calendar on.
    case week
    /// A month of the calendar.
    case month
    /// A year of the calendar.
    case year
  }

  /// One period.
  public struct Bucket: Hashable, Codable, Sendable {
    /// Its first day within the series.
    public let start: CalendarDay
    /// The tasks completed in it.
    public let completed: Int
    /// The tasks created in it.
    public let created: Int
    /// The tasks open at its end.
    public let open: Int
  }

  /// The length of a bucket.
  public let by: Unit
  /// The first day.
  public let from: CalendarDay
  /// The last day.
  public let to: CalendarDay
  /// The buckets; the first and the last one may be cut by the series' ends, a skipped day has none.
  public let buckets: [Bucket]
}
