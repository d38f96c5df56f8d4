/// Offsets that follow the same rule each year: one, or two with the dates at which they alternate.
struct YearlyRule: Equatable {
  /// Daylight saving time.
  ///
  /// It may be the one with less offset, as in Dublin, and begin in the autumn.
  struct Daylight: Equatable {
    let offset: Int64
    let start: YearlyDate
    let end: YearlyDate
  }

  /// Local time minus UTC, in seconds.
  let standardOffset: Int64
  let daylight: Daylight?

  /// Local time minus UTC at a second since 1970, in seconds.
  func offset(atSecond second: Int64) -> Int64 {
    changes(around: second).last { $0.second <= second }?.offset ?? standardOffset
  }

  /// The next second since 1970 at which the offset changes; `nil` if it stays.
  func change(afterSecond second: Int64) -> Int64? {
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
    // Where it is daylight saving time all year, each year's begins as the one before ends; then the beginning counts.
    func rank(_ offset: Int64) -> Int { offset == daylight.offset ? 1 : 0 }
    return changes.sorted { ($0.second, rank($0.offset)) < ($1.second, rank($1.offset)) }
  }
}

/// A date that comes every year, and the time of day on it.
struct YearlyDate: Equatable {
  enum Day: Equatable {
    /// A weekday, 0 for Sunday, of a month: its first (1) to fourth one, or its last one (5).
    case weekday(Int, week: Int, month: Int)
    /// A day counted from 0, February 29 included.
    case dayOfYear(Int)
    /// A day counted from 1 as if February 29 did not exist.
    case dayOfCommonYear(Int)
  }

  let day: Day
  /// Seconds after midnight; before it, or after the next one, are allowed.
  let second: Int64

  /// The local time of a year, as if it were UTC, in seconds since 1970.
  func localSecond(in year: Int) -> Int64 {
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
