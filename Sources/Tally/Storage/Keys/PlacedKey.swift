/// A key that ends in an order among its equals: tasks of one state in one place, or the lists.
protocol PlacedKey: IndexKey {
  var order: OrderKey { get }
  /// Whether another key belongs to the same state of the same place, so that only the order differs.
  func isBeside(_ other: Self) -> Bool
}

extension PlaceKey: PlacedKey {
  func isBeside(_ other: PlaceKey) -> Bool {
    (kindRawValue, rankRawValue) == (other.kindRawValue, other.rankRawValue) && listID == other.listID
  }
}

extension DayKey: PlacedKey {
  func isBeside(_ other: DayKey) -> Bool {
    (isCompleted, dayNumber, rankRawValue) == (other.isCompleted, other.dayNumber, other.rankRawValue)
  }
}

extension OrderKey: PlacedKey {
  var order: OrderKey { self }

  func isBeside(_ other: OrderKey) -> Bool { true }
}
