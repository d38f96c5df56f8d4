/// Dates and numbers written straight into bytes.
///
/// A formatter or `String(describing:)` would allocate for each; an export writes millions.
extension [UInt8] {
  /// Makes room for so many bytes at the end and has them filled; the closure is told where they begin.
  ///
  /// Appending byte by byte would look at ownership and capacity each time, which took a third of an export.
  mutating func append(count: Int, filledBy fill: (inout MutableSpan<UInt8>, Int) -> Void) {
    let start = self.count
    appendBlanks(count)
    var span = mutableSpan
    fill(&span, start)
  }

  /// Appends spaces.
  mutating func appendBlanks(_ count: Int) {
    // Copied from a constant in one go; `repeatElement` is appended element by element.
    let blanks: StaticString = "                                                                "
    var rest = count
    while rest > 0 {
      let step = Swift.min(rest, blanks.utf8CodeUnitCount)
      // The pointer is used within the call only.
      blanks.withUTF8Buffer { unsafe append(contentsOf: $0.prefix(step)) }
      rest -= step
    }
  }

  /// Appends a date as `YYYY-MM-DD`.
  mutating func append(_ date: CivilDate) {
    append(count: 10) { bytes, start in bytes.write(date, at: start) }
  }

  /// Appends local microseconds since 1970 as `YYYY-MM-DDTHH:MM:SS`, with a fraction where it is not zero.
  mutating func appendDateAndTime(localMicroseconds: Int64) {
    let microsecondsPerDay: Int64 = 86_400_000_000
    // Counting from the earliest day rounds down before 1970 too, where a plain division would round towards it.
    let days = (localMicroseconds &- Timestamp.microsecondsRange.lowerBound) / microsecondsPerDay
    let dayNumber = days + Int64(CivilDate.dayNumbers.lowerBound)
    let rest = Int(localMicroseconds - dayNumber * microsecondsPerDay)
    let (second, microsecond) = rest.quotientAndRemainder(dividingBy: 1_000_000)
    let fractionCount = microsecond == 0 ? 0 : microsecond.isMultiple(of: 1_000) ? 4 : 7
    append(count: 19 + fractionCount) { bytes, start in
      bytes.write(CivilDate(dayNumber: Int32(dayNumber)), at: start)
      bytes[start + 10] = UInt8(ascii: "T")
      bytes.writeTwoDigits(second / 3_600, at: start + 11)
      bytes[start + 13] = UInt8(ascii: ":")
      bytes.writeTwoDigits(second / 60 % 60, at: start + 14)
      bytes[start + 16] = UInt8(ascii: ":")
      bytes.writeTwoDigits(second % 60, at: start + 17)
      if fractionCount > 0 { bytes.write(fraction: microsecond, at: start + 19) }
    }
  }

  /// Appends an offset from UTC as `Z` or `±HH:MM`.
  mutating func append(utcOffsetInMinutes offset: Int) {
    guard offset != 0 else { return append(UInt8(ascii: "Z")) }
    append(count: 6) { bytes, start in
      bytes[start] = offset < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+")
      bytes.writeTwoDigits(abs(offset) / 60, at: start + 1)
      bytes[start + 3] = UInt8(ascii: ":")
      bytes.writeTwoDigits(abs(offset) % 60, at: start + 4)
    }
  }
}

extension String {
  /// Makes the text of bytes that a closure appends.
  init(writing write: (inout [UInt8]) -> Void) {
    var bytes: [UInt8] = []
    write(&bytes)
    self.init(decoding: bytes, as: UTF8.self)
  }
}

extension MutableSpan<UInt8> {
  /// Writes a number below 100 as two digits.
  @_lifetime(self: copy self)
  fileprivate mutating func writeTwoDigits(_ value: Int, at index: Int) {
    self[index] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value / 10)
    self[index + 1] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value % 10)
  }

  /// Writes a date as `YYYY-MM-DD`.
  @_lifetime(self: copy self)
  fileprivate mutating func write(_ date: CivilDate, at index: Int) {
    writeTwoDigits(date.year / 100, at: index)
    writeTwoDigits(date.year % 100, at: index + 2)
    self[index + 4] = UInt8(ascii: "-")
    writeTwoDigits(date.month, at: index + 5)
    self[index + 7] = UInt8(ascii: "-")
    writeTwoDigits(date.day, at: index + 8)
  }

  /// Writes a full stop and the digits of a fraction: 3 of whole milliseconds if no more fit, otherwise 6.
  @_lifetime(self: copy self)
  fileprivate mutating func write(fraction microsecond: Int, at index: Int) {
    self[index] = UInt8(ascii: ".")
    var rest = count - index > 4 ? microsecond : microsecond / 1_000
    for digitIndex in (index + 1..<count).reversed() {
      self[digitIndex] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
  }
}
