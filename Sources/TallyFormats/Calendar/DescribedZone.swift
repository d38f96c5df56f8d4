internal import Foundation
internal import Tally

/// A time zone as a `VTIMEZONE` component describes it (RFC 5545, section 3.6.5): it decides in its document, whatever
/// its name means elsewhere.
struct DescribedZone: Sendable {
  /// A `STANDARD` or `DAYLIGHT` component: an offset and the times from which it holds.
  fileprivate struct Observance: Sendable {
    /// The first onset as local time before the change, in seconds since 1970.
    var start: Int64
    var offsetBefore: Int64
    var offset: Int64
    var rule: OnsetRule?
    /// Further onsets, from `RDATE`.
    var dates: [Int64]
  }

  private var observances: [Observance] = []

  /// Reads a component; `nil` if it describes no offset.
  init?(_ component: [ContentLine]) {
    var part: [ContentLine] = []
    for line in component.dropFirst().dropLast() {
      part.append(line)
      guard line.name == "END" else { continue }
      if let start = part.lastIndex(where: { $0.name == "BEGIN" }), let read = Self.observance(part[start...]) {
        observances.append(read)
      }
      part = []
    }
    if observances.isEmpty { return nil }
  }

  private static func observance(_ lines: ArraySlice<ContentLine>) -> Observance? {
    func value(_ name: String) -> String? { lines.first { $0.name == name }?.value }
    guard let offset = value("TZOFFSETTO").flatMap(seconds(ofOffset:)) else { return nil }
    let before = value("TZOFFSETFROM").flatMap(seconds(ofOffset:)) ?? offset
    let dates = lines.filter { $0.name == "RDATE" }.flatMap { $0.value.split(separator: ",") }
    return Observance(
      start: value("DTSTART").flatMap { wallSeconds($0[...]) } ?? .min, offsetBefore: before, offset: offset,
      rule: value("RRULE").flatMap { OnsetRule($0) }, dates: dates.compactMap { wallSeconds($0) })
  }

  /// `+0530`, `-080000`.
  private static func seconds(ofOffset text: String) -> Int64? {
    let digits = text.dropFirst()
    guard "+-".contains(text.first ?? " "), [4, 6].contains(digits.count), let number = Int64(digits) else {
      return nil
    }
    let full = digits.count == 4 ? number * 100 : number
    let seconds = full / 10_000 * 3_600 + full / 100 % 100 * 60 + full % 100
    return text.first == "-" ? -seconds : seconds
  }

  /// A local time in seconds since 1970, as if it were UTC.
  static func wallSeconds(_ text: Substring) -> Int64? {
    (BasicDate.instant(String(text.prefix { $0 != "Z" }), in: .gmt)?.microsecondsSince1970).map { $0 / 1_000_000 }
  }

  /// The instant of a local time.
  ///
  /// A repeated time means its first occurrence, and a skipped time is read with the offset before the change
  /// (RFC 5545, section 3.3.5).
  func instant(ofWallSeconds wall: Int64) -> Timestamp {
    let onsets = observances.flatMap { observance in
      observance.onsets(near: wall).map { (instant: $0 - observance.offsetBefore, offset: observance.offset) }
    }.sorted { $0.instant < $1.instant }
    let first = observances.min { $0.start < $1.start }
    let earliest = first.map { $0.start == .min ? $0.offset : $0.offsetBefore } ?? 0
    let offset = { (instant: Int64) in onsets.last { $0.instant <= instant }?.offset ?? earliest }
    let before = offset(wall - 86_400 - earliest)
    let guess = wall - before
    let later = wall - offset(guess)
    let isLater = offset(guess) == offset(later)
    return Timestamp(clamping: (isLater ? later : guess).multipliedReportingOverflow(by: 1_000_000).partialValue)
  }
}

extension DescribedZone.Observance {
  /// The last onsets up to two days after a time, as local times before the change, in seconds since 1970.
  fileprivate func onsets(near wall: Int64) -> [Int64] {
    let end = wall + 2 * 86_400
    var onsets = [start].filter { $0 != .min } + dates
    if let rule {
      let year = Int(CalendarDay(clamping: wall.floored(by: 86_400)).year)
      let time = start == .min ? 0 : start - start.floored(by: 86_400) * 86_400
      onsets += (year - 1...year + 1).compactMap { rule.day(in: $0) }.map { Int64($0.dayNumber) * 86_400 + time }
        .filter { $0 >= start && $0 - offsetBefore <= rule.until }
    }
    return onsets.filter { $0 <= end }
  }
}

extension Int64 {
  /// The quotient, rounded down.
  fileprivate func floored(by divisor: Int64) -> Int64 { self >= 0 ? self / divisor : (self - divisor + 1) / divisor }
}

/// On which day of a year an observance begins: a day of a month, or a weekday in it.
struct OnsetRule: Sendable {
  private let month: Int
  /// Days of the month from which the weekday is chosen, or the day itself.
  private var monthDays: [Int] = []
  /// From 1 for Monday, with its number in the month, from the end if negative.
  private var weekday: (number: Int, ordinal: Int)?
  /// The last onset at the latest, in seconds since 1970.
  private(set) var until = Int64.max

  /// Reads a rule such as `FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU`; `nil` for one of another kind.
  init?(_ text: String) {
    let pairs = text.uppercased().split(separator: ";").compactMap { part -> (String, String)? in
      let halves = part.split(separator: "=", maxSplits: 1)
      return halves.count == 2 ? (String(halves[0]), String(halves[1])) : nil
    }
    let parts = Dictionary(pairs) { first, _ in first }
    guard parts["FREQ"] == "YEARLY", let month = parts["BYMONTH"].flatMap({ Int($0) }), (1...12).contains(month) else {
      return nil
    }
    self.month = month
    monthDays = parts["BYMONTHDAY"]?.split(separator: ",").compactMap { Int($0) } ?? []
    if let text = parts["BYDAY"] {
      guard let number = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"].firstIndex(of: String(text.suffix(2))) else {
        return nil
      }
      weekday = (number + 1, Int(text.dropLast(2)) ?? 1)
    }
    guard weekday != nil || !monthDays.isEmpty else { return nil }
    if let text = parts["UNTIL"] { until = DescribedZone.wallSeconds(text[...]) ?? .max }
  }

  func day(in year: Int) -> CalendarDay? {
    let days = (1...31).compactMap { try? CalendarDay(year: year, month: month, day: $0) }
    let allowed = monthDays.isEmpty ? days : days.filter { monthDays.contains($0.day) }
    guard let weekday else { return allowed.first }
    let matching = allowed.filter { $0.weekday == weekday.number }
    if !monthDays.isEmpty { return matching.first }
    let index = weekday.ordinal > 0 ? weekday.ordinal - 1 : matching.count + weekday.ordinal
    return matching.indices.contains(index) ? matching[index] : nil
  }
}
