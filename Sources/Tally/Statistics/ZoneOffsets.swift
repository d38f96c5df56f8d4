import Foundation

/// The UTC offsets of a time zone over some years, as spans during which the offset stays the same.
///
/// A span covers thousands of days at once.
struct ZoneOffsets {
  /// A span of time with one offset; in microseconds since 1970.
  struct Span {
    let start: Int64
    let end: Int64
    let offsetInMicroseconds: Int64
  }

  /// The spans, one after the other, without gaps.
  let spans: [Span]

  /// The offsets of a zone between two instants, which are whole seconds.
  ///
  /// - Complexity: a step for each change of the offset.
  init(of timeZone: TimeZone, from start: Int64, to end: Int64) {
    let rules = TimeZoneRules(of: timeZone)
    var spans: [Span] = []
    var spanStart = start
    while spanStart < end {
      let second = floorDivide(spanStart, by: Self.microsecondsPerSecond)
      let offset = rules.offset(atSecond: second) * Self.microsecondsPerSecond
      let spanEnd = rules.change(afterSecond: second).map { min($0 * Self.microsecondsPerSecond, end) } ?? end
      spans.append(Span(start: spanStart, end: spanEnd, offsetInMicroseconds: offset))
      spanStart = spanEnd
    }
    self.spans = spans
  }

  /// One span without an offset, for times that are local already.
  init(localFrom start: Int64, to end: Int64) {
    spans = [Span(start: start, end: end, offsetInMicroseconds: 0)]
  }

  /// The days that the clock skips, as where a zone crosses the date line.
  func skippedDays(dayStartInMicroseconds dayStart: Int64) -> Set<Int32> {
    let day = QuarterHour.microsecondsPerDay
    var skipped: Set<Int32> = []
    for (before, after) in zip(spans, spans.dropFirst()) {
      let last = floorDivide(before.end - 1 + before.offsetInMicroseconds - dayStart, by: day)
      let next = floorDivide(after.start + after.offsetInMicroseconds - dayStart, by: day)
      for number in last..<max(last, next - 1) { skipped.insert(Int32(clamping: number + 1)) }
    }
    return skipped
  }

  private static let microsecondsPerSecond: Int64 = 1_000_000
}
