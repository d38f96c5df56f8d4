import TallyEngine

/// Quarter hours, the resolution of the counters: the UTC offsets of all zones in use are multiples of it.
enum QuarterHour {
  static let countPerDay = 96
  static let countPerHour = 4
  static let microseconds: Int64 = 900_000_000
  static let microsecondsPerDay: Int64 = 86_400_000_000
  /// An instant after every event, local times included: the first instant of 10000-01-03.
  static let endOfTime: Int64 = 253_402_473_600_000_000

  /// The number of the quarter hour that contains an instant, counted from 1970.
  static func number(containing microseconds: Int64) -> Int64 {
    floorDivide(microseconds, by: self.microseconds)
  }

  /// The number of the first quarter hour that begins at or after an instant.
  static func number(atOrAfter microseconds: Int64) -> Int64 {
    -floorDivide(-microseconds, by: self.microseconds)
  }

  /// The day of a quarter hour, given by its number, and its position within that day.
  static func position(of number: Int64) -> (dayNumber: Int32, quarter: Int) {
    let day = floorDivide(number, by: Int64(countPerDay))
    return (Int32(clamping: day), Int(number - day * Int64(countPerDay)))
  }
}
