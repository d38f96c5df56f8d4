/// Everything that is known of a task or a list: the join of all changes to it that have arrived.
///
/// A change is such a state, too, with only the parts that it touches. What the parts mean is in
/// `docs/synchronisation.md`.
struct ObjectState: Hashable, Sendable {
  /// A field, or one of the attributes.
  struct Field: Hashable, Comparable, Sendable {
    /// As stored and sent.
    let number: UInt16
    /// The name of an attribute; empty for other fields.
    let name: String

    init(_ number: UInt16, name: String = "") {
      (self.number, self.name) = (number, name)
    }

    // Byte for byte: texts that Unicode considers equivalent are different names.
    static func == (left: Field, right: Field) -> Bool {
      left.number == right.number && left.name.utf8.elementsEqual(right.name.utf8)
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(number)
      for byte in name.utf8 { hasher.combine(byte) }
    }

    static func < (left: Field, right: Field) -> Bool {
      left.number == right.number
        ? left.name.utf8.lexicographicallyPrecedes(right.name.utf8) : left.number < right.number
    }
  }

  /// The last written values of fields.
  private(set) var registers: SortedTable<Field, Register> = [:]
  /// The elements of fields that are sets.
  private(set) var sets: SortedTable<Field, Elements> = [:]

  /// The elements of a set, those included that were removed.
  typealias Elements = SortedTable<[UInt8], ObservedElement>

  /// Whether nothing is known.
  var isEmpty: Bool { registers.isEmpty && sets.isEmpty }

  mutating func join(_ other: ObjectState) {
    registers.merge(other.registers) { $1.wins(over: $0) ? $1 : $0 }
    sets.merge(other.sets) { mine, others in
      var elements = mine
      elements.merge(others) { $0.joined(with: $1) }
      return elements
    }
  }

  /// Puts other bytes into a register, which stays the same write.
  mutating func setValue(of field: Field, to value: [UInt8]) {
    registers[field]?.value = value
  }

  /// A deleted object's state without the values of its registers: only who has written what and when, and its completions.
  ///
  /// Joining it with the whole state gives the whole state.
  var withoutValues: ObjectState {
    var state = self
    for field in registers.keys where field != .life { state.setValue(of: field, to: []) }
    return state
  }

  /// The state in parts of about a number of bytes, which together make the state, except register values above that number.
  func divided(limitInBytes: Int) -> [ObjectState] {
    guard estimatedByteCount > limitInBytes else { return [self] }
    var parts: [ObjectState] = []
    let sendable = registers.filter { $0.value.value.count <= limitInBytes }
    for run in sendable.divided(
      limitInBytes: limitInBytes, byteCount: { $0.key.name.utf8.count + $0.value.value.count })
    {
      var part = ObjectState()
      for (field, register) in run { part.insert(register, of: field) }
      parts.append(part)
    }
    for (field, elements) in sets {
      for run in elements.divided(limitInBytes: limitInBytes, byteCount: { $0.key.count + $0.value.estimatedByteCount })
      {
        var some: Elements = [:]
        for (name, element) in run { some.append(element, forKey: name) }
        var part = ObjectState()
        part.insert(some, of: field)
        parts.append(part)
      }
    }
    return parts
  }

  /// Whether the value of a register has more than a number of bytes.
  func hasValue(largerThan byteCount: Int) -> Bool { registers.contains { $0.value.value.count > byteCount } }

  mutating func reserveCapacity(_ registerCount: Int) { registers.reserveCapacity(registerCount) }

  /// Takes the register of a field that has none yet.
  mutating func insert(_ register: Register, of field: Field) { registers.append(register, forKey: field) }

  /// Takes the elements of a set that has none yet.
  mutating func insert(_ elements: Elements, of field: Field) { sets.append(elements, forKey: field) }

  /// The join of two states.
  func joined(with other: ObjectState) -> ObjectState {
    var state = self
    state.join(other)
    return state
  }
}

extension ObjectState {
  /// The greatest time in it.
  var latestTime: Int64? {
    var latest: Int64?
    for (_, register) in registers { latest = max(latest ?? .min, register.time) }
    forEachElement { _, element in if let time = element.latestTime { latest = max(latest ?? .min, time) } }
    return latest
  }

