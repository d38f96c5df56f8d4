/// Reads ISO 8601 days and instants, in the profile of RFC 3339, from UTF-8.
///
/// Stricter than both where leniency would mean guessing, and more lenient where a common form has only one meaning:
/// - The day is always `YYYY-MM-DD`, between the years 1 and 9999, and must exist.
/// - `T` separates day and time and `Z` means UTC; lower case is accepted, as in RFC 3339. A space is refused.
/// - Seconds may be left out (`12:00Z`), as in ISO 8601; they are then zero. A leap second is refused: it has no place
///   in a count of microseconds, and moving it would change the value.
/// - A fraction has 1 to 9 digits after a full stop; digits finer than a microsecond are cut off.
/// - The offset is `Z`, `±HH:MM` or `±HHMM`, within 23:59; `-00:00` means UTC. It is required: a local time without an
///   offset is not an instant.
package struct ISO8601Parser: ~Escapable {
  private let bytes: Span<UInt8>
  private var index = 0

  @_lifetime(copy bytes)
  private init(_ bytes: Span<UInt8>) {
    self.bytes = bytes
  }

  /// Reads a whole text as a day and returns its day number.
  ///
  /// - Throws: `invalidDay` or `valueOutOfRange`.
  package static func dayNumber(of bytes: Span<UInt8>) throws(TallyError) -> Int32 {
    var parser = ISO8601Parser(bytes)
    do throws(ISO8601Fault) {
      let dayNumber = try parser.day()
      guard parser.index == bytes.count else { throw .trailingText }
      return dayNumber
    } catch {
      throw error.dayError
    }
  }

  /// Reads a whole text as an instant and returns it in microseconds since 1970, with its UTC offset.
  ///
  /// - Throws: `invalidInstant` or `valueOutOfRange`.
  package static func instant(of bytes: Span<UInt8>) throws(TallyError) -> (
    microseconds: Int64, utcOffsetInMinutes: Int
  ) {
    var parser = ISO8601Parser(bytes)
    do {
      return try parser.wholeInstant()
    } catch {
      throw error.instantError
    }
  }

  @_lifetime(self: copy self)
  private mutating func wholeInstant() throws(ISO8601Fault) -> (microseconds: Int64, utcOffsetInMinutes: Int) {
    let dayNumber = try day()
    guard skip("T") || skip("t") else { throw index == bytes.count ? .missingTime : .malformedTime }
    let seconds = try timeOfDay()
    let fraction = try fractionInMicroseconds()
    let offset = try utcOffsetInMinutes()
    guard index == bytes.count else { throw .trailingText }
    let localSeconds = Int64(dayNumber) * 86_400 + Int64(seconds)
    let microseconds = (localSeconds - Int64(offset) * 60) * 1_000_000 + Int64(fraction)
    guard Timestamp.microsecondsRange.contains(microseconds) else { throw .outOfRange }
    return (microseconds, offset)
  }

  @_lifetime(self: copy self)
  private mutating func day() throws(ISO8601Fault) -> Int32 {
    if hasLongYear { throw .yearOutOfRange }
    guard let year = digits(4), skip("-"), let month = digits(2), skip("-"), let day = digits(2) else {
      throw .malformedDay
    }
    guard year >= 1 else { throw .yearOutOfRange }
    let date = CivilDate(year: year, month: month, day: day)
    guard date.exists else { throw .impossibleDay }
    return date.dayNumber
  }

  /// Whether the text begins with a year of more than four digits and a month.
  private var hasLongYear: Bool {
    var end = index
    while end < bytes.count, bytes[end].isDigit { end += 1 }
    return end - index > 4 && end + 2 < bytes.count && bytes[end] == UInt8(ascii: "-") && bytes[end + 1].isDigit
      && bytes[end + 2].isDigit
  }

  /// Reads the seconds since local midnight.
  @_lifetime(self: copy self)
  private mutating func timeOfDay() throws(ISO8601Fault) -> Int {
    guard let hour = digits(2), skip(":"), let minute = digits(2) else { throw .malformedTime }
    var second = 0
    if skip(":") {
      guard let value = digits(2) else { throw .malformedTime }
      second = value
    }
    guard hour <= 23, minute <= 59, second <= 60 else { throw .impossibleTime }
    guard second < 60 else { throw .leapSecond }
    return (hour * 60 + minute) * 60 + second
  }

  @_lifetime(self: copy self)
  private mutating func fractionInMicroseconds() throws(ISO8601Fault) -> Int {
    guard skip(".") else { return 0 }
    var value = 0
    var count = 0
    while let digit = digits(1) {
      count += 1
      if count <= 6 { value = value * 10 + digit }
    }
    guard (1...9).contains(count) else { throw .malformedFraction }
    for _ in count..<max(count, 6) { value *= 10 }
    return value
  }

  @_lifetime(self: copy self)
  private mutating func utcOffsetInMinutes() throws(ISO8601Fault) -> Int {
    if skip("Z") || skip("z") { return 0 }
    guard index < bytes.count else { throw .missingOffset }
    let isWest = skip("-")
    guard isWest || skip("+"), let hours = digits(2) else { throw .malformedOffset }
    _ = skip(":")
    guard let minutes = digits(2) else { throw .malformedOffset }
    guard hours <= 23, minutes <= 59 else { throw .impossibleOffset }
    let offset = hours * 60 + minutes
    return isWest ? -offset : offset
  }

  /// Skips the next byte if it is this character.
  @_lifetime(self: copy self)
  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard index < bytes.count, UInt32(bytes[index]) == character.value else { return false }
    index += 1
    return true
  }

  /// Reads exactly this number of decimal digits; `nil` if there are fewer.
  @_lifetime(self: copy self)
  private mutating func digits(_ count: Int) -> Int? {
    guard index + count <= bytes.count else { return nil }
    var value = 0
    for offset in index..<index + count {
      let digit = bytes[offset] &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      value = value * 10 + Int(digit)
    }
    index += count
    return value
  }
}

