/// A time and its replica: enough to recognise a write.
struct Stamp: Hashable, Sendable {
  /// The time, in microseconds since 1970.
  var time: Int64
  var replica: ReplicaID
}

/// The last written value of a field: of two writes the greater one wins.
struct Register: Hashable, Sendable {
  /// When it was written, in microseconds since 1970, or one more than the greatest time of its object.
  var time: Int64
  /// How many times the place in this register was renumbered since the user's move; 0 for other fields.
  var renumberingCount: UInt32 = 0
  var replica: ReplicaID
  /// The encoded value; empty for none.
  var value: [UInt8]

  /// The identity of the write.
  var stamp: Stamp { Stamp(time: time, replica: replica) }

  /// Whether this write wins over another one; false for an equal one.
  func wins(over other: Register) -> Bool {
    let place = (time, renumberingCount, replica)
    let otherPlace = (other.time, other.renumberingCount, other.replica)
    return place == otherPlace ? other.value.lexicographicallyPrecedes(value) : place > otherPlace
  }
}

/// A change of one object, as segments carry it.
struct ObjectChange: Hashable, Sendable {
  let object: ObjectKey
  private(set) var state: ObjectState
  /// For fields whose register the change writes, the writes that were there before: another one there is a conflict.
  private(set) var replaced: [ObjectState.Field: Stamp]

  /// Creates a change.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - state: The change, to be joined with the object's state.
  ///   - replaced: The writes that were replaced; those of fields without a register in the change are dropped.
  init(object: ObjectKey, state: ObjectState, replaced: [ObjectState.Field: Stamp] = [:]) {
    (self.object, self.state) = (object, state)
    self.replaced = replaced.filter { state.registers[$0.key] != nil }
  }

  /// Adds a later change of the same object.
  mutating func join(_ later: ObjectChange) {
    state.join(later.state)
    replaced.merge(later.replaced) { first, _ in first }
  }

  /// Everybody named in it.
  var replicas: Set<ReplicaID> { state.replicas.union(replaced.values.map(\.replica)) }

  /// About how many bytes it takes, without encoding it.
  var estimatedByteCount: Int { ObjectKey.byteCount + 12 * replaced.count + state.estimatedByteCount }
}

extension Sequence {
  /// Divides the elements into runs of about a number of bytes.
  ///
  /// - Parameters:
  ///   - limitInBytes: The most bytes of a run; a larger element is a run of its own.
  ///   - byteCount: Returns the number of bytes of an element.
  /// - Returns: The runs, in order; none of them is empty.
  func divided(limitInBytes: Int, byteCount: (Element) -> Int) -> [[Element]] {
    var (runs, run, size): ([[Element]], [Element], Int) = ([], [], 0)
    for element in self {
      let count = byteCount(element)
      if !run.isEmpty, size + count > limitInBytes {
        runs.append(run)
        (run, size) = ([], 0)
      }
      run.append(element)
      size += count
    }
    return run.isEmpty ? runs : runs + [run]
  }
}
