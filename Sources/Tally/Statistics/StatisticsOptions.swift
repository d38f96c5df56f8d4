public import Foundation

/// A selection of statistics.
///
/// ```swift
/// var options = StatisticsOptions()
/// options.unit = .month
/// let statistics = try store.read { try $0.statistics(options) }
/// ```
public struct StatisticsOptions: Hashable, Sendable {
  /// Only completions in this list; `nil` for all.
  public var listID: UUID?
  /// Only what a filter finds; a completion has the list, the tags and the priority of its moment.
  ///
  /// Everything else is that of the task now, and absent if the task has been deleted: <doc:StatisticsAndTimeZones>.
  public var filter = TaskFilter.all
  /// The first day of the series, the profiles and the cycle times; `nil` with `to` for the last 30 days in the series
  /// and everything elsewhere.
  public var from: CalendarDay?
  /// The last day of them, included.
  public var to: CalendarDay?
  /// The length of a bucket of the series.
  public var unit = Series.Unit.day
  /// The number of tasks to complete per day or week; `nil` for none.
  public var goal: Goal?
  /// When a day begins, in minutes after local midnight, up to 1,439: for people who work past midnight.
  public var dayStartInMinutes = 0
  /// Whether completions count on the local day of the place where they happened, so that travel moves none of them;
  /// otherwise on the local day of the calendar's zone.
  public var usesRecordedOffsets = false

  /// Selects everything, in all lists.
  public init() {}
}
