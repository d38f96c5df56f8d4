import LMDB

/// The days of Upcoming, from tomorrow on, or of Past, from yesterday back.
struct DayWalk {
  let isPast: Bool
  /// The number of the current day.
  let today: Int32

  /// The position of a task with a day; `nil` for one that the view does not show.
  func key(_ key: DayKey) -> ViewKey? {
    guard isPast ? key.dayNumber < today && !key.isCompleted : key.dayNumber > today else { return nil }
    return ViewKey(prefix: prefix(of: key.dayNumber), key)
  }

  /// Bytes in the order of the view's days.
  func prefix(of dayNumber: Int32) -> KeyBytes {
    isPast ? KeyBytes(dayNumber).flipped : KeyBytes(dayNumber)
  }

  /// The day of a position; `nil` if the view does not show that day any more, as after midnight.
  func dayNumber(of position: ViewKey) -> Int32? {
    let bytes = isPast ? position.prefix.flipped : position.prefix
    guard let number = try? Int32(decoding: bytes.bytes) else { return nil }
    return (isPast ? number < today : number > today) ? number : nil
  }
}
