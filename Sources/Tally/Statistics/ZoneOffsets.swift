import Foundation

/// The UTC offsets of a time zone over some years, as spans during which the offset stays the same.
///
/// Asking Foundation for the start of a day costs about ten microseconds; a span answers for thousands of days.
struct ZoneOffsets {
  /// A span of time with one offset; in microseconds since 1970.
  struct Span {
    let start: Int64
    let end: Int64
    let offsetInMicroseconds: Int64
  }

  /// The spans, one after the other, without gaps.
  let spans: [Span]

  /// The offsets of a zone between two instants.
  ///
  /// - Complexity: a few microseconds for each change of the offset.
  init(of timeZone: TimeZone, from start: Int64, to end: Int64) {
    var spans: [Span] = []
    var spanStart = start
    while spanStart < end {
      let date = Self.date(spanStart)
      let offset = Int64(timeZone.secondsFromGMT(for: date)) * 1_000_000
      let next = timeZone.nextDaylightSavingTimeTransition(after: date).map(Self.microseconds) ?? end
      let spanEnd = next > spanStart ? min(next, end) : end
      if let last = spans.last, last.offsetInMicroseconds == offset {
        spans[spans.count - 1] = Span(start: last.start, end: spanEnd, offsetInMicroseconds: offset)
      } else {
        spans.append(Span(start: spanStart, end: spanEnd, offsetInMicroseconds: offset))
      }
      spanStart = spanEnd
    }
    self.spans = spans
  }

  /// One span without an offset, for times that are local already.
  init(localFrom start: Int64, to end: Int64) {
    spans = [Span(start: start, end: end, offsetInMicroseconds: 0)]
  }

  /// The days that the clock jumps over, as where a zone changes sides of the date line.
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

  private static func date(_ microseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }

  /// Changes of offset fall on whole seconds.
  private static func microseconds(_ date: Date) -> Int64 {
    Int64(date.timeIntervalSince1970.rounded()) * 1_000_000
  }
}