  /// The time of a write by a clock: later than everything that it has seen.
  func time(by clock: Int64) -> Int64 {
    guard let latest = latestTime, latest >= clock else { return clock }
    // At the end of time the replica and the value still decide.
    return latest == .max ? latest : latest + 1
  }

  /// Whether it has been deleted, and nothing was written to its content later.
  var isDeleted: Bool {
    guard let life = registers[.life], life.value == LifeValue.deleted else { return false }
    return latestContentTime.map { $0 < life.time } ?? true
  }

  /// The latest time of a write to its content.
  var latestContentTime: Int64? {
    var latest = registers.reduce(Int64?.none) { $1.key.isContent ? max($0 ?? .min, $1.value.time) : $0 }
    forEachElement { field, element in
      if field.isContent, let time = element.latestTime { latest = max(latest ?? .min, time) }
    }
    return latest
  }

  /// Passes the elements of all sets, those included that were removed, to a closure.
  func forEachElement(_ body: (Field, ObservedElement) -> Void) {
    for (field, elements) in sets {
      for (_, element) in elements { body(field, element) }
    }
  }

  /// The elements of a set that are there.
  func elements(of field: Field) -> Set<[UInt8]> {
    Set((sets[field] ?? [:]).lazy.filter(\.value.isPresent).map(\.key))
  }

  /// The completion that is shown and counted: the earliest that no reopening had seen; `nil` for an open task.
  var completion: [UInt8]? {
    sets[.completions]?[[]]?.live.values.min { $0.value.precedes($1.value) }?.value
  }
}

/// The values of the register of life.
enum LifeValue {
  static let alive: [UInt8] = [0]
  static let deleted: [UInt8] = [1]
}

extension ObjectState.Field {
  /// Whether the object is deleted.
  static let life = Self(0)
  /// The place among neighbours.
  static let order = Self(1)
  /// The completions, one element without a name.
  static let completions = Self(2)
  /// The list of a task.
  static let list = Self(3)
  /// The parent of a sub-task.
  static let parent = Self(4)
  /// The tags of a task.
  static let tags = Self(5)
  /// The title of a task, the name of a list, and that of a device.
  static let title = Self(6)

  /// The completions of a task from before it was deleted and created again in another state; each is an element.
  static let detached = Self(18)

  /// Whether a write to it brings a deleted object back, as that of a field which this version does not know does.
  var isContent: Bool {
    switch self {
    case .life, .order, .completions, .changed, .detached: false
    default: true
    }
  }
}

extension ObjectState {
  /// Everybody who has written something in it.
  var replicas: Set<ReplicaID> {
    var replicas: Set<ReplicaID> = []
    forEachReplica { replicas.insert($0) }
    return replicas
  }

  /// Passes everybody who has written something in it to a closure; some more than once.
  func forEachReplica(_ body: (ReplicaID) -> Void) {
    var last: ReplicaID?
    func pass(_ replica: ReplicaID) {
      if replica != last { body(replica) }
      last = replica
    }
    for (_, register) in registers { pass(register.replica) }
    forEachElement { _, element in
      for replica in element.additions.keys { pass(replica) }
      for replica in element.removals.keys { pass(replica) }
    }
  }
}

extension ObjectState.Field {
  static let notes = Self(7)
  /// Whether an open task is in progress.
  static let progress = Self(8)
  static let scheduledDate = Self(9)
  /// The instant or the day by which a task should be done.
  static let due = Self(10)
  static let reminder = Self(11)
  static let priority = Self(12)
  /// The rule by which a task repeats, with its place in the series.
  static let recurrence = Self(13)
  static let created = Self(15)
  static let color = Self(16)
  /// When the record was changed, as it says itself: programs may store whole seconds.
  static let changed = Self(17)

  /// The key of a saved filter, which never changes.
  static let filterKey = Self(19)
  /// The stored bytes of a saved filter; empty for a deleted one.
  static let filter = Self(20)

  /// The replica that a store has become, in the object of its former replica; empty if that is still in use.
  static let successor = Self(40)
  /// Whether somebody has restored or dismissed the overwritten value of a conflict.
  static let settled = Self(41)
  /// The list that has taken the tasks of a merged list; empty if the merge was taken back.
  static let mergeTarget = Self(42)

  /// An attribute of a task.
  static func attribute(_ name: String) -> Self { Self(attributes, name: name) }
  static let attributes: UInt16 = 14
}
