import Foundation
import SystemPackage

/// Durations of one kind.
struct Durations {
  private var seconds: [Double] = []

  mutating func append(_ duration: Duration) { seconds.append(duration / .seconds(1)) }
  mutating func append(contentsOf other: Durations) { seconds += other.seconds }

  var count: Int { seconds.count }

  /// The quantile for a share, such as 0.5, in milliseconds.
  func milliseconds(_ share: Double) -> Double {
    guard !seconds.isEmpty else { return .nan }
    let sorted = seconds.sorted()
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] * 1_000
  }
}

/// Prints one object of JSON.
func printFigures(_ figures: [String: Double]) throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys]
  // Written at once, because a pipe would buffer it.
  try FileDescriptor.standardOutput.writeAll(encoder.encode(figures) + [UInt8(ascii: "\n")])
}
