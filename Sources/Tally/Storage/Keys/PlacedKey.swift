/// A key that ends in an order: of the tasks of one state in one place, or of the lists.
protocol PlacedKey: IndexKey {
  var order: OrderKey { get }
  /// Whether another key has the same place and state, and so differs only in the order.
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
