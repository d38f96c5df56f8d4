package import Foundation
package import SystemPackage
import TallySystem

/// The UTC offsets of a time zone over time, from the system's tz database, or from Foundation for zones not in it.
///
/// The database comes first because Foundation on Linux uses its own copy from when it was built. That copy
/// keeps the rules of its year however often the system is updated, and it lacks the histories that the
/// database lists as backward: Amsterdam before 1940 gets the times of Brussels. The C library, Python and
/// PostgreSQL use the system's files too. Foundation remains for fixed offsets (`GMT+0300`), which no file
/// lists, and for systems without a database.
package enum TimeZoneRules {
  case table(TimeZoneTable)
  case foundation(TimeZone)

  /// The rules of a zone.
  ///
  /// - Complexity: A lookup by name; the first one for a zone reads a file of a few kilobytes.
  package init(of timeZone: TimeZone, in database: TimeZoneDatabase = .system) {
    self = database.table(named: timeZone.identifier).map(Self.table) ?? .foundation(timeZone)
  }

  /// Local time minus UTC at a second since 1970, in seconds.
  package func offset(atSecond second: Int64) -> Int64 {
    switch self {
    case .table(let table): table.offset(atSecond: second)
    // A `Date` without a fraction is exact over the whole range of instants.
    case .foundation(let timeZone):
      Int64(timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second))))
    }
  }

  /// The next second since 1970 at which the offset changes; `nil` if it never changes again.
  package func change(afterSecond second: Int64) -> Int64? {
    switch self {
    case .table(let table): table.change(afterSecond: second)
    case .foundation(let timeZone):
      timeZone.nextDaylightSavingTimeTransition(after: Date(timeIntervalSince1970: Double(second)))
        .map { Int64($0.timeIntervalSince1970.rounded()) }
        .flatMap { $0 > second ? $0 : nil }
    }
  }
}

/// The files of the tz database, each read once.
///
/// A file that changes while the process runs is not read again, as with Foundation and the C library.
package final class TimeZoneDatabase: Sendable {
  /// The system's database, in the directory named by `TZDIR` (tzset(3)) or in one of the usual places.
  package static let system = TimeZoneDatabase(
    // Reads only this variable, because reading all of them takes longer than reading the zone. The
    // system's string is copied, and never changed.
    directories: [unsafe getenv("TZDIR").map { unsafe String(cString: $0) }].compactMap { $0 } + [
      "/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo",
    ])

  private let directories: [FilePath]
  private let tables = Monitor<[String: TimeZoneTable?]>([:])

  /// Creates a database that looks for each zone in some directories, and uses the first that has it.
  package init(directories: [String]) {
    self.directories = directories.map { FilePath($0) }
  }

  /// The table of a zone; `nil` if no readable, well-formed file has its name.
  ///
  /// - Complexity: A lookup; the first one for a name reads a file.
  package func table(named name: String) -> TimeZoneTable? {
    tables.withLock { tables in
      if let known = tables[name] { return known }
      let table = read(name)
      tables[name] = .some(table)
      return table
    }
  }

  private func read(_ name: String) -> TimeZoneTable? {
    let path = FilePath(name)
    // The name must not lead out of its directory.
    guard path.isRelative, !path.isEmpty, path.isLexicallyNormal, path.components.first?.kind == .regular else {
      return nil
    }
    // A loop and not a lazy map, which would read the first file twice.
    for directory in directories {
      if let table = Self.table(at: directory.pushing(path)) { return table }
    }
    return nil
  }

  private static func table(at file: FilePath) -> TimeZoneTable? {
    // The largest zones take a few kilobytes; reading a device or a pipe might never end.
    guard let status = try? file.stat(), status.type == .regular, status.size <= 1 << 20,
      let descriptor = try? FileDescriptor.open(file, .readOnly, options: .closeOnExec),
      let bytes = try? descriptor.closeAfter({ try descriptor.readToEnd() })
    else { return nil }
    return TimeZoneTable(tzif: bytes)
  }
}

