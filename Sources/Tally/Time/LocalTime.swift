import Foundation

// The arithmetic of local time that days, clocks and counters share. It works in whole seconds, at which zones change
// their offsets, and takes a fraction of the time that Foundation's calendar does.

/// Division that rounds towards negative infinity, so that instants before 1970 fall into their own day.
package func floorDivide(_ dividend: Int64, by divisor: Int64) -> Int64 {
  let quotient = dividend / divisor
  return dividend % divisor < 0 ? quotient - 1 : quotient
}

extension Timestamp {
  /// Whole seconds since 1970, rounded down.
  package var wholeSeconds: Int64 {
    floorDivide(microsecondsSince1970, by: 1_000_000)
  }

  /// The instant nearest to a number of whole seconds since 1970.
  package init(clampingSeconds seconds: Int64) {
    let (microseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    self.init(clamping: overflow ? (seconds < 0 ? .min : .max) : microseconds)
  }
}

extension TimeZone {
  /// Local time minus UTC at an instant, in seconds.
  package func secondsFromGMT(at instant: Timestamp) -> Int64 {
    secondsFromGMT(atSecond: instant.wholeSeconds)
  }

  /// Local time minus UTC at a second since 1970, in seconds.
  package func secondsFromGMT(atSecond second: Int64) -> Int64 {
    TimeZoneRules(of: self).offset(atSecond: second)
  }
}
