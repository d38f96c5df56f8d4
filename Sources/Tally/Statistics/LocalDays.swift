/// Local days as pieces of time: each piece lies within one local day and one UTC offset.
///
/// A local day is all instants whose local date it is. Mostly that is one piece; when the clock goes back across
/// midnight a day comes in several, and a day that a zone skips has none.
struct LocalDays {
  /// A piece of a day, up to the start of the next one; in microseconds since 1970.
  struct Piece {
    let start: Int64
    let dayNumber: Int32
    let offsetInMicroseconds: Int64
  }

  /// The pieces, in the order of time.
  let pieces: [Piece]
  /// Where the last piece ends.
  let end: Int64

  /// The pieces of a range of local days.
  ///
  /// - Parameters:
  ///   - days: the day numbers, both included.
  ///   - offsets: spans that reach at least a day beyond the days on both sides.
  ///   - dayStartInMicroseconds: when a day begins, after local midnight.
  init(_ days: ClosedRange<Int32>, offsets: ZoneOffsets, dayStartInMicroseconds dayStart: Int64) {
    let day = QuarterHour.microsecondsPerDay
    var pieces: [Piece] = []
    var end = Int64.min
    pieces.reserveCapacity(days.count + 2 * offsets.spans.count)
    for span in offsets.spans {
      let shift = span.offsetInMicroseconds - dayStart
      let first = max(floorDivide(span.start + shift, by: day), Int64(days.lowerBound))
      let last = min(floorDivide(span.end - 1 + shift, by: day), Int64(days.upperBound))
      guard first <= last else { continue }
      for number in first...last {
        let start = max(span.start, number * day - shift)
        // Between this piece and the last one there may be time outside the range of days.
        if start != end, end != .min { pieces.append(Piece(start: end, dayNumber: .min, offsetInMicroseconds: 0)) }
        pieces.append(
          Piece(start: start, dayNumber: Int32(number), offsetInMicroseconds: span.offsetInMicroseconds))
        end = min(span.end, (number + 1) * day - shift)
      }
    }
    self.pieces = pieces
    self.end = end
  }

  /// Time within some days and one UTC offset.
  struct Interval {
    let start: Int64
    let end: Int64
    let offsetInMicroseconds: Int64
  }

  /// The pieces of some days, neighbours with the same offset joined.
  func intervals(in days: ClosedRange<Int32>) -> [Interval] {
    var intervals: [Interval] = []
    for (index, piece) in pieces.enumerated() where days.contains(piece.dayNumber) {
      let end = index + 1 < pieces.count ? pieces[index + 1].start : self.end
      if let last = intervals.last, last.end == piece.start, last.offsetInMicroseconds == piece.offsetInMicroseconds {
        intervals[intervals.count - 1] = Interval(
          start: last.start, end: end, offsetInMicroseconds: last.offsetInMicroseconds)
      } else {
        intervals.append(Interval(start: piece.start, end: end, offsetInMicroseconds: piece.offsetInMicroseconds))
      }
    }
    return intervals
  }
}
