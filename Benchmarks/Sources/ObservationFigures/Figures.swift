import Foundation

/// One measured figure and its limit.
struct Figure {
  let name: String
  let value: Double
  let unit: String
  let limit: Double

  var isKept: Bool { value <= limit }

  var line: String {
    String(format: "%@: %.2f %@ (limit %g)%@", name, value, unit, limit, isKept ? "" : " EXCEEDED")
  }
}

/// Seconds of a clock that all processes share, and that nobody sets.
func monotonicSeconds() -> Double {
  seconds(of: CLOCK_MONOTONIC)
}

/// The processor time that this process has used, in seconds.
func processorSeconds() -> Double {
  seconds(of: CLOCK_PROCESS_CPUTIME_ID)
}

private func seconds(of clock: clockid_t) -> Double {
  var time = timespec()
  // Only writes into the local.
  unsafe clock_gettime(clock, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

extension [Double] {
  func percentile(_ fraction: Double) -> Double {
    let sorted = sorted()
    return sorted.isEmpty ? .nan : sorted[Swift.min(sorted.count - 1, Int(Double(sorted.count) * fraction))]
  }
}
