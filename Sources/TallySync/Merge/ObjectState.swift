import Foundation
import Tally

/// Everything that is known of a task or a list: the join of all changes to it that have arrived.
///
/// A change is such a state, too, with only the parts that it touches. What the parts mean is in
/// `docs/synchronisation.md`.
struct ObjectState: Hashable, Sendable {
  /// A field, or one of the attributes.
  struct Field: Hashable, Comparable, Sendable {
    /// The number that is stored and sent.
    let number: UInt16
    /// The name of an attribute; empty for other fields.
    let name: String

    init(_ number: UInt16, name: String = "") { (self.number, self.name) = (number, name) }

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
  var registers: SortedTable<Field, Register> = [:]
  /// The elements of fields that are sets.
  var sets: SortedTable<Field, Elements> = [:]

  /// The elements of a set, those included that were removed.
  typealias Elements = SortedTable<[UInt8], ObservedElement>

  /// Whether nothing is known.
  var isEmpty: Bool { registers.isEmpty && sets.isEmpty }

  /// The object that a field names.
  func reference(_ field: Field) -> UUID? { registers[field].flatMap { UUID(bytes: $0.value) } }

  /// About how many bytes it takes, without encoding it.
  var estimatedByteCount: Int {
    var count = registers.reduce(4) { $0 + 12 + $1.key.name.utf8.count + $1.value.value.count }
    for (_, elements) in sets {
      count = elements.reduce(count) { $0 + $1.key.count + $1.value.estimatedByteCount }
    }
    return count
  }

  mutating func join(_ other: ObjectState) {
    registers.merge(other.registers) { $1.wins(over: $0) ? $1 : $0 }
    sets.merge(other.sets) { mine, others in
      var elements = mine
      elements.merge(others) { $0.joined(with: $1) }
      return elements
    }
  }

  /// Removes the values of a deleted object's registers.
  ///
  /// The join with the whole state is the whole state.
  ///
  /// - Parameter kept: The field whose value stays, besides whether the object is there.
  /// - Returns: The state with its writers, its times and its completions.
  func withoutValues(keeping kept: Field? = nil) -> ObjectState {
    var state = self
    for field in registers.keys where field != .life && field != kept { state.registers[field]?.value = [] }
    return state
  }

  /// The state in parts of about a number of bytes, which together make the state, except register values above that number.
  func divided(limitInBytes: Int) -> [ObjectState] {
    guard estimatedByteCount > limitInBytes else { return [self] }
    var parts: [ObjectState] = []
    let sendable = registers.filter { $0.value.value.count <= limitInBytes }
    let runs = sendable.divided(limitInBytes: limitInBytes) { $0.key.name.utf8.count + $0.value.value.count }
    parts += runs.map { ObjectState(registers: SortedTable(ascending: $0)) }
    for (field, elements) in sets {
      let runs = elements.divided(limitInBytes: limitInBytes) { $0.key.count + $0.value.estimatedByteCount }
      parts += runs.map { ObjectState(sets: [field: SortedTable(ascending: $0)]) }
    }
    return parts
  }

  /// Whether the value of a register has more than a number of bytes.
  func hasValue(largerThan byteCount: Int) -> Bool { registers.contains { $0.value.value.count > byteCount } }

  /// The join of two states.
  func joined(with other: ObjectState) -> ObjectState {
    var state = self
    state.join(other)
    return state
  }

  /// The greatest time in it.
  var latestTime: Int64? { latestTime { _, _ in true } }

