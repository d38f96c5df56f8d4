/// Decimal digits written straight into bytes.
///
/// A formatter or `String(describing:)` would allocate for each number; an export writes millions.
extension [UInt8] {
  /// Appends a number below 100 as two digits.
  mutating func appendTwoDigits(_ value: Int) {
    append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value / 10))
    append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value % 10))
  }

  /// Appends a number below 1,000 as three digits.
  mutating func appendThreeDigits(_ value: Int) {
    append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value / 100))
    appendTwoDigits(value % 100)
  }

  /// Appends a date as `YYYY-MM-DD`.
  mutating func append(_ date: CivilDate) {
    appendTwoDigits(date.year / 100)
    appendTwoDigits(date.year % 100)
    append(UInt8(ascii: "-"))
    appendTwoDigits(date.month)
    append(UInt8(ascii: "-"))
    appendTwoDigits(date.day)
  }

  /// Appends local microseconds since 1970 as `YYYY-MM-DDTHH:MM:SS`, with a fraction where it is not zero.
  mutating func appendDateAndTime(localMicroseconds: Int64) {
    let microsecondsPerDay: Int64 = 86_400_000_000
    // Rounds down also before 1970, where a plain division would round towards it.
    let dayNumber =
      (localMicroseconds &- Timestamp.earliest.microsecondsSince1970) / microsecondsPerDay
      + Int64(CivilDate.dayNumbers.lowerBound)
    let rest = Int(localMicroseconds - dayNumber * microsecondsPerDay)
    append(CivilDate(dayNumber: Int32(dayNumber)))
    append(UInt8(ascii: "T"))
    let (seconds, fraction) = rest.quotientAndRemainder(dividingBy: 1_000_000)
    appendTwoDigits(seconds / 3_600)
    append(UInt8(ascii: ":"))
    appendTwoDigits(seconds / 60 % 60)
    append(UInt8(ascii: ":"))
    appendTwoDigits(seconds % 60)
    guard fraction != 0 else { return }
    append(UInt8(ascii: "."))
    appendThreeDigits(fraction / 1_000)
    if fraction % 1_000 != 0 { appendThreeDigits(fraction % 1_000) }
  }

  /// Appends an offset from UTC as `Z` or `±HH:MM`.
  mutating func append(utcOffsetInMinutes offset: Int) {
    guard offset != 0 else { return append(UInt8(ascii: "Z")) }
    append(offset < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
    appendTwoDigits(abs(offset) / 60)
    append(UInt8(ascii: ":"))
    appendTwoDigits(abs(offset) % 60)
  }
}
