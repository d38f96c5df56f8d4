extension YearlyRule {
  /// Reads the form of the `TZ` variable, as in `CET-1CEST,M3.5.0,M10.5.0/3` (POSIX.1, "Other Environment Variables"),
  /// with the hours from -167 to 167 of RFC 9636, section 3.3.1.
  ///
  /// `nil` for anything else, the rest of a text included; also for daylight saving time without dates.
  init?(posix text: some Collection<UInt8>) {
    var reader = POSIXRuleReader(bytes: [UInt8](text)[...])
    guard reader.skipName(), let standardOffset = reader.offset() else { return nil }
    self.standardOffset = standardOffset
    guard !reader.isAtEnd else {
      daylight = nil
      return
    }
    guard reader.skipName() else { return nil }
    let offset = reader.isAt(",") ? standardOffset + 3_600 : reader.offset()
    guard let offset, reader.take(","), let start = reader.date(), reader.take(","), let end = reader.date(),
      reader.isAtEnd
    else { return nil }
    daylight = Daylight(offset: offset, start: start, end: end)
  }
}

/// Reads a `TZ` text from front to back; each part is `nil` where the text has something else.
private struct POSIXRuleReader {
  var bytes: ArraySlice<UInt8>

  var isAtEnd: Bool { bytes.isEmpty }

  func isAt(_ character: Unicode.Scalar) -> Bool {
    bytes.first == UInt8(ascii: character)
  }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard isAt(character) else { return false }
    bytes.removeFirst()
    return true
  }

  /// Skips the name of an offset: letters, or anything in angle brackets.
  mutating func skipName() -> Bool {
    if take("<") {
      bytes = bytes.drop { $0 != UInt8(ascii: ">") }
      return take(">")
    }
    let count = bytes.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }.count
    bytes = bytes.dropFirst(count)
    return count > 0
  }

  /// An offset as seconds east of UTC.
  ///
  /// The text has the opposite sign: what to add to local time.
  mutating func offset() -> Int64? {
    guard let seconds = time(), abs(seconds) < 86_400 else { return nil }
    return -seconds
  }

  mutating func date() -> YearlyDate? {
    guard let day = day() else { return nil }
    guard take("/") else { return YearlyDate(day: day, second: 7_200) }
    return time().map { YearlyDate(day: day, second: $0) }
  }

  private mutating func day() -> YearlyDate.Day? {
    if take("J") { return number(in: 1...365).map { .dayOfCommonYear($0) } }
    guard take("M") else { return number(in: 0...365).map { .dayOfYear($0) } }
    guard let month = number(in: 1...12), take("."), let week = number(in: 1...5), take("."),
      let weekday = number(in: 0...6)
    else { return nil }
    return .weekday(weekday, week: week, month: month)
  }

  /// Hours, with minutes and seconds if they follow, in seconds.
  private mutating func time() -> Int64? {
    let isNegative = take("-")
    if !isNegative { _ = take("+") }
    guard let hours = number(in: 0...167) else { return nil }
    var seconds = 3_600 * hours
    for unit in [60, 1] where take(":") {
      guard let value = number(in: 0...59) else { return nil }
      seconds += unit * value
    }
    return Int64(isNegative ? -seconds : seconds)
  }

  private mutating func number(in range: ClosedRange<Int>) -> Int? {
    let digits = bytes.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    bytes = bytes.dropFirst(digits.count)
    return Int(String(decoding: digits, as: UTF8.self)).flatMap { range.contains($0) ? $0 : nil }
  }
}
