import Foundation

/// The local days that make up the periods around today.
struct StatisticsPeriods {
  let today: Int32
  let thisWeek: ClosedRange<Int32>
  let lastWeek: ClosedRange<Int32>
  let thisMonth: ClosedRange<Int32>
  let lastMonth: ClosedRange<Int32>
  let thisYear: ClosedRange<Int32>

  init(today: Int32, calendar: Calendar) {
    self.today = today
    let weekStart = Self.weekStart(of: today, calendar: calendar)
    thisWeek = weekStart...(weekStart + 6)
    lastWeek = (weekStart - 7)...(weekStart - 1)
    thisMonth = Self.period(Series.Unit.month, containing: today, calendar: calendar)
    lastMonth = Self.period(Series.Unit.month, containing: thisMonth.lowerBound - 1, calendar: calendar)
    thisYear = Self.period(Series.Unit.year, containing: today, calendar: calendar)
  }

  /// All days of these periods.
  var days: ClosedRange<Int32> {
    min(lastWeek.lowerBound, lastMonth.lowerBound, thisYear.lowerBound)...max(thisWeek.upperBound, thisYear.upperBound)
  }

  /// The first day of a day's week.
  static func weekStart(of dayNumber: Int32, calendar: Calendar) -> Int32 {
    let first = CalendarDay.isoWeekday(ofFoundation: calendar.firstWeekday)
    let weekday = CalendarDay(clamping: Int64(dayNumber)).weekday
    return dayNumber - Int32((weekday - first + 7) % 7)
  }

  /// The days of a week, month or year of the calendar, Gregorian or not.
  static func period(_ unit: Series.Unit, containing dayNumber: Int32, calendar: Calendar) -> ClosedRange<Int32> {
    switch unit {
    case .day: return dayNumber...dayNumber
    case .week:
      let start = weekStart(of: dayNumber, calendar: calendar)
      return start...(start + 6)
    case .month: return period(Calendar.Component.month, containing: dayNumber, calendar: calendar)
    case .year: return period(Calendar.Component.year, containing: dayNumber, calendar: calendar)
    }
  }

  /// Months and years do not depend on the zone once the day is known: Greenwich's days are all 24 hours long.
  private static func period(
    _ component: Calendar.Component, containing dayNumber: Int32, calendar: Calendar
  ) -> ClosedRange<Int32> {
    if let period = gregorianPeriod(component, containing: dayNumber, calendar: calendar) { return period }
    var calendar = calendar
    calendar.timeZone = .gmt
    let noon = Date(timeIntervalSince1970: (Double(dayNumber) + 0.5) * 86_400)
    guard let interval = calendar.dateInterval(of: component, for: noon) else { return dayNumber...dayNumber }
    let first = Int32((interval.start.timeIntervalSince1970 / 86_400).rounded())
    let next = Int32((interval.end.timeIntervalSince1970 / 86_400).rounded())
    return first...max(first, next - 1)
  }

  /// The days of a Gregorian month or year without Foundation, which takes about ten microseconds, and is Julian before 1582,
  /// unlike Tally's days.
  private static func gregorianPeriod(
    _ component: Calendar.Component, containing dayNumber: Int32, calendar: Calendar
  ) -> ClosedRange<Int32>? {
    let isGregorian = calendar.identifier == .gregorian || calendar.identifier == .iso8601
    guard isGregorian, CivilDate.dayNumbers.contains(dayNumber) else { return nil }
    let date = CivilDate(dayNumber: dayNumber)
    let isMonth = component == .month
    let first = CivilDate(year: date.year, month: isMonth ? date.month : 1, day: 1)
    var next = CivilDate(year: date.year + 1, month: 1, day: 1)
    if isMonth, date.month < 12 { next = CivilDate(year: date.year, month: date.month + 1, day: 1) }
    return first.dayNumber...(next.dayNumber - 1)
  }
}
