import Foundation

extension CalendarDay {
  /// The day some months and then some days later; a day that the month does not have becomes its last.
  func adding(_ offset: DateExpression.Offset) throws(TallyError) -> CalendarDay {
    guard offset.months != 0 else { return try adding(days: offset.days) }
    guard let days = CivilMonth(of: self).adding(months: offset.months).days else {
      throw ISO8601Fault.yearOutOfRange.dayError
    }
    return try CalendarDay(clamping: Int64(min(days.lowerBound + day - 1, days.upperBound))).adding(days: offset.days)
  }
}

extension Timestamp {
  /// The instant whose clock shows the same time some months and days later, and then some seconds after that.
  ///
  /// A day is not 24 hours: a task snoozed for a day over a clock change comes at the same time of day.
  func adding(_ offset: DateExpression.Offset, in reference: DateReference) throws(TallyError) -> Timestamp {
    // Moved by no day, the second of two equal times would become the first.
    guard offset.months != 0 || offset.days != 0 else { return adding(seconds: Int64(offset.seconds)) }
    let day = CalendarDay(containing: self, in: reference.timeZone)
    return moved(from: day, to: try day.adding(offset), in: reference.timeZone).adding(seconds: Int64(offset.seconds))
  }
}
