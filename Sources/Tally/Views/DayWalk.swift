import LMDB

/// The days of Upcoming, from tomorrow on, or of Past, from yesterday back.
struct DayWalk {
  let isPast: Bool
  /// The number of the current day.
  let today: Int32

  /// The position of a task with a day; `nil` for one that the view does not show.
  func key(_ key: DayKey) -> ViewKey? {
    guard isPast ? key.dayNumber < today && !key.isCompleted : key.dayNumber > today else { return nil }
    return ViewKey(prefix: prefix(of: key.dayNumber), key.encodedBytes)
  }

  /// Bytes in the order of the view's days.
  func prefix(of dayNumber: Int32) -> [UInt8] {
    let ordered = UInt32(bitPattern: dayNumber) ^ (1 << 31)
    let word = isPast ? ~ordered : ordered
    return (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) }
  }

  /// The day of a position; `nil` if the view does not show that day any more, as after midnight.
  func dayNumber(of position: ViewKey) -> Int32? {
    let word = position.prefix.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let number = Int32(bitPattern: (isPast ? ~word : word) ^ (1 << 31))
    return (isPast ? number < today : number > today) ? number : nil
  }
}
