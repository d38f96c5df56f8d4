/// How often something happened on each of a range of local days.
struct DailyCounts {
  let days: ClosedRange<Int32>
  private var counts: [Int]
  /// Whether each day exists: a zone may have skipped one.
  private var exists: [Bool]

  init(_ days: ClosedRange<Int32>, localDays: LocalDays, cumulative: [Int]) {
    self.days = days
    counts = Array(repeating: 0, count: days.count)
    exists = Array(repeating: false, count: days.count)
    for (index, piece) in localDays.pieces.enumerated() where piece.dayNumber != .min {
      let position = Int(piece.dayNumber - days.lowerBound)
      counts[position] += cumulative[index + 1] - cumulative[index]
      exists[position] = true
    }
  }

  /// The sum over some days; those outside the range count nothing.
  func sum(_ days: ClosedRange<Int32>) -> Int {
    guard days.overlaps(self.days) else { return 0 }
    let range = days.clamped(to: self.days)
    let first = Int(range.lowerBound - self.days.lowerBound)
    return counts[first..<(first + range.count)].reduce(0, +)
  }

  /// Whether any of some days exists.
  func contains(anyOf days: ClosedRange<Int32>) -> Bool {
    days.contains { self.days.contains($0) && exists[Int($0 - self.days.lowerBound)] }
  }

  /// Hands each day that exists to a closure, in order.
  func forEach(_ body: (Int32, Int) -> Void) {
    for (index, count) in counts.enumerated() where exists[index] { body(days.lowerBound + Int32(index), count) }
  }
}
