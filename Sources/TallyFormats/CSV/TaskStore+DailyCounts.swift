public import SystemPackage
public import Tally

extension TaskStore {
  /// Writes a table of the tasks completed and created on each day, and of those open at its end, to a file.
  ///
  /// The columns are `day`, `completed`, `created` and `open` (RFC 4180).
  ///
  /// ```swift
  /// var options = StatisticsOptions()
  /// (options.from, options.to) = (first, last)
  /// try store.exportDailyCounts(to: "days.csv", options)
  /// ```
  ///
  /// - Parameters:
  ///   - file: The path of the file, which is replaced as a whole.
  ///   - options: Which days, by default the last 30, and in which time zone.
  /// - Returns: The number of days.
  /// - Throws: `outputNotCreated`, `diskFull`, and what `series(_:)` throws.
  /// - Complexity: the days, a few microseconds each.
  @discardableResult
  public func exportDailyCounts(
    to file: FilePath, _ options: StatisticsOptions = StatisticsOptions()
  ) throws -> Int {
    let series = try read { try $0.series(options) }
    var text = "day,completed,created,open\r\n"
    for bucket in series.buckets {
      text += "\(bucket.start),\(bucket.completed),\(bucket.created),\(bucket.open)\r\n"
    }
    return try exportFile(file) { output in
      try output.writeAll(text.utf8)
      return series.buckets.count
    }
  }
}
