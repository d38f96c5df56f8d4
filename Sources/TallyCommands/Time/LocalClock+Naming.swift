import Tally

extension LocalClock {
  /// A day as people write it: `Sat 21 Nov`, with its year if that is not the current one.
  func name(of day: CalendarDay) -> String {
    "\(WeekdayName.short[day.weekday - 1]) \(day.shortName(asOf: today))"
  }

  /// A day in a sentence: `today`, `tomorrow`, `yesterday`, or its name.
  func relativeName(of day: CalendarDay) -> String {
    switch Int(day.dayNumber) - Int(today.dayNumber) {
    case 0: "today"
    case 1: "tomorrow"
    case -1: "yesterday"
    default: name(of: day)
    }
  }

  /// A day above its tasks: `Tomorrow · Sun 22 Nov`.
  func heading(of day: CalendarDay) -> String {
    let (relative, name) = (relativeName(of: day), name(of: day))
    return relative == name ? name : relative.prefix(1).uppercased() + relative.dropFirst() + " · " + name
  }

  /// An instant in a sentence: `today 14:00`; only the day if it lies within a day's last second.
  func relativeName(of instant: Timestamp) -> String {
    let time = wallTime(at: instant)
    let day = relativeDayName(of: instant)
    return time.isLastSecondOfDay ? day : "\(day) \(time.clock)"
  }

  /// The day of an instant in a sentence.
  ///
  /// A night belongs to the day before it if days begin after midnight. Only a night to come is named by the calendar, as
  /// in what people type: 'tomorrow 02:00'.
  func relativeDayName(of instant: Timestamp) -> String {
    let written = wallTime(at: instant).day
    let relative = written > wallTime(at: now).day ? written : day(of: instant)
    return abs(relative.dayNumber - today.dayNumber) <= 1 ? relativeName(of: relative) : name(of: written)
  }

  /// An instant on a sheet: `Sat 21 Nov 14:00`; only the day if it lies within a day's last second.
  func name(of instant: Timestamp) -> String {
    let time = wallTime(at: instant)
    return time.isLastSecondOfDay ? name(of: time.day) : "\(name(of: time.day)) \(time.clock)"
  }
}

extension WallTime {
  /// The time of day as `14:00`.
  var clock: String {
    "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
  }
}
