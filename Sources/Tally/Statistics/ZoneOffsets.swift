import Foundation

/// A span of time with one UTC offset; in microseconds since 1970.
struct OffsetSpan {
  let start: Int64
  let end: Int64
  let offsetInMicroseconds: Int64
}

/// The UTC offsets of a time zone over some years, as spans during which the offset stays the same.
///
/// A span covers thousands of days at once.
struct ZoneOffsets {
  /// The spans, one after the other, without gaps.
  let spans: [OffsetSpan]

  /// The offsets of a zone in a stretch of time whose ends are whole seconds.
  ///
  /// - Complexity: a step for each change of the offset.
  init(of timeZone: TimeZone, in time: Range<Int64>) {
    let rules = TimeZoneRules(of: timeZone)
    var spans: [OffsetSpan] = []
    var spanStart = time.lowerBound
    while spanStart < time.upperBound {
      let second = floorDivide(spanStart, by: 1_000_000)
      let offset = rules.offset(atSecond: second) * 1_000_000
      let spanEnd = rules.change(afterSecond: second).map { min($0 * 1_000_000, time.upperBound) } ?? time.upperBound
      spans.append(OffsetSpan(start: spanStart, end: spanEnd, offsetInMicroseconds: offset))
      spanStart = spanEnd
    }
    assert(zip(spans, spans.dropFirst()).allSatisfy { $0.end == $1.start }, "a gap between two spans")
    self.spans = spans
  }

  /// One span without an offset, for times that are local already.
  init(localIn time: Range<Int64>) {
    spans = [OffsetSpan(start: time.lowerBound, end: time.upperBound, offsetInMicroseconds: 0)]
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
}
