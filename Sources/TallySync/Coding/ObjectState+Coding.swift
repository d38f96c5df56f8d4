// The form of a state: registers, then sets, each ascending, so that equal states have equal bytes.
//
//   count of registers, for each: field, name, time, renumbering count, replica, value
//   count of sets, for each: field, count of elements, for each: element,
//     count of additions, for each: replica, time, value
//     count of removals, for each: replica, time
//
// Numbers as in `ByteWriter`. A time is the difference to the one before it, in the state or in those written before it.
// A replica is its number in a list that goes with the state.

extension ObjectState {
  /// The bytes of the state.
  ///
  /// - Parameters:
  ///   - prefix: Bytes that stand before them.
  ///   - number: Gives the number of a replica.
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
  ///   - writer: Takes the bytes.
  ///   - time: The last time in the state before; then the last one in this state.
  ///   - number: Gives the number of a replica.
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
  ///   - bytes: What ``encoded(numbering:)`` returned, or anything else.
  ///   - position: Where its first byte is.
  ///   - replica: Gives the replica of a number; `nil` for an unknown one.
  /// - Throws: ``CodingFault`` for anything else.
  init(
    decoding bytes: [UInt8], from position: Int = 0, replica: @escaping (UInt64) -> ReplicaID?
  ) throws(CodingFault) {
    var (reader, time) = (ByteReader(bytes, from: position), Int64(0))
    try self.init(from: &reader, after: &time, replica: replica)
    guard reader.isAtEnd else { throw .trailingBytes }
  }

  /// Reads a state after others.
  ///
  /// - Parameters:
  ///   - reader: At the first byte of the state; then after its last one.
  ///   - time: The last time in the state before; then the last one in this state.
  ///   - replica: Gives the replica of a number; `nil` for an unknown one.
  /// - Throws: ``CodingFault`` for anything that ``encode(into:after:numbering:)`` does not write.
  init(
    from reader: inout ByteReader, after time: inout Int64, replica: @escaping (UInt64) -> ReplicaID?
  ) throws(CodingFault) {
    var decoder = Decoder(reader: reader, replica: replica, time: time)
    self = try decoder.state()
    (reader, time) = (decoder.reader, decoder.time)
  }
}

extension ObjectState {
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
      state.reserveCapacity(min(count, 32))
      for _ in 0..<count {
        let field = try field(after: &last)
        let time = try nextTime()
        guard let count = UInt32(exactly: try reader.number()) else { throw .impossibleValue }
        let register = Register(
          time: time, renumberingCount: count, replica: try nextReplica(), value: try reader.countedBytes())
        // Fields ascend, so none comes twice.
        state.insert(register, of: field)
      }
      last = nil
      for _ in 0..<(try reader.count(ofAtLeast: 3)) {
        let field = try field(after: &last)
        state.insert(try elements(), of: field)
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
