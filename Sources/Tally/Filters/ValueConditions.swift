import Foundation
import TallyEngine

/// A comparison of an attribute with a value, which is parsed as each kind that an attribute can have.
struct AttributeCondition: Hashable {
  private let comparison: FilterOperator
  private let text: String
  private let pattern: FoldedPattern
  private let date: ResolvedDate?
  private let timeZone: TimeZone

  init(_ comparison: FilterOperator, _ text: String, against reference: DateReference) {
    self.comparison = comparison
    self.text = text
    var folder = TextFolder()
    pattern = FoldedPattern(text, with: &folder)
    date = (try? DateExpression(text)).flatMap { try? $0.resolved(against: reference) }
    timeZone = reference.timeZone
  }

  func matches(_ value: AttributeValue, _ folder: inout TextFolder) -> Bool {
    switch value {
    case .text(let value):
      return comparison == .contains ? pattern.isFound(in: value, with: &folder) : comparison.matches(value, text)
    case .integer(let value):
      if let number = Int64(text) { return comparison.matches(value, number) }
      return Double(text).map { comparison.matches(Double(value), $0) } ?? false
    case .real(let value): return Double(text).map { comparison.matches(value, $0) } ?? false
    case .flag(let value): return comparison == .equal && text.lowercased() == String(value)
    case .instant(let value):
      return date.map { InstantCondition(comparison, $0, in: timeZone).matches(value.microsecondsSince1970) } ?? false
    case .day(let value):
      return date.map { DayCondition(due: comparison, $0, in: timeZone).matches(value.dayNumber) } ?? false
    case .bytes: return false
    }
  }
}

/// A range of consecutive days; empty if the first one is after the last.
struct DayCondition: Hashable {
  let first: Int64
  let last: Int64

  /// Creates the range of days for which a comparison holds, given the last day below the value and the last
  /// day not above it.
  private init(_ comparison: FilterOperator, lastBelow: Int64, lastNotAbove: Int64) {
    switch comparison {
    case .equal: (first, last) = (lastBelow + 1, lastNotAbove)
    case .less: (first, last) = (.min, lastBelow)
    case .lessOrEqual: (first, last) = (.min, lastNotAbove)
    case .greater: (first, last) = (lastNotAbove + 1, .max)
    case .greaterOrEqual: (first, last) = (lastBelow + 1, .max)
    case .contains: (first, last) = (1, 0)
    }
  }

  private init(_ comparison: FilterOperator, _ day: CalendarDay) {
    let number = Int64(day.dayNumber)
    self.init(comparison, lastBelow: number - 1, lastNotAbove: number)
  }

  /// Creates the range of planned days that compare with a day, or with the local day of an instant.
  init(planned comparison: FilterOperator, _ date: ResolvedDate, in timeZone: TimeZone) {
    switch date {
    case .day(let day): self.init(comparison, day)
    case .instant(let instant): self.init(comparison, CalendarDay(containing: instant, in: timeZone))
    }
  }

  /// Creates the range of due days that compare with a day, or whose last microsecond compares with an instant.
  init(due comparison: FilterOperator, _ date: ResolvedDate, in timeZone: TimeZone) {
    switch date {
    case .day(let day): self.init(comparison, day)
    case .instant(let instant):
      self.init(
        comparison, lastBelow: Self.lastDay(endingAtOrBefore: instant.microsecondsSince1970 - 1, in: timeZone),
        lastNotAbove: Self.lastDay(endingAtOrBefore: instant.microsecondsSince1970, in: timeZone))
    }
  }

  func matches(_ day: Int32) -> Bool { first <= Int64(day) && Int64(day) <= last }

