extension RecurrenceRule {
  /// The rule as RFC 5545 writes it, without `RRULE:`: `FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH`.
  ///
  /// The parts always have the same order, and those with their default are left out.
  public var text: String {
    var parts = ["FREQ=\(interval.unit.frequency)"]
    if interval.count > 1 { parts.append("INTERVAL=\(interval.count)") }
    if !weekdays.isEmpty { parts.append("BYDAY=\(weekdays.map(\.text).joined(separator: ","))") }
    if !monthDays.isEmpty { parts.append("BYMONTHDAY=\(monthDays.map { "\($0)" }.joined(separator: ","))") }
    switch end {
    case .never: break
    case .count(let count): parts.append("COUNT=\(count)")
    case .until(let day): parts.append("UNTIL=\(day.iso8601.filter { $0 != "-" })")
    }
    if weekStart != 1 { parts.append("WKST=\(RecurrenceWeekday.codes[weekStart - 1])") }
    return parts.joined(separator: ";")
  }
}
