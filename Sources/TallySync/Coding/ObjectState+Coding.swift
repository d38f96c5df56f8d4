// The form of a state: registers, then sets, each ascending, so that equal states have equal bytes.
//
//   count of registers, for each: field, name, time, renumbering count, replica, value
//   count of sets, for each: field, count of elements, for each: element,
//     count of additions, for each: replica, time, value
//     count of removals, for each: replica, time
//
// Numbers as in `ByteWriter`. A time is the difference to the one before it in the state; a replica is its number in a
// list that goes with the state.

extension ObjectState {
  /// The bytes of the state.
  ///
  /// - Parameter number: Gives the number of a replica.
  /// - Returns: The bytes, equal for equal states.
  func encoded(numbering number: @escaping (ReplicaID) -> UInt64) -> [UInt8] {
    var encoder = Encoder(number: number)
    encoder.encode(self)
    return encoder.writer.bytes
  }

  /// Reads a state.
  ///
  /// - Parameters:
  ///   - bytes: What ``encoded(numbering:)`` returned, or anything else.
  ///   - replica: Gives the replica of a number; `nil` for an unknown one.
  /// - Throws: ``CodingFault`` for anything else.
  init(decoding bytes: some Sequence<UInt8>, replica: @escaping (UInt64) -> ReplicaID?) throws(CodingFault) {
    var decoder = Decoder(reader: ByteReader(bytes), replica: replica)
    self = try decoder.state()
    guard decoder.reader.isAtEnd else { throw .trailingBytes }
  }
}

extension ObjectState {
  private struct Encoder {
    let number: (ReplicaID) -> UInt64
    var writer = ByteWriter()
    private var time: Int64 = 0

    init(number: @escaping (ReplicaID) -> UInt64) {
      self.number = number
    }

    mutating func encode(_ state: ObjectState) {
      writer.append(UInt64(state.registers.count))
      for (field, register) in state.registers.sorted(by: { $0.key < $1.key }) {
        append(field)
        append(time: register.time)
        writer.append(UInt64(register.renumberingCount))
        writer.append(number(register.replica))
        writer.append(counted: register.value)
      }
      writer.append(UInt64(state.sets.count))
      for (field, elements) in state.sets.sorted(by: { $0.key < $1.key }) {
        append(field)
        writer.append(UInt64(elements.count))
        for (name, element) in elements.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
          writer.append(counted: name)
          append(element)
        }
      }
    }

    private mutating func append(_ element: ObservedElement) {
      writer.append(UInt64(element.additions.count))
      for (replica, addition) in element.additions.sorted(by: { $0.key < $1.key }) {
        writer.append(number(replica))
        append(time: addition.time)
        writer.append(counted: addition.value)
      }
      writer.append(UInt64(element.removals.count))
      for (replica, time) in element.removals.sorted(by: { $0.key < $1.key }) {
        writer.append(number(replica))
        append(time: time)
      }
    }

    private mutating func append(_ field: Field) {
      writer.append(UInt64(field.number))
      writer.append(counted: field.name.utf8)
    }

    private mutating func append(time new: Int64) {
      writer.append(signed: new &- time)
      time = new
    }
  }

  private struct Decoder {
    var reader: ByteReader
    let replica: (UInt64) -> ReplicaID?
    private var time: Int64 = 0

    init(reader: ByteReader, replica: @escaping (UInt64) -> ReplicaID?) {
      (self.reader, self.replica) = (reader, replica)
    }

    mutating func state() throws(CodingFault) -> ObjectState {
      var state = ObjectState()
      var last: Field?
      for _ in 0..<(try reader.count(ofAtLeast: 6)) {
        let field = try field(after: &last)
        let time = try nextTime()
        guard let count = UInt32(exactly: try reader.number()) else { throw .impossibleValue }
        let register = Register(
          time: time, renumberingCount: count, replica: try nextReplica(), value: try reader.countedBytes())
        state.join(ObjectState(registers: [field: register]))
      }
      last = nil
      for _ in 0..<(try reader.count(ofAtLeast: 3)) {
        let field = try field(after: &last)
        state.join(ObjectState(sets: [field: try elements()]))
      }
      return state
    }

    private mutating func elements() throws(CodingFault) -> [[UInt8]: ObservedElement] {
      var elements: [[UInt8]: ObservedElement] = [:]
      var last: [UInt8]?
      for _ in 0..<(try reader.count(ofAtLeast: 3)) {
        let name = try reader.countedBytes()
        if let last, !last.lexicographicallyPrecedes(name) { throw .notCanonical }
        last = name
        elements[name] = try element()
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
      guard let name = String(validating: try reader.countedBytes(), as: UTF8.self) else { throw .impossibleValue }
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
      guard let replica = replica(try reader.number()) else { throw .unknownReplica }
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