  /// The last day whose last microsecond is not after an instant.
  private static func lastDay(endingAtOrBefore microseconds: Int64, in timeZone: TimeZone) -> Int64 {
    var day = CalendarDay(containing: Timestamp(clamping: microseconds), in: timeZone)
    // If clocks go back over midnight, the day of the instant may already have ended once before.
    if let next = try? day.adding(days: 1) { day = next }
    while day.end(in: timeZone).microsecondsSince1970 > microseconds {
      guard let previous = try? day.adding(days: -1) else { return Int64(day.dayNumber) - 1 }
      day = previous
    }
    return Int64(day.dayNumber)
  }
}

/// The end of a local day, which is the start of the next day.
struct DayEnd: Hashable {
  /// The first instant of the next day in microseconds since 1970; the minimum or maximum outside the years 1 to 9999.
  let start: Int64
  private let day: Int64
  private let timeZone: TimeZone

  /// The longest time for which a day can come again after the next one has begun, if clocks go back over midnight.
  private static let longestRepeat: Int64 = 3 * 3_600_000_000

  init(_ day: Int64, in timeZone: TimeZone) {
    self.day = day
    self.timeZone = timeZone
    switch day + 1 {
    case ..<Int64(CalendarDay.earliest.dayNumber + 1): start = .min
    case (Int64(CalendarDay.latest.dayNumber) + 1)...: start = .max
    default: start = CalendarDay(clamping: day + 1).start(in: timeZone).microsecondsSince1970
    }
  }

  /// Whether an instant is on a later day; asks the time zone, which takes a microsecond, only where that is in doubt.
  func isBefore(_ microseconds: Int64) -> Bool {
    guard microseconds >= start else { return false }
    if microseconds >= latestStart || start == .min { return true }
    return CalendarDay(containing: Timestamp(clamping: microseconds), in: timeZone).dayNumber > day
  }

  /// The instant from which on no instant is on this day.
  var latestStart: Int64 { start > .max - Self.longestRepeat ? .max : start + Self.longestRepeat }
}

/// A comparison of an instant, or of its local day, with resolved bounds.
enum InstantCondition: Hashable {
  case instant(FilterOperator, Int64)
  /// After the end of one day, and not after the end of another.
  case days(after: DayEnd?, notAfter: DayEnd?)

  init(_ comparison: FilterOperator, _ date: ResolvedDate, in timeZone: TimeZone) {
    switch date {
    case .instant(let instant): self = .instant(comparison, instant.microsecondsSince1970)
    case .day(let day):
      let (before, end) = (DayEnd(Int64(day.dayNumber) - 1, in: timeZone), DayEnd(Int64(day.dayNumber), in: timeZone))
      switch comparison {
      case .equal: self = .days(after: before, notAfter: end)
      case .less: self = .days(after: nil, notAfter: before)
      case .lessOrEqual: self = .days(after: nil, notAfter: end)
      case .greater: self = .days(after: end, notAfter: nil)
      case .greaterOrEqual: self = .days(after: before, notAfter: nil)
      case .contains: self = .instant(.contains, 0)
      }
    }
  }

  func matches(_ microseconds: Int64) -> Bool {
    switch self {
    case .instant(let comparison, let other): comparison.matches(microseconds, other)
    case .days(let start, let end):
      (start?.isBefore(microseconds) ?? true) && !(end?.isBefore(microseconds) ?? false)
    }
  }

  /// The range of instants that can meet the condition; it may contain a few others, as when a day begins twice.
  var span: Range<Int64> {
    switch self {
    case .instant(.equal, let instant): instant..<instant.successor
    case .instant(.less, let instant): .min..<instant
    case .instant(.lessOrEqual, let instant): .min..<instant.successor
    case .instant(.greater, let instant), .instant(.greaterOrEqual, let instant): instant..<(.max)
    case .instant(.contains, _): 0..<0
    case .days(let start, let end):
      (start?.start ?? .min)..<max(start?.start ?? .min, end?.latestStart ?? .max)
    }
  }
}

extension Int64 {
  fileprivate var successor: Int64 { self == .max ? .max : self + 1 }
}
