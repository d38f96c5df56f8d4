/// The last written value of a field: of two writes the greater one wins.
struct Register: Hashable, Sendable {
  /// When it was written, in microseconds since 1970, or one more than the greatest time of its object.
  var time: Int64
  /// How often the place that it holds has been renumbered since the user's move; 0 for other fields.
  var renumberingCount: UInt32 = 0
  var replica: ReplicaID
  /// The encoded value; empty for none.
  var value: [UInt8]

  /// Whether this write wins over another one; false for an equal one.
  func wins(over other: Register) -> Bool {
    let place = (time, renumberingCount, replica)
    let otherPlace = (other.time, other.renumberingCount, other.replica)
    return place == otherPlace ? other.value.lexicographicallyPrecedes(value) : place > otherPlace
  }

  mutating func join(_ other: Register) {
    if other.wins(over: self) { self = other }
  }
}
