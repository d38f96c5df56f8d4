import Foundation

/// A comparison of an instant, or of its local day, with bounds that are known.
enum InstantTest: Hashable {
  case instant(FilterOperator, Int64)
  /// After the end of one day, and not after that of another one.
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

  func holds(_ microseconds: Int64) -> Bool {
    switch self {
    case .instant(let comparison, let other): comparison.holds(microseconds, other)
    case .days(let start, let end):
      (start?.isBefore(microseconds) ?? true) && !(end?.isBefore(microseconds) ?? false)
    }
  }

  /// The instants that may pass, and some more where a day begins twice.
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