extension TimeZoneDatabase {
  /// Whether the system has a database.
  package var isThere: Bool { table(named: "Etc/UTC") != nil || table(named: "UTC") != nil }

  /// Whether the database has a zone of this name.
  package func contains(_ name: String) -> Bool { table(named: name) != nil }

  /// The name of the zone in a system file, which is a file of the database, a link to one, or a copy of one.
  ///
  /// - Complexity: Follows at most eight links; a copy is compared with every zone.
  package func name(ofFile file: FilePath) -> String? {
    var file = file.lexicallyNormalized()
    for _ in 0..<8 {
      if let name = name(ofFileWithin: file) { return name }
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: file.string) else { break }
      let path = FilePath(target)
      file = (path.isAbsolute ? path : file.removingLastComponent().pushing(path)).lexicallyNormalized()
    }
    guard let table = Self.table(at: file) else { return nil }
    // Debian records the name of a copied zone in this file.
    let recorded = (try? String(contentsOfFile: "/etc/timezone", encoding: .utf8))?.trimmingCharacters(in: .newlines)
    return ([recorded].compactMap { $0 } + TimeZone.knownTimeZoneIdentifiers).first { self.table(named: $0) == table }
  }

  /// The directory of a second copy of all zones, on systems that have one.
  private static let posixPrefix = "posix/"

  private func name(ofFileWithin file: FilePath) -> String? {
    let path = file.string
    for directory in directories {
      // Compared as strings: views of path components would take a tenth of a command's start.
      let start = directory.string + "/"
      guard path.hasPrefix(start) else { continue }
      var name = path.dropFirst(start.count)
      while name.hasPrefix(Self.posixPrefix) { name = name.dropFirst(Self.posixPrefix.count) }
      if TimeZone(identifier: String(name)) != nil, contains(String(name)) { return String(name) }
    }
    return nil
  }
}

