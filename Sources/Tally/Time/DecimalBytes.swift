/// Dates and numbers written straight into bytes.
///
/// A formatter or `String(describing:)` would allocate for each; an export writes millions. Space is reserved once for a
/// whole value, as appending to an array byte by byte would check its ownership and capacity each time.
extension OutputSpan<UInt8> {
  /// Appends a date as `YYYY-MM-DD`; 10 bytes.
  @_lifetime(self: copy self)
  mutating func append(_ date: CivilDate) {
    appendTwoDigits(date.year / 100)
    appendTwoDigits(date.year % 100)
    append(UInt8(ascii: "-"))
    appendTwoDigits(date.month)
    append(UInt8(ascii: "-"))
    appendTwoDigits(date.day)
  }

  /// Appends local microseconds since 1970 as `YYYY-MM-DDTHH:MM:SS`, with a fraction where it is not zero; at most 26
  /// bytes.
  @_lifetime(self: copy self)
  mutating func appendDateAndTime(localMicroseconds: Int64) {
    let microsecondsPerDay: Int64 = 86_400_000_000
    // Counting from the earliest day rounds down before 1970 too, where a plain division would round towards it.
    let days = (localMicroseconds &- Timestamp.microsecondsRange.lowerBound) / microsecondsPerDay
    let dayNumber = days + Int64(CivilDate.dayNumbers.lowerBound)
    let rest = Int(localMicroseconds - dayNumber * microsecondsPerDay)
    let (second, microsecond) = rest.quotientAndRemainder(dividingBy: 1_000_000)
    append(CivilDate(dayNumber: Int32(dayNumber)))
    append(UInt8(ascii: "T"))
    appendTwoDigits(second / 3_600)
    append(UInt8(ascii: ":"))
    appendTwoDigits(second / 60 % 60)
    append(UInt8(ascii: ":"))
    appendTwoDigits(second % 60)
    if microsecond != 0 { append(fraction: microsecond) }
  }

  /// Appends an offset from UTC as `Z` or `±HH:MM`; at most 6 bytes.
  @_lifetime(self: copy self)
  mutating func append(utcOffsetInMinutes offset: Int) {
    guard offset != 0 else { return append(UInt8(ascii: "Z")) }
    append(offset < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
    appendTwoDigits(abs(offset) / 60)
    append(UInt8(ascii: ":"))
    appendTwoDigits(abs(offset) % 60)
  }

  /// Appends an integer in decimal; at most 20 bytes.
  @_lifetime(self: copy self)
  mutating func append(decimal number: Int64) {
    if number < 0 { append(UInt8(ascii: "-")) }
    var count = 1
    var limit: UInt64 = 10
    // No magnitude has more than 19 digits; one step more would overflow the limit.
    while count < 19, number.magnitude >= limit {
      count += 1
      limit &*= 10
    }
    appendDigits(of: number.magnitude, count: count)
  }

  /// Appends the digits of a fraction that is not zero behind a full stop, without zeros at their end.
  @_lifetime(self: copy self)
  private mutating func append(fraction microsecond: Int) {
    append(UInt8(ascii: "."))
    var (digits, count) = (UInt64(microsecond), 6)
    while count > 1, digits.isMultiple(of: 10) { (digits, count) = (digits / 10, count - 1) }
    appendDigits(of: digits, count: count)
  }

  /// Appends a number below 100 as two digits.
  @inline(__always)
  @_lifetime(self: copy self)
  private mutating func appendTwoDigits(_ value: Int) {
    let (tens, ones) = UInt8(truncatingIfNeeded: value).quotientAndRemainder(dividingBy: 10)
    append(UInt8(ascii: "0") &+ tens)
    append(UInt8(ascii: "0") &+ ones)
  }

  /// Appends the last digits of a number, with leading zeros.
  @_lifetime(self: copy self)
  private mutating func appendDigits(of number: UInt64, count digitCount: Int) {
    let start = count
    append(repeating: UInt8(ascii: "0"), count: digitCount)
    var digits = mutableSpan
    var rest = number
    for index in (start..<start + digitCount).reversed() {
      digits[index] &+= UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
  }
}
