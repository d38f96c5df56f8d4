/// Reads days and instants of ISO 8601, in the profile of RFC 3339, from UTF-8.
///
/// Stricter than both where leniency would mean guessing, wider where a common form has only one meaning:
/// - The day is always `YYYY-MM-DD`, between the years 1 and 9999, and must exist.
/// - `T` separates day and time and `Z` means UTC; lower case is accepted, as RFC 3339 does. A space is refused.
/// - Seconds may be left out (`12:00Z`), as in ISO 8601; they are then zero. A leap second is refused: it has no place
///   in a count of microseconds, and moving it would change the value.
/// - A fraction has 1 to 9 digits after a full stop; digits finer than a microsecond are cut off.
/// - The offset is `Z`, `±HH:MM` or `±HHMM`, within 23:59; `-00:00` means UTC. It is required: a local time without an
///   offset is not an instant.
struct ISO8601Parser: ~Escapable {
  private let bytes: Span<UInt8>
  private var index = 0

  @_lifetime(copy bytes)
  private init(_ bytes: Span<UInt8>) {
    self.bytes = bytes
  }

  /// Reads a whole text as a day and gives its number.
  ///
  /// - Throws: `invalidDay` or `valueOutOfRange`.
  static func dayNumber(of bytes: Span<UInt8>) throws(TallyError) -> Int32 {
    var parser = ISO8601Parser(bytes)
    do throws(ISO8601Fault) {
      let dayNumber = try parser.day()
      guard parser.index == bytes.count else { throw .trailingText }
      return dayNumber
    } catch {
      throw error.dayError
    }
  }

  /// Reads a whole text as an instant, in microseconds since 1970, with its offset.
  ///
  /// - Throws: `invalidInstant` or `valueOutOfRange`.
  static func instant(of bytes: Span<UInt8>) throws(TallyError) -> (microseconds: Int64, utcOffsetInMinutes: Int) {
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
    guard take("T") || take("t") else { throw index == bytes.count ? .missingTime : .malformedTime }
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
    guard let year = digits(4), take("-"), let month = digits(2), take("-"), let day = digits(2) else {
      throw .malformedDay
    }
    guard year >= 1 else { throw .yearOutOfRange }
    let date = CivilDate(year: year, month: month, day: day)
    guard date.exists else { throw .impossibleDay }
    return date.dayNumber
  }

  /// Whether the text begins with a year of more than four digits, and a month.
  private var hasLongYear: Bool {
    var end = index
    while end < bytes.count, bytes[end].isDigit { end += 1 }
    return end - index > 4 && end + 2 < bytes.count && bytes[end] == UInt8(ascii: "-") && bytes[end + 1].isDigit
      && bytes[end + 2].isDigit
  }

  /// The seconds since local midnight.
  @_lifetime(self: copy self)
  private mutating func timeOfDay() throws(ISO8601Fault) -> Int {
    guard let hour = digits(2), take(":"), let minute = digits(2) else { throw .malformedTime }
    var second = 0
    if take(":") {
      guard let value = digits(2) else { throw .malformedTime }
      second = value
    }
    guard hour <= 23, minute <= 59, second <= 60 else { throw .impossibleTime }
    guard second < 60 else { throw .leapSecond }
    return (hour * 60 + minute) * 60 + second
  }

  @_lifetime(self: copy self)
  private mutating func fractionInMicroseconds() throws(ISO8601Fault) -> Int {
    guard take(".") else { return 0 }
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
    if take("Z") || take("z") { return 0 }
    guard index < bytes.count else { throw .missingOffset }
    let isWest = take("-")
    guard isWest || take("+"), let hours = digits(2) else { throw .malformedOffset }
    _ = take(":")
    guard let minutes = digits(2) else { throw .malformedOffset }
    guard hours <= 23, minutes <= 59 else { throw .impossibleOffset }
    let offset = hours * 60 + minutes
    return isWest ? -offset : offset
  }

  /// Skips one byte if it is this character.
  @_lifetime(self: copy self)
  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard index < bytes.count, UInt32(bytes[index]) == character.value else { return false }
    index += 1
    return true
  }

  /// Reads exactly this number of decimal digits, or nothing.
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
