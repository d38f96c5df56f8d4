/// The number of events on each of a range of local days.
struct DailyCounts {
  let days: ClosedRange<Int32>
  private var counts: [Int]
  /// The days that the zone skipped; they exist nevertheless if an event was recorded on them elsewhere.
  private let skippedDays: Set<Int32>

  init(_ days: ClosedRange<Int32>, localDays: LocalDays, cumulative: [Int], skippedDays: Set<Int32>) {
    assert(cumulative.count == localDays.boundaries.count, "a sum for each boundary")
    self.days = days
    self.skippedDays = skippedDays
    counts = Array(repeating: 0, count: days.count)
    for (index, piece) in localDays.pieces.enumerated() where piece.dayNumber != LocalDays.noDay {
      counts[Int(piece.dayNumber - days.lowerBound)] += cumulative[index + 1] - cumulative[index]
    }
  }

  /// The sum over some days; those outside the range count nothing.
  func sum(_ days: ClosedRange<Int32>) -> Int {
    guard days.overlaps(self.days) else { return 0 }
    let range = days.clamped(to: self.days)
    let first = Int(range.lowerBound - self.days.lowerBound)
    return counts[first..<(first + range.count)].reduce(0, +)
  }

  /// Whether any of some days within the range exists.
  func contains(anyOf days: ClosedRange<Int32>) -> Bool {
    days.contains { !skippedDays.contains($0) } || sum(days) > 0
  }

  /// The days that exist, with their counts, in order.
  var existing: some Sequence<(Int32, Int)> {
    zip(days, counts).lazy.filter { day, count in count > 0 || !skippedDays.contains(day) }
  }
}
