/// Local days as pieces of time: each piece lies within one local day and one UTC offset.
///
/// A local day is all instants with that local date. Mostly that is one piece; when the clock goes back across
/// midnight a day comes in several, and a day that a zone skips has none.
struct LocalDays {
  /// A piece of a day, up to the start of the next one; in microseconds since 1970.
  struct Piece {
    let start: Int64
    let dayNumber: Int32
    let offsetInMicroseconds: Int64
  }

  /// Stands for all days outside the range: time between two pieces that belongs to none of its days.
  static let noDay = Int32.min

  /// The pieces, in the order of time.
  let pieces: [Piece]
  /// Where the last piece ends.
  let end: Int64

  /// The pieces of a range of local days, both ends included, each of which begins some time after local midnight.
  ///
  /// The offsets must reach at least two days beyond the days on both sides.
  init(_ days: ClosedRange<Int32>, offsets: ZoneOffsets, dayStartInMicroseconds dayStart: Int64) {
    let day = QuarterHour.microsecondsPerDay
    var pieces: [Piece] = []
    var end = Int64.max
    pieces.reserveCapacity(days.count + 2 * offsets.spans.count)
    for span in offsets.spans {
      let shift = span.offsetInMicroseconds - dayStart
      let first = max(floorDivide(span.start + shift, by: day), Int64(days.lowerBound))
      let last = min(floorDivide(span.end - 1 + shift, by: day), Int64(days.upperBound))
      guard first <= last else {
        // Days that the zone skipped end where the clock jumps over them.
        if pieces.isEmpty, first > days.upperBound { end = min(end, span.start) }
        continue
      }
      for number in first...last {
        let start = max(span.start, number * day - shift)
        if start != end, !pieces.isEmpty {
          pieces.append(Piece(start: end, dayNumber: Self.noDay, offsetInMicroseconds: 0))
        }
        pieces.append(Piece(start: start, dayNumber: Int32(number), offsetInMicroseconds: span.offsetInMicroseconds))
        end = min(span.end, (number + 1) * day - shift)
      }
    }
    self.pieces = pieces
    self.end = end
  }

  /// The pieces that belong to the days, neighbours with the same offset joined.
  var intervals: [OffsetSpan] {
    var intervals: [OffsetSpan] = []
    for (index, piece) in pieces.enumerated() where piece.dayNumber != Self.noDay {
      let (offset, end) = (piece.offsetInMicroseconds, end(ofPiece: index))
      var start = piece.start
      if let last = intervals.last, last.end == start, last.offsetInMicroseconds == offset {
        start = last.start
        intervals.removeLast()
      }
      intervals.append(OffsetSpan(start: start, end: end, offsetInMicroseconds: offset))
    }
    return intervals
  }

  /// Where the first piece begins; where they end if there is none.
  var start: Int64 {
    pieces.first?.start ?? end
  }

  /// Where the pieces begin, and where the last one ends.
  var boundaries: [Int64] {
    pieces.map(\.start) + [end]
  }

  /// Where a piece ends.
  func end(ofPiece index: Int) -> Int64 {
    index + 1 < pieces.count ? pieces[index + 1].start : end
  }

  /// Where each of some ranges of days, in order, ends for the last time; a skipped one ends where the one before it
  /// does.
  func ends(of ranges: [ClosedRange<Int32>]) -> [Int64] {
    var lastEnds: [Int32: Int64] = [:]
    for (index, piece) in pieces.enumerated() { lastEnds[piece.dayNumber] = end(ofPiece: index) }
    // If the first range was skipped, the next one begins where it would have.
    var end = start
    return ranges.map { range in
      end = range.reversed().lazy.compactMap { lastEnds[$0] }.first ?? end
      return end
    }
  }
}
