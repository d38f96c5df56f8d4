import Foundation

/// A deliberate slowdown of one row, by which the suites are seen to fail.
///
/// `TALLY_BENCH_SLOWED=search-word=1.5` makes the row `search-word` take 1.5 times as long: after each piece of its work the
/// program does nothing useful for half of the time that it took.
package enum Slowdown {
  private static let chosen: (row: String, factor: Double)? = {
    guard let text = ProcessInfo.processInfo.environment["TALLY_BENCH_SLOWED"] else { return nil }
    let parts = text.split(separator: "=")
    guard parts.count == 2, let factor = Double(parts[1]), factor >= 1 else { return nil }
    return (String(parts[0]), factor)
  }()

  /// Does the work of a row, and wastes time afterwards if it is the row to be slowed.
  package static func run(_ row: String, _ work: () throws -> Void) rethrows {
    guard let chosen, chosen.row == row else { return try work() }
    let clock = ContinuousClock()
    let start = clock.now
    try work()
    let end = start + (clock.now - start) * chosen.factor
    while clock.now < end {}
  }
}
