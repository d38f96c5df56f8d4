/// An element of an observed-remove set: a tag, or the completion of a task.
///
/// Shapiro, Preguiça, Baquero, Zawirski: "A comprehensive study of convergent and commutative replicated data types"
/// (2011), 3.3.5; the additions of one replica are ordered, so its last one stands for all.
struct ObservedElement: Hashable, Sendable {
  /// One addition.
  struct Addition: Hashable, Sendable {
    var time: Int64
    /// What was added; a completion has its instant and its list, a tag nothing.
    var value: [UInt8] = []

    func wins(over other: Addition) -> Bool {
      time == other.time ? other.value.lexicographicallyPrecedes(value) : time > other.time
    }
  }

  /// The last addition of each replica.
  private(set) var additions: SortedTable<ReplicaID, Addition> = [:]
  /// The time of the last addition of each replica that a removal had seen.
  private(set) var removals: SortedTable<ReplicaID, Int64> = [:]

  /// The additions that no removal had seen.
  var live: SortedTable<ReplicaID, Addition> {
    additions.filter { replica, addition in removals[replica].map { addition.time > $0 } ?? true }
  }

  var isPresent: Bool { !live.isEmpty }

  /// The greatest time in it.
  var latestTime: Int64? {
    var latest = removals.values.max()
    for (_, addition) in additions { latest = max(latest ?? .min, addition.time) }
    return latest
  }

  mutating func join(_ other: ObservedElement) {
    additions.merge(other.additions) { $1.wins(over: $0) ? $1 : $0 }
    removals.merge(other.removals) { max($0, $1) }
  }

  /// The join of two states of it.
  func joined(with other: ObservedElement) -> ObservedElement {
    var element = self
    element.join(other)
    return element
  }

  /// The change that adds it.
  static func adding(_ value: [UInt8], at time: Int64, by replica: ReplicaID) -> ObservedElement {
    ObservedElement(additions: [replica: Addition(time: time, value: value)])
  }

  /// A state in which the additions of one replica up to a time have been removed.
  static func removing(additionsOf replica: ReplicaID, upTo time: Int64) -> ObservedElement {
    ObservedElement(removals: [replica: time])
  }

  /// The change that removes it as far as it is known here.
  var removing: ObservedElement {
    ObservedElement(removals: additions.mapValues(\.time))
  }
}
