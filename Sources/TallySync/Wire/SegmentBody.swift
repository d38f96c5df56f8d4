/// The content of a segment: how far its author had followed the others, and changes of objects.
struct SegmentBody: Hashable, Sendable {
  /// When it was sealed, in microseconds since 1970.
  let sealedAt: Int64
  /// The last segment of each other replica that the author had merged.
  ///
  /// A replica that has not moved since the author's previous segment may be left out, to keep segments small.
  let seen: [ReplicaID: SegmentHead]
  /// Ascending by object, one for each.
  let changes: [ObjectChange]

  /// Takes the content.
  ///
  /// - Parameters:
  ///   - sealedAt: The time now, in microseconds since 1970.
  ///   - seen: How far the author had followed the others.
  ///   - changes: The changes in the order in which they were made; those of one object are joined.
  init(sealedAt: Int64, seen: [ReplicaID: SegmentHead], changes: [ObjectChange]) {
    (self.sealedAt, self.seen) = (sealedAt, seen)
    var joined: [ObjectKey: ObjectChange] = [:]
    for change in changes {
      if joined[change.object]?.join(change) == nil { joined[change.object] = change }
    }
    self.changes = joined.values.sorted { $0.object < $1.object }
  }

  /// Changes are divided so that a segment has about this size.
  static let softLimitInBytes = 256 << 10

  /// Divides changes into those of several segments.
  static func divide(_ changes: [ObjectChange], limitInBytes: Int = softLimitInBytes) -> [[ObjectChange]] {
    changes.divided(limitInBytes: limitInBytes, byteCount: \.estimatedByteCount)
  }
}

// The form of a body:
//
//   version, 1
//   time of sealing
//   count of replicas that were seen, for each, ascending: id, number, digest of 8 bytes
//   count of the other replicas that the changes name, for each, ascending: id
//   count of changes, for each, ascending: object; state; count of replaced writes, for each:
//     number of its register in the state, from 0; number of the replica; time, the difference to that of the register
//
// Numbers as in `ByteWriter`. A replica's number is its place in the list of the author, those seen and the others. The
// first time of a state is the difference to the last one of the state before.

extension SegmentBody {
  /// The bytes of the body, equal for equal bodies.
  ///
  /// - Parameter author: The replica that writes the segment; it is not among those that it has seen.
  /// - Returns: The bytes.
  func encoded(by author: ReplicaID) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(raw: [BodyVersion.current])
    writer.append(signed: sealedAt)
    let others = seen.filter { $0.key != author }.sorted { $0.key < $1.key }
    writer.append(UInt64(others.count))
    for (replica, head) in others {
      writer.append(raw: replica.bytes)
      writer.append(head.number)
      writer.append(raw: head.digest)
    }
    let table = table(by: author)
    table.encode(into: &writer)
    writer.append(UInt64(changes.count))
    var time: Int64 = 0
    for change in changes { change.encode(into: &writer, after: &time, with: table) }
    return writer.bytes
  }

  private func table(by author: ReplicaID) -> ReplicaTable {
    ReplicaTable(author: author, listed: seen.keys, mentioned: changes.reduce(into: []) { $0.formUnion($1.replicas) })
  }

  /// Reads a body.
  ///
  /// - Parameters:
  ///   - bytes: What ``encoded(by:)`` returned, or anything else.
  ///   - author: The replica that has written the segment.
  /// - Throws: ``EnvelopeFault/needsNewerVersion``, or ``EnvelopeFault/malformed(_:)`` for anything else.
  init(decoding bytes: [UInt8], by author: ReplicaID) throws(EnvelopeFault) {
    self = try BodyVersion.decode(bytes) { reader throws(CodingFault) in try Self(from: &reader, by: author) }
  }

  /// When a body was sealed; reads only the beginning of the body.
  static func timeOfSealing(in bytes: [UInt8]) throws(EnvelopeFault) -> Int64 {
    try BodyVersion.start(of: bytes) { reader throws(CodingFault) in try reader.signedNumber() }
  }

  private init(from reader: inout ByteReader, by author: ReplicaID) throws(CodingFault) {
    sealedAt = try reader.signedNumber()
    var (seen, last): ([ReplicaID: SegmentHead], ReplicaID?) = ([:], nil)
    for _ in 0..<(try reader.count(ofAtLeast: ReplicaID.byteCount + 1 + SegmentHead.digestByteCount)) {
      let replica = try reader.replica(after: last)
      guard replica != author else { throw .notCanonical }
      seen[replica] = SegmentHead(number: try reader.number(), digest: try reader.bytes(SegmentHead.digestByteCount))
      last = replica
    }
    let table = try ReplicaTable(from: &reader, author: author, listed: seen.keys)
    var (changes, time): ([ObjectChange], Int64) = ([], 0)
    for _ in 0..<(try reader.count(ofAtLeast: ObjectKey.byteCount + 3)) {
      changes.append(try ObjectChange(from: &reader, behind: changes.last?.object, after: &time, with: table))
    }
    (self.seen, self.changes) = (seen, changes)
    // A replica in the table that nobody names would be a second form of the same body.
    guard self.table(by: author) == table else { throw .notCanonical }
  }
}

extension ObjectChange {
  fileprivate func encode(into writer: inout ByteWriter, after time: inout Int64, with table: ReplicaTable) {
    writer.append(raw: object.bytes)
    state.encode(into: &writer, after: &time, numbering: table.number)
    writer.append(UInt64(replaced.count))
    guard !replaced.isEmpty else { return }
    for (index, (field, register)) in state.registers.enumerated() {
      guard let stamp = replaced[field] else { continue }
      writer.append(UInt64(index))
      writer.append(table.number(of: stamp.replica))
      writer.append(signed: register.time &- stamp.time)
    }
  }

  fileprivate init(
    from reader: inout ByteReader, behind last: ObjectKey?, after time: inout Int64, with table: ReplicaTable
  ) throws(CodingFault) {
    let object = try reader.object(after: last)
    let state = try ObjectState(from: &reader, after: &time, replica: table.replica)
    let count = try reader.count(ofAtLeast: 3)
    let registers = state.registers
    var (replaced, next): ([ObjectState.Field: Stamp], Int) = ([:], 0)
    for _ in 0..<count {
      guard let index = Int(exactly: try reader.number()), index < registers.count else { throw .impossibleValue }
      guard index >= next else { throw .notCanonical }
      guard let replica = table.replica(try reader.number()) else { throw .unknownReplica }
      let (field, register) = registers[index]
      replaced[field] = Stamp(time: register.time &- (try reader.signedNumber()), replica: replica)
      next = index + 1
    }
    self.init(object: object, state: state, replaced: replaced)
  }
}