/// Why a text is not an ISO 8601 day or instant.
///
/// Each raw value is the fault as one sentence, without a full stop and without any of the text. The enum is
/// smaller than a `TallyError`, to which the parser's callers convert it, so that functions that can throw it
/// cost nothing extra in an import without faults.
package enum ISO8601Fault: String, Error {
  case malformedDay = "The day is not written as YYYY-MM-DD"
  case impossibleDay = "The text names a day that the calendar does not have"
  case yearOutOfRange = "The year is not between 0001 and 9999"
  case missingTime = "The instant has a day but no time"
  case malformedTime = "The time of day is not written as HH:MM:SS"
  case impossibleTime = "The time of day is beyond 23:59:59"
  case leapSecond = "The time of day is a leap second, which cannot be stored"
  case malformedFraction = "The fraction of a second does not have 1 to 9 digits"
  case missingOffset = "The instant does not say its offset from UTC"
  case malformedOffset = "The offset from UTC is not written as Z, +HH:MM or -HH:MM"
  case impossibleOffset = "The offset from UTC is beyond 23:59"
  case trailingText = "There is more text after the end of the value"
  case outOfRange = "The instant is not between the years 0001 and 9999"

  /// The fault as an error about a calendar day.
  package var dayError: TallyError { error(.invalidDay, remedy: "Write a day as YYYY-MM-DD, as in 2026-11-21") }

  /// The fault as an error about an instant.
  package var instantError: TallyError {
    error(.invalidInstant, remedy: "Write an instant as in 2026-11-21T12:00:00Z or 2026-11-21T15:00:00+03:00")
  }

  private func error(_ code: TallyError.Code, remedy: String) -> TallyError {
    TallyError(self == .yearOutOfRange || self == .outOfRange ? .valueOutOfRange : code, rawValue, remedy: remedy)
  }
}

/// Writes dates and numbers directly as bytes.
///
/// A formatter or `String(describing:)` would allocate memory for each value, and an export writes millions.
/// The space for a whole value is reserved once: appending to an array byte by byte would check its ownership
/// and capacity each time.
extension OutputSpan<UInt8> {
  /// Appends a date as `YYYY-MM-DD`; 10 bytes.
  @_lifetime(self: copy self)
  package mutating func append(_ date: CivilDate) {
    appendTwoDigits(date.year / 100)
    appendTwoDigits(date.year % 100)
    append(UInt8(ascii: "-"))
    appendTwoDigits(date.month)
    append(UInt8(ascii: "-"))
    appendTwoDigits(date.day)
  }

  /// Appends local microseconds since 1970 as `YYYY-MM-DDTHH:MM:SS`, with a fraction if it is not zero; at most
  /// 26 bytes.
  @_lifetime(self: copy self)
  package mutating func appendDateAndTime(localMicroseconds: Int64) {
    let microsecondsPerDay: Int64 = 86_400_000_000
    // Counting from the earliest day rounds down also before 1970, where plain division would round up.
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
  package mutating func append(utcOffsetInMinutes offset: Int) {
    guard offset != 0 else { return append(UInt8(ascii: "Z")) }
    append(offset < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
    appendTwoDigits(abs(offset) / 60)
    append(UInt8(ascii: ":"))
    appendTwoDigits(abs(offset) % 60)
  }

  /// Appends an integer in decimal; at most 20 bytes.
  @_lifetime(self: copy self)
  package mutating func append(decimal number: Int64) {
    if number < 0 { append(UInt8(ascii: "-")) }
    var count = 1
    var limit: UInt64 = 10
    // No magnitude has more than 19 digits, and another step would overflow the limit.
    while count < 19, number.magnitude >= limit {
      count += 1
      limit &*= 10
    }
    appendDigits(of: number.magnitude, count: count)
  }

  /// Appends a full stop and the digits of a non-zero fraction, without trailing zeros.
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