/// The UTC offsets of a zone, and the rule that applies after the last listed change.
package struct TimeZoneTable: Equatable {
  /// The seconds since 1970 at which the offset changes, ascending.
  private let changes: [Int64]
  /// The offsets in seconds: first the one before all changes, then one for each change.
  private let offsets: [Int64]
  /// The rule that applies from `ruleStart` on; if `nil`, the last offset stays.
  private let rule: YearlyRule?
  /// The last second that the file lists, even if nothing changed then: the rule does not apply before it.
  private let ruleStart: Int64

  /// Creates a table from changes in ascending order; changes that leave the offset as it is, such as a change
  /// of name, are dropped.
  package init(firstOffset: Int64, changes: [(second: Int64, offset: Int64)], rule: YearlyRule?) {
    assert(zip(changes, changes.dropFirst()).allSatisfy { $0.second <= $1.second }, "changes out of order")
    var (seconds, offsets): ([Int64], [Int64]) = ([], [firstOffset])
    for change in changes where change.offset != offsets.last {
      seconds.append(change.second)
      offsets.append(change.offset)
    }
    (self.changes, self.offsets, self.rule) = (seconds, offsets, rule)
    ruleStart = changes.last?.second ?? .min
  }

  /// Local time minus UTC at a second since 1970, in seconds.
  package func offset(atSecond second: Int64) -> Int64 {
    if second >= ruleStart, let rule { return rule.offset(atSecond: second) }
    return offsets[indexOfChange(afterSecond: second)]
  }

  /// The next second since 1970 at which the offset changes; `nil` if it never changes again.
  package func change(afterSecond second: Int64) -> Int64? {
    let index = indexOfChange(afterSecond: second)
    return index < changes.count ? changes[index] : rule?.change(afterSecond: max(second, ruleStart))
  }

  /// The index of the first change after a second, by binary search; the number of changes if there is none.
  private func indexOfChange(afterSecond second: Int64) -> Int {
    assert(offsets.count == changes.count + 1, "an offset before, and one from each change on")
    var (low, high) = (0, changes.count)
    while low < high {
      let middle = (low + high) / 2
      if changes[middle] <= second { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension TimeZoneTable {
  /// Reads a file of the tz database in the Time Zone Information Format (RFC 9636).
  ///
  /// Returns `nil` for any other file, and for the "right" zones, which count leap seconds, as instants here do not.
  package init?(tzif bytes: [UInt8]) {
    // Unsafe only by its signature: any bytes may be read as bytes.
    let bytes = unsafe bytes.span.bytes
    guard let first = TZifHeader(bytes, at: 0) else { return nil }
    guard first.version != 0 else {
      self.init(bytes, first, timeByteCount: 4, rule: nil)
      return
    }
    // A second block with 64-bit times follows the first, and then a line with the rule for later times.
    guard let second = TZifHeader(bytes, at: first.end(timeByteCount: 4)) else { return nil }
    let end = second.end(timeByteCount: 8)
    guard bytes.byteCount > end, bytes.load(bigEndianAt: end) == UInt8(ascii: "\n") else { return nil }
    let line = bytes.bytes(from: end + 1).prefix { $0 != UInt8(ascii: "\n") }
    let rule = YearlyRule(posix: line)
    guard line.isEmpty || rule != nil else { return nil }
    self.init(bytes, second, timeByteCount: 8, rule: rule)
  }

  private init?(_ bytes: RawSpan, _ header: TZifHeader, timeByteCount: Int, rule: YearlyRule?) {
    guard header.leapSecondCount == 0, header.typeCount > 0, header.end(timeByteCount: timeByteCount) <= bytes.byteCount
    else { return nil }
    let typeIndexes = header.start + header.changeCount * timeByteCount
    let types = typeIndexes + header.changeCount
    let offsets = (0..<header.typeCount).map { index in
      Int64(Int32(bitPattern: bytes.load(bigEndianAt: types + index * TZifHeader.typeByteCount)))
    }
    // No clock was ever a whole day from UTC; the arithmetic with days relies on it.
    guard offsets.allSatisfy({ abs($0) < 86_400 }) else { return nil }
    var changes: [(second: Int64, offset: Int64)] = []
    for index in 0..<header.changeCount {
      let start = header.start + index * timeByteCount
      let second =
        timeByteCount == 4
        ? Int64(Int32(bitPattern: bytes.load(bigEndianAt: start))) : Int64(bitPattern: bytes.load(bigEndianAt: start))
      let type = Int(bytes.load(bigEndianAt: typeIndexes + index, as: UInt8.self))
      guard type < offsets.count, changes.last.map({ $0.second < second }) ?? true else { return nil }
      changes.append((second: second, offset: offsets[type]))
    }
    // Some files begin billions of years ago, which would overflow in microseconds.
    let limit: Int64 = 1 << 40
    let within = changes.map { (second: min(max($0.second, -limit), limit), offset: $0.offset) }
    self.init(firstOffset: offsets[0], changes: within, rule: rule)
  }
}

/// The header of a block of a TZif file, which counts the parts of the block (RFC 9636, section 3.1).
private struct TZifHeader {
  static let byteCount = 44
  /// An offset of four bytes, one byte for daylight saving time, and one byte for the position of the name.
  static let typeByteCount = 6

  let version: UInt8
  /// Where the block's data begins.
  let start: Int
  let changeCount: Int
  let typeCount: Int
  let leapSecondCount: Int
  private let nameByteCount: Int
  private let indicatorCount: Int

  init?(_ bytes: RawSpan, at offset: Int) {
    guard offset + Self.byteCount <= bytes.byteCount, bytes.load(bigEndianAt: offset, as: UInt32.self) == 0x545A_6966
    else { return nil }
    func count(_ index: Int) -> Int { Int(bytes.load(bigEndianAt: offset + 20 + 4 * index, as: UInt32.self)) }
    version = bytes.load(bigEndianAt: offset + 4)
    start = offset + Self.byteCount
    indicatorCount = count(0) + count(1)
    leapSecondCount = count(2)
    changeCount = count(3)
    typeCount = count(4)
    nameByteCount = count(5)
  }

  /// Where the block ends, given the size of its times in bytes.
  func end(timeByteCount: Int) -> Int {
    start + changeCount * (timeByteCount + 1) + typeCount * Self.typeByteCount + nameByteCount
      + leapSecondCount * (timeByteCount + 4) + indicatorCount
  }
}

extension TimeZone {
  /// Creates a zone with one offset from the form of the `TZ` variable (`UTC-3` is three hours ahead of UTC);
  /// `nil` for any other text.
  ///
  /// The name before the offset has no meaning. Rules for daylight saving time are refused, because Foundation
  /// has no zones for them.
  package init?(posix text: String) {
    guard let rule = YearlyRule(posix: text.utf8), rule.daylight == nil else { return nil }
    self.init(secondsFromGMT: Int(rule.standardOffset))
  }
}

/// Offsets that follow the same rule every year: one offset, or two and the dates on which they alternate.
package struct YearlyRule: Equatable {
  /// Daylight saving time.
  ///
  /// Its offset may be the smaller one, as in Dublin, where it begins in autumn.
  package struct Daylight: Equatable {
    package let offset: Int64
    package let start: YearlyDate
    package let end: YearlyDate
  }

  /// Local time minus UTC, in seconds.
  package let standardOffset: Int64
  package let daylight: Daylight?

  /// Local time minus UTC at a second since 1970, in seconds.
  package func offset(atSecond second: Int64) -> Int64 {
    changes(around: second).last { $0.second <= second }?.offset ?? standardOffset
  }

  /// The next second since 1970 at which the offset changes; `nil` if it never changes again.
  package func change(afterSecond second: Int64) -> Int64? {
    changes(around: second).first { $0.second > second }?.second
  }

  /// The changes from the year before an instant to the year after it, in order.
  private func changes(around second: Int64) -> [(second: Int64, offset: Int64)] {
    guard let daylight else { return [] }
    let days = CivilDate.dayNumbers
    let day = floorDivide(second, by: 86_400)
    let year = CivilDate(dayNumber: Int32(clamping: min(max(day, Int64(days.lowerBound)), Int64(days.upperBound)))).year
    let changes = ((year - 1)...(year + 1)).flatMap { year in
      [
        (second: daylight.start.localSecond(in: year) - standardOffset, offset: daylight.offset),
        (second: daylight.end.localSecond(in: year) - daylight.offset, offset: standardOffset),
      ]
    }
    // If daylight saving time lasts all year, each year's begins at the moment when the previous one ends; the
    // beginning must then come last.
    func rank(_ offset: Int64) -> Int { offset == daylight.offset ? 1 : 0 }
    return changes.sorted { ($0.second, rank($0.offset)) < ($1.second, rank($1.offset)) }
  }
}

/// A date that comes every year, with a time of day.
package struct YearlyDate: Equatable {
  package enum Day: Equatable {
    /// A weekday, 0 for Sunday, of a month: the first (1) to the fourth, or the last (5).
    case weekday(Int, week: Int, month: Int)
    /// A day of the year counted from 0, including February 29.
    case dayOfYear(Int)
    /// A day of the year counted from 1, as if February 29 did not exist.
    case dayOfCommonYear(Int)
  }

  package let day: Day
  /// Seconds after midnight; may be negative or more than a day.
  package let second: Int64

  /// The local time in a year, as if it were UTC, in seconds since 1970.
  package func localSecond(in year: Int) -> Int64 {
    Int64(dayNumber(in: year)) * 86_400 + second
  }

  private func dayNumber(in year: Int) -> Int32 {
    let newYear = CivilDate(year: year, month: 1, day: 1).dayNumber
    switch day {
    case .weekday(let weekday, let week, let month):
      let first = CivilDate(year: year, month: month, day: 1).dayNumber
      // 1970-01-01 was a Thursday, 4 days after a Sunday.
      let sunday = floorDivide(Int64(first) + 4, by: 7) * 7 - 4
      let wait = (Int(sunday - Int64(first)) + weekday + 7) % 7
      let date = CivilDate(year: year, month: month, day: 1 + wait + 7 * (week - 1))
      return date.exists ? date.dayNumber : first + Int32(wait + 7 * (week - 2))
    case .dayOfYear(let day): return newYear + Int32(day)
    case .dayOfCommonYear(let day):
      let isAfterLeapDay = day >= 60 && CivilDate(year: year, month: 2, day: 29).exists
      return newYear + Int32(isAfterLeapDay ? day : day - 1)
    }
  }
}

extension YearlyRule {
  /// Reads the form of the `TZ` variable, such as `CET-1CEST,M3.5.0,M10.5.0/3` (POSIX.1, "Other Environment
  /// Variables"), with hours from -167 to 167 as in RFC 9636, section 3.3.1.
  ///
  /// Returns `nil` for any other text, for trailing characters, and for daylight saving time without dates.
  package init?(posix text: some Swift.Collection<UInt8>) {
    var reader = POSIXRuleReader(bytes: [UInt8](text)[...])
    guard reader.skipName(), let standardOffset = reader.offset() else { return nil }
    self.standardOffset = standardOffset
    guard !reader.isAtEnd else {
      daylight = nil
      return
    }
    guard reader.skipName() else { return nil }
    let offset = reader.isAt(",") ? standardOffset + 3_600 : reader.offset()
    guard let offset, reader.skip(","), let start = reader.date(), reader.skip(","), let end = reader.date(),
      reader.isAtEnd
    else { return nil }
    daylight = Daylight(offset: offset, start: start, end: end)
  }
}

/// Reads a `TZ` text from front to back; each part is `nil` if the text contains something else.
private struct POSIXRuleReader {
  var bytes: ArraySlice<UInt8>

  var isAtEnd: Bool { bytes.isEmpty }

  func isAt(_ character: Unicode.Scalar) -> Bool {
    bytes.first == UInt8(ascii: character)
  }

  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard isAt(character) else { return false }
    bytes.removeFirst()
    return true
  }

  /// Skips the name of an offset: letters, or anything in angle brackets.
  mutating func skipName() -> Bool {
    if skip("<") {
      bytes = bytes.drop { $0 != UInt8(ascii: ">") }
      return skip(">")
    }
    let count = bytes.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }.count
    bytes = bytes.dropFirst(count)
    return count > 0
  }

  /// Reads an offset as seconds east of UTC.
  ///
  /// The text has the opposite sign: it says what to add to local time to get UTC.
  mutating func offset() -> Int64? {
    guard let seconds = time(), abs(seconds) < 86_400 else { return nil }
    return -seconds
  }

  mutating func date() -> YearlyDate? {
    guard let day = day() else { return nil }
    guard skip("/") else { return YearlyDate(day: day, second: 7_200) }
    return time().map { YearlyDate(day: day, second: $0) }
  }

  private mutating func day() -> YearlyDate.Day? {
    if skip("J") { return number(in: 1...365).map { .dayOfCommonYear($0) } }
    guard skip("M") else { return number(in: 0...365).map { .dayOfYear($0) } }
    guard let month = number(in: 1...12), skip("."), let week = number(in: 1...5), skip("."),
      let weekday = number(in: 0...6)
    else { return nil }
    return .weekday(weekday, week: week, month: month)
  }

  /// Reads hours, and minutes and seconds if they follow, as a number of seconds.
  private mutating func time() -> Int64? {
    let isNegative = skip("-")
    if !isNegative { _ = skip("+") }
    guard let hours = number(in: 0...167) else { return nil }
    var seconds = 3_600 * hours
    for unit in [60, 1] where skip(":") {
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
