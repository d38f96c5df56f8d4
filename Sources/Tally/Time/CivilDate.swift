/// A date of the proleptic Gregorian calendar, taken apart.
///
/// The conversions count years from March, so that the leap day is the last of its year, and need neither tables nor
/// loops. The forward one is the scheme of Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms"; the backward
/// one divides by century, year and month as in Cassio Neri and Lorenz Schneider, "Euclidean affine functions and their
/// application to calendar algorithms" (Software: Practice and Experience 53, 2023). Foundation's calendar is not used:
/// it costs microseconds per call, and an export needs several calls per task.
struct CivilDate: Equatable {
  var year: Int
  var month: Int
  var day: Int

  /// The day numbers of 0001-01-01 and 9999-12-31, counted from 1970-01-01.
  static let dayNumbers: ClosedRange<Int32> = -719_162...2_932_896

  /// Days from 0000-03-01, where the shifted count begins, to 1970-01-01.
  private static let daysBefore1970 = 719_468
}

extension CivilDate {
  /// The date of a day number within `dayNumbers`.
  init(dayNumber: Int32) {
    // Unsigned division is cheaper, and nothing here is negative: the range begins in the year 1.
    let days = UInt(Int(dayNumber) + Self.daysBefore1970)
    let (century, quartersOfCentury) = (4 * days + 3).quotientAndRemainder(dividingBy: 146_097)
    let (yearOfCentury, quartersOfYear) = (quartersOfCentury | 3).quotientAndRemainder(dividingBy: 1_461)
    let (monthFromMarch, fifthsOfMonth) = (5 * (quartersOfYear / 4) + 2).quotientAndRemainder(dividingBy: 153)
    let isNextYear = monthFromMarch >= 10
    year = Int(100 * century + yearOfCentury) + (isNextYear ? 1 : 0)
    month = Int(monthFromMarch) + (isNextYear ? -9 : 3)
    day = Int(fifthsOfMonth / 5) + 1
  }

  /// The number of the day, counted from 1970-01-01; the date must exist, in a year from 1 to 9999.
  var dayNumber: Int32 {
    let yearFromMarch = month > 2 ? year : year - 1
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let leapDays = yearFromMarch / 4 - yearFromMarch / 100 + yearFromMarch / 400
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    return Int32(365 * yearFromMarch + leapDays + dayOfYear - Self.daysBefore1970)
  }

  /// Whether the calendar has this date; the year may be any.
  var exists: Bool {
    (1...12).contains(month) && day >= 1 && day <= Self.dayCount(ofMonth: month, inYear: year)
  }

  private static func dayCount(ofMonth month: Int, inYear year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  private static func isLeap(_ year: Int) -> Bool {
    year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
  }
}
