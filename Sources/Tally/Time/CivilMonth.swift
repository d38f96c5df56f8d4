/// A month of the proleptic Gregorian calendar, counted so that months can be added.
struct CivilMonth: Equatable {
  /// Months since January of the year 0.
  private let number: Int

  /// A month of a year, counted from 1.
  init(year: Int, month: Int) {
    number = 12 * year + month - 1
  }

  /// The month that a day lies in.
  init(of day: CalendarDay) {
    let date = CivilDate(dayNumber: day.dayNumber)
    self.init(year: date.year, month: date.month)
  }

  /// The month this many months later.
  func adding(months: Int) -> CivilMonth {
    CivilMonth(year: 0, month: number + months + 1)
  }

  /// The number of months from another one to this one.
  func months(since other: CivilMonth) -> Int {
    number - other.number
  }

  /// The numbers of the month's days, as ``CalendarDay/dayNumber``; `nil` outside the years 1 to 9999.
  var days: ClosedRange<Int>? {
    let (year, month) = (number / 12, number % 12 + 1)
    guard (1...9_999).contains(year) else { return nil }
    let first = Int(CivilDate(year: year, month: month, day: 1).dayNumber)
    let last = (28...31).last { CivilDate(year: year, month: month, day: $0).exists } ?? 28
    return first...(first + last - 1)
  }
}