  /// The greatest time of the registers and elements of some fields.
  func latestTime(where isIncluded: (Field, Register?) -> Bool) -> Int64? {
    var latest: Int64?
    for (field, register) in registers where isIncluded(field, register) { latest = max(latest ?? .min, register.time) }
    for (field, elements) in sets where isIncluded(field, nil) {
      for (_, element) in elements { if let time = element.latestTime { latest = max(latest ?? .min, time) } }
    }
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
  var latestContentTime: Int64? { latestTime { field, _ in field.isContent } }

  /// The elements of a set that are there.
  func elements(of field: Field) -> Set<[UInt8]> { Set((sets[field] ?? [:]).lazy.filter(\.value.isPresent).map(\.key)) }

  /// The completion that is shown and counted: the earliest that no reopening had seen; `nil` for an open task.
  var completion: [UInt8]? { sets[.completions]?[[]]?.live.values.min { $0.value.precedes($1.value) }?.value }
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
  /// All replicas that have written something in the state.
  var replicas: Set<ReplicaID> {
    var replicas: Set<ReplicaID> = []
    forEachReplica { replicas.insert($0) }
    return replicas
  }

  /// Passes each replica that has written something in the state to a closure; some more than once.
  func forEachReplica(_ body: (ReplicaID) -> Void) {
    var last: ReplicaID?
    func pass(_ replica: ReplicaID) {
      if replica != last { body(replica) }
      last = replica
    }
    for (_, register) in registers { pass(register.replica) }
    for (_, elements) in sets {
      for (_, element) in elements {
        for replica in element.additions.keys { pass(replica) }
        for replica in element.removals.keys { pass(replica) }
      }
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
  /// When a task was cancelled, with the offset from UTC; objects of other kinds use the number otherwise.
  static let cancellation = Self(19)
  /// The stored bytes of a saved filter; empty for a deleted one.
  static let filter = Self(20)
  /// The start of a task, which has no ``filter``.
  static let start = Self(20)
  /// The tasks on which a task depends, a set of ids.
  static let dependencies = Self(21)
  /// The reminders of a task besides that of ``reminder``, a set of stored reminders.
  static let reminders = Self(22)

  /// The name of a series' time zone; empty for that of the person.
  static let timeZone = Self(24)
  /// The days that are left out of a series, a set.
  static let skippedDays = Self(25)
  /// The wall-clock times of a task of a series.
  static let floating = Self(26)

  /// The same as ``recurrence`` for a rule that the first version of the program cannot read; see
  /// ``ObjectState/recurrenceRegister``.
  static let rule = Self(23)

  /// The replica that a store has become, in the object of its former replica; empty if that is still in use.
  static let successor = Self(40)
  /// Whether somebody has restored or dismissed the overwritten value of a conflict.
  static let settled = Self(41)
  /// The list into which a list was merged; empty if the merge was undone.
  static let mergeTarget = Self(42)

  /// An attribute of a task.
  static func attribute(_ name: String) -> Self { Self(attributes, name: name) }
  static let attributes: UInt16 = 14
}

// Each returns the change; joining it with the state makes it.

extension ObjectState {
  /// Writes a field.
  func setting(_ field: Field, to value: [UInt8], at clock: Int64, by replica: ReplicaID) -> ObjectState {
    ObjectState(registers: [field: Register(time: time(by: clock), replica: replica, value: value)])
  }

  /// Writes a generated value: it is later than the value that it replaces here, and earlier than any write of a person.
  func generating(_ field: Field, to value: [UInt8], at time: Int64, by replica: ReplicaID) -> ObjectState {
    let time = max(time, Self.time(after: registers[field]?.time))
    return ObjectState(registers: [field: Register(time: time, replica: replica, value: value)])
  }

  /// Deletes the object, or brings it back, without the wish of a person: any write of a person is later.
  func generatingLife(toDeleted isDeleted: Bool, at clock: Int64, by replica: ReplicaID) -> ObjectState {
    let replaced = [registers[.life]?.time, isDeleted ? latestContentTime : nil].compactMap(\.self).max()
    let value = isDeleted ? LifeValue.deleted : LifeValue.alive
    let register = Register(time: replaced.map { Self.time(after: $0) } ?? clock, replica: replica, value: value)
    return ObjectState(registers: [.life: register])
  }

  /// The next later time; the earliest time if there was none.
  static func time(after time: Int64?) -> Int64 {
    guard let time else { return .min }
    return time == .max ? time : time + 1
  }

  /// Writes another place for the same move of the user, to make room between neighbours; `nil` without a place.
  func renumbering(to value: [UInt8], by replica: ReplicaID) -> ObjectState? {
    guard let old = registers[.order], old.renumberingCount < .max else { return nil }
    let new = Register(time: old.time, renumberingCount: old.renumberingCount + 1, replica: replica, value: value)
    return ObjectState(registers: [.order: new])
  }

  /// Adds an element to a set.
  ///
  /// The first generated addition is the same on all replicas, so removing it on one removes it everywhere.
  func adding(_ element: [UInt8], to field: Field, at clock: Int64, by replica: ReplicaID) -> ObjectState {
    guard GeneratedTime.contains(clock) else {
      return ObjectState(sets: [field: [element: .adding([], at: time(by: clock), by: replica)]])
    }
    let latest = sets[field]?[element]?.latestTime
    return ObjectState(sets: [
      field: [
        element: .adding(
          [], at: latest.map { max(clock, Self.time(after: $0)) } ?? GeneratedTime.time(at: 0),
          by: latest == nil ? .program : replica)
      ]
    ])
  }

  /// Removes an element from a set, as far as it is known here.
  func removing(_ element: [UInt8], from field: Field) -> ObjectState {
    ObjectState(sets: [field: [element: sets[field]?[element]?.removing ?? ObservedElement()]])
  }

  /// Completes a task; if it is completed, at another time instead.
  func completing(with value: [UInt8], at clock: Int64, by replica: ReplicaID) -> ObjectState {
    var element = sets[.completions]?[[]]?.removing ?? ObservedElement()
    element.join(.adding(value, at: time(by: clock), by: replica))
    return ObjectState(sets: [.completions: [[]: element]])
  }

  /// Reopens a task, as far as its completions are known here.
  func reopening() -> ObjectState { removing([], from: .completions) }

  /// Deletes the object, or brings it back.
  func settingLife(toDeleted isDeleted: Bool, at clock: Int64, by replica: ReplicaID) -> ObjectState {
    setting(.life, to: isDeleted ? LifeValue.deleted : LifeValue.alive, at: clock, by: replica)
  }
}

/// An element of an observed-remove set: a tag, a dependency, a reminder, or the completion of a task.
///
/// Shapiro, Preguiça, Baquero, Zawirski: "A comprehensive study of convergent and commutative replicated data types"
/// (2011), 3.3.5; the additions of one replica are ordered, so only its last one is stored.
struct ObservedElement: Hashable, Sendable {
  /// One addition.
  struct Addition: Hashable, Sendable {
    var time: Int64
    /// The added value: a completion has its instant and its list, a tag nothing.
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

  /// About how many bytes it takes, without its name.
  var estimatedByteCount: Int { additions.reduce(8 * removals.count + 4) { $0 + 8 + $1.value.value.count } }

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
    ObservedElement(removals: SortedTable(ascending: additions.lazy.map { ($0.key, $0.value.time) }))
  }
}

// The form of a state: registers, then sets, each ascending, so that equal states have equal bytes.
//
//   count of registers, for each: field, name, time, renumbering count, replica, value
//   count of sets, for each: field, count of elements, for each: element,
//     count of additions, for each: replica, time, value
//     count of removals, for each: replica, time
//
// Numbers as in `ByteWriter`. A time is the difference to the one before it, in the state or in those written before it.
// A replica is its number in a list beside the state.

extension ObjectState {
  /// The bytes of the state.
  ///
  /// - Parameters:
  ///   - prefix: The bytes before them.
  ///   - number: Returns the number of a replica.
  /// - Returns: The bytes, equal for equal states.
  func encoded(behind prefix: [UInt8] = [], numbering number: @escaping (ReplicaID) -> UInt64) -> [UInt8] {
    var (writer, time) = (ByteWriter(reservingCapacity: prefix.count + estimatedByteCount), Int64(0))
    writer.append(raw: prefix)
    encode(into: &writer, after: &time, numbering: number)
    return writer.bytes
  }

  /// Appends the bytes of the state to those of others.
  ///
  /// - Parameters:
  ///   - writer: Receives the bytes.
  ///   - time: The last time in the state before; then the last one in this state.
  ///   - number: Returns the number of a replica.
  func encode(into writer: inout ByteWriter, after time: inout Int64, numbering number: @escaping (ReplicaID) -> UInt64)
  {
    var encoder = Encoder(number: number, writer: writer, time: time)
    // The only reference to the bytes, so that appending does not copy them.
    writer = ByteWriter()
    encoder.encode(self)
    (writer, time) = (encoder.writer, encoder.time)
  }

  /// Reads a state.
  ///
  /// - Parameters:
  ///   - bytes: The result of ``encoded(numbering:)``, or any other bytes.
  ///   - position: The position of its first byte.
  ///   - replica: Returns the replica of a number; `nil` for an unknown one.
  /// - Throws: ``CodingFault`` for anything else.
  init(decoding bytes: [UInt8], from position: Int = 0, replica: @escaping (UInt64) -> ReplicaID?) throws(CodingFault) {
    var (reader, time) = (ByteReader(bytes, from: position), Int64(0))
    try self.init(from: &reader, after: &time, replica: replica)
    guard reader.isAtEnd else { throw .trailingBytes }
  }

  /// Reads a state after others.
  ///
  /// - Parameters:
  ///   - reader: At the first byte of the state; then after its last one.
  ///   - time: The last time in the state before; then the last one in this state.
  ///   - replica: Returns the replica of a number; `nil` for an unknown one.
  /// - Throws: ``CodingFault`` for anything that ``encode(into:after:numbering:)`` does not write.
  init(
    from reader: inout ByteReader, after time: inout Int64, replica: @escaping (UInt64) -> ReplicaID?
  ) throws(CodingFault) {
    var decoder = Decoder(reader: reader, replica: replica, time: time)
    self = try decoder.state()
    (reader, time) = (decoder.reader, decoder.time)
  }

  private struct Encoder {
    let number: (ReplicaID) -> UInt64
    var writer: ByteWriter
    var time: Int64
    /// The replica that was written last, mostly the next one, too, with the bytes of its number.
    var last: (replica: ReplicaID, number: [UInt8])?

    mutating func encode(_ state: ObjectState) {
      writer.append(UInt64(state.registers.count))
      for (field, register) in state.registers {
        append(field)
        append(time: register.time)
        writer.append(UInt64(register.renumberingCount))
        append(register.replica)
        writer.append(counted: register.value)
      }
      writer.append(UInt64(state.sets.count))
      for (field, elements) in state.sets {
        append(field)
        writer.append(UInt64(elements.count))
        for (name, element) in elements {
          writer.append(counted: name)
          append(element)
        }
      }
    }

    private mutating func append(_ element: ObservedElement) {
      writer.append(UInt64(element.additions.count))
      for (replica, addition) in element.additions {
        append(replica)
        append(time: addition.time)
        writer.append(counted: addition.value)
      }
      writer.append(UInt64(element.removals.count))
      for (replica, time) in element.removals {
        append(replica)
        append(time: time)
      }
    }

    private mutating func append(_ field: Field) {
      writer.append(UInt64(field.number))
      // Only attributes have names.
      if field.name.isEmpty { writer.append(0) } else { writer.append(counted: field.name.utf8) }
    }

    private mutating func append(_ replica: ReplicaID) {
      if let last, last.replica == replica { return writer.append(raw: last.number) }
      var new = ByteWriter()
      new.append(number(replica))
      writer.append(raw: new.bytes)
      last = (replica, new.bytes)
    }

    private mutating func append(time new: Int64) {
      writer.append(signed: new &- time)
      time = new
    }
  }

  private struct Decoder {
    var reader: ByteReader
    let replica: (UInt64) -> ReplicaID?
    var time: Int64
    /// The replica that was read last, mostly the next one, too.
    var last: (number: UInt64, replica: ReplicaID)?

    mutating func state() throws(CodingFault) -> ObjectState {
      var state = ObjectState()
      var last: Field?
      let count = try reader.count(ofAtLeast: 6)
      // No more than most states have: the count is not checked yet.
      state.registers.reserveCapacity(min(count, 32))
      for _ in 0..<count {
        let field = try field(after: &last)
        let time = try nextTime()
        guard let count = UInt32(exactly: try reader.number()) else { throw .impossibleValue }
        let register = Register(
          time: time, renumberingCount: count, replica: try nextReplica(), value: try reader.countedBytes())
        // Fields ascend, so none comes twice.
        state.registers.append(register, forKey: field)
      }
      last = nil
      for _ in 0..<(try reader.count(ofAtLeast: 3)) {
        let field = try field(after: &last)
        state.sets.append(try elements(), forKey: field)
      }
      return state
    }

    private mutating func elements() throws(CodingFault) -> Elements {
      var elements: Elements = [:]
      var last: [UInt8]?
      for _ in 0..<(try reader.count(ofAtLeast: 3)) {
        let name = try reader.countedBytes()
        if let last, !last.lexicographicallyPrecedes(name) { throw .notCanonical }
        last = name
        elements.append(try element(), forKey: name)
      }
      return elements
    }

    private mutating func element() throws(CodingFault) -> ObservedElement {
      var element = ObservedElement()
      var last: ReplicaID?
      for _ in 0..<(try reader.count(ofAtLeast: 3)) {
        let replica = try nextReplica(after: &last)
        let time = try nextTime()
        element.join(.adding(try reader.countedBytes(), at: time, by: replica))
      }
      last = nil
      for _ in 0..<(try reader.count(ofAtLeast: 2)) {
        let replica = try nextReplica(after: &last)
        element.join(.removing(additionsOf: replica, upTo: try nextTime()))
      }
      return element
    }

    private mutating func field(after last: inout Field?) throws(CodingFault) -> Field {
      guard let number = UInt16(exactly: try reader.number()) else { throw .impossibleValue }
      let bytes = try reader.countedBytes()
      // Only attributes have names.
      guard let name = bytes.isEmpty ? "" : String(validating: bytes, as: UTF8.self) else { throw .impossibleValue }
      let field = Field(number, name: name)
      if let last, !(last < field) { throw .notCanonical }
      last = field
      return field
    }

    private mutating func nextTime() throws(CodingFault) -> Int64 {
      time = time &+ (try reader.signedNumber())
      return time
    }

    private mutating func nextReplica() throws(CodingFault) -> ReplicaID {
      let number = try reader.number()
      if let last, last.number == number { return last.replica }
      guard let replica = replica(number) else { throw .unknownReplica }
      last = (number, replica)
      return replica
    }

    private mutating func nextReplica(after last: inout ReplicaID?) throws(CodingFault) -> ReplicaID {
      let replica = try nextReplica()
      if let last, !(last < replica) { throw .notCanonical }
      last = replica
      return replica
    }
  }
}
