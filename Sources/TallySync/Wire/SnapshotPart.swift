import Foundation

/// The coverage of a snapshot and the hash of its state, which are the same in all its parts.
struct SnapshotSummary: Hashable, Sendable {
  /// The last segment of each replica whose changes are in it, its author's included.
  var coverage: [ReplicaID: StreamPosition]
  /// When it was made, in microseconds since 1970.
  var madeAt: Int64
  /// The hash of the whole state.
  var stateHash: ContentHash
  /// How many parts there are.
  var partCount: Int

  /// The hash that names the coverage: in the header of each part and, its start, in the snapshot's name.
  var coverageHash: ContentHash {
    var writer = ByteWriter()
    writer.append(byReplica: coverage) { $0.append($1) }
    return ContentHash(of: writer.bytes)
  }
}

/// One part of a snapshot: states of objects.
struct SnapshotPart: Hashable, Sendable {
  let summary: SnapshotSummary
  let states: States

  typealias States = SortedTable<ObjectKey, ObjectState>

  /// Parts have about this size.
  static let softLimitInBytes = 1 << 20
}

// The form of a part:
//
//   version, 1
//   count of replicas that are covered, for each, ascending: id, number, hash of 32 bytes
//   time of making; hash of the state, 32 bytes; count of parts
//   count of the other replicas that the states name, for each, ascending: id
//   count of objects, for each, ascending: object; state
//
// Replicas and times as in the body of a segment.

extension SnapshotSummary {
  fileprivate func encode(into writer: inout ByteWriter) {
    writer.append(byReplica: coverage) { $0.append($1) }
    writer.append(signed: madeAt)
    writer.append(raw: stateHash.bytes)
    writer.append(UInt64(partCount))
  }

  fileprivate init(from reader: inout ByteReader) throws(CodingFault) {
    let coverage = try reader.byReplica(ofAtLeast: StreamPosition.leastByteCount) { reader, _ throws(CodingFault) in
      try reader.streamPosition()
    }
    let (madeAt, stateHash) = (try reader.signedNumber(), try reader.hash())
    guard let partCount = Int(exactly: try reader.number()), partCount > 0 else { throw .impossibleValue }
    self.init(coverage: coverage, madeAt: madeAt, stateHash: stateHash, partCount: partCount)
  }
}

extension SnapshotPart {
  /// The bytes of the part, equal for equal parts.
  ///
  /// - Parameter author: The replica that makes the snapshot.
  /// - Returns: The bytes.
  func encoded(by author: ReplicaID) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(raw: [BodyVersion.current])
    summary.encode(into: &writer)
    let table = table(by: author)
    table.encode(into: &writer)
    writer.append(UInt64(states.count))
    var time: Int64 = 0
    for (object, state) in states {
      writer.append(raw: object.bytes)
      state.encode(into: &writer, after: &time, numbering: table.number)
    }
    return writer.bytes
  }

  private func table(by author: ReplicaID) -> ReplicaTable {
    let mentioned = states.values.reduce(into: Set()) { replicas, state in
      state.forEachReplica { replicas.insert($0) }
    }
    return ReplicaTable(author: author, listed: summary.coverage.keys, mentioned: mentioned)
  }

  /// Reads a part.
  ///
  /// - Parameters:
  ///   - bytes: The result of ``encoded(by:)``, or any other bytes.
  ///   - author: The replica that has made the snapshot.
  /// - Throws: ``EnvelopeFault/needsNewerVersion``, or ``EnvelopeFault/malformed(_:)`` for anything else.
  init(decoding bytes: [UInt8], by author: ReplicaID) throws(EnvelopeFault) {
    self = try BodyVersion.decode(bytes) { reader throws(CodingFault) in try Self(from: &reader, by: author) }
  }

  private init(from reader: inout ByteReader, by author: ReplicaID) throws(CodingFault) {
    let summary = try SnapshotSummary(from: &reader)
    let table = try ReplicaTable(from: &reader, author: author, listed: summary.coverage.keys)
    var (states, last, time): (States, ObjectKey?, Int64) = ([:], nil, 0)
    for _ in 0..<(try reader.count(ofAtLeast: ObjectKey.byteCount + 2)) {
      let object = try reader.object(after: last)
      states.append(try ObjectState(from: &reader, after: &time, replica: table.replica), forKey: object)
      last = object
    }
    (self.summary, self.states) = (summary, states)
    guard self.table(by: author) == table else { throw .notCanonical }
  }
}

/// The replicas that a body names, each with a small number.
///
/// First the author, then those that the body lists anyway, then the others.
struct ReplicaTable: Equatable {
  private let replicas: [ReplicaID]
  private let numbers: [ReplicaID: UInt64]
  private let firstOther: Int

  /// Numbers replicas.
  ///
  /// - Parameters:
  ///   - author: The replica that has written the body.
  ///   - listed: The replicas whose ids are in the body before the table.
  ///   - mentioned: All others that the rest of the body names.
  init(author: ReplicaID, listed: some Sequence<ReplicaID>, mentioned: Set<ReplicaID>) {
    let known = [author] + Set(listed).subtracting([author]).sorted()
    self.init(known: known, others: mentioned.subtracting(known).sorted())
  }

  private init(known: [ReplicaID], others: [ReplicaID]) {
    replicas = known + others
    firstOther = known.count
    numbers = Dictionary(replicas.enumerated().map { ($1, UInt64($0)) }) { first, _ in first }
  }

  /// The number of a replica of the table.
  func number(of replica: ReplicaID) -> UInt64 {
    guard let number = numbers[replica] else { preconditionFailure("the table was made without this replica") }
    return number
  }

  /// The replica with a number; `nil` for an unknown one.
  func replica(_ number: UInt64) -> ReplicaID? {
    Int(exactly: number).flatMap { replicas.indices.contains($0) ? replicas[$0] : nil }
  }

  /// Appends the others, those that the body does not list.
  func encode(into writer: inout ByteWriter) {
    writer.append(UInt64(replicas.count - firstOther))
    for replica in replicas[firstOther...] { writer.append(raw: replica.bytes) }
  }

  /// Reads the others.
  ///
  /// - Parameters:
  ///   - reader: At the first byte of the table; then after its last one.
  ///   - author: The replica that has written the body.
  ///   - listed: The replicas whose ids are in the body before the table.
  /// - Throws: ``CodingFault``.
  init(from reader: inout ByteReader, author: ReplicaID, listed: some Sequence<ReplicaID>) throws(CodingFault) {
    let known = [author] + Set(listed).subtracting([author]).sorted()
    let distinct = Set(known)
    var others: [ReplicaID] = []
    for _ in 0..<(try reader.count(ofAtLeast: ReplicaID.byteCount)) {
      let replica = try reader.replica(after: others.last)
      guard !distinct.contains(replica) else { throw .notCanonical }
      others.append(replica)
    }
    self.init(known: known, others: others)
  }
}

extension ByteWriter {
  /// Appends values by replica: their count, then for each replica, ascending, its id and what a closure appends.
  mutating func append<Value>(byReplica values: [ReplicaID: Value], _ append: (inout ByteWriter, Value) -> Void) {
    self.append(UInt64(values.count))
    for (replica, value) in values.sorted(by: { $0.key < $1.key }) {
      self.append(raw: replica.bytes)
      append(&self, value)
    }
  }

  /// Appends a place in a stream: the number, then the hash.
  mutating func append(_ position: StreamPosition) {
    append(position.number)
    append(raw: position.hash.bytes)
  }
}

extension ByteReader {
  /// Reads values by replica; `byteCount` is the least number of bytes that a value has.
  mutating func byReplica<Value>(
    ofAtLeast byteCount: Int, _ read: (inout ByteReader, ReplicaID) throws(CodingFault) -> Value
  ) throws(CodingFault) -> [ReplicaID: Value] {
    var (values, last): ([ReplicaID: Value], ReplicaID?) = ([:], nil)
    for _ in 0..<(try count(ofAtLeast: ReplicaID.byteCount + byteCount)) {
      let replica = try replica(after: last)
      values[replica] = try read(&self, replica)
      last = replica
    }
    return values
  }

  /// Reads a place in a stream.
  mutating func streamPosition() throws(CodingFault) -> StreamPosition {
    StreamPosition(number: try number(), hash: try hash())
  }

  /// Reads the id of a replica that is greater than the one before it.
  mutating func replica(after last: ReplicaID?) throws(CodingFault) -> ReplicaID {
    guard let id = UUID(bytes: try bytes(ReplicaID.byteCount)) else { throw .impossibleValue }
    let replica = ReplicaID(id)
    if let last, !(last < replica) { throw .notCanonical }
    return replica
  }

  /// Reads the key of an object that is greater than the one before it.
  mutating func object(after last: ObjectKey?) throws(CodingFault) -> ObjectKey {
    let object = try ObjectKey(bytes: bytes(ObjectKey.byteCount))
    if let last, !(last < object) { throw .notCanonical }
    return object
  }

  /// Reads a hash.
  mutating func hash() throws(CodingFault) -> ContentHash {
    guard let hash = ContentHash(bytes: try bytes(ContentHash.byteCount)) else { throw .impossibleValue }
    return hash
  }

  /// Reads a verifying key.
  mutating func verifyingKey() throws(CodingFault) -> VerifyingKey {
    guard let key = VerifyingKey(bytes: try bytes(VerifyingKey.byteCount)) else { throw .impossibleValue }
    return key
  }

  /// Reads keys of epochs, at least one, ascending.
  mutating func epochKeys() throws(CodingFault) -> [EpochKey] {
    var keys: [EpochKey] = []
    for _ in 0..<(try count(ofAtLeast: 4 + SpaceKey.byteCount)) {
      let epoch = UInt32(bigEndianBytes: try bytes(4))
      guard let key = SpaceKey(bytes: try bytes(SpaceKey.byteCount)) else { throw .impossibleValue }
      let next = EpochKey(epoch: epoch, key: key)
      if let last = keys.last, !last.bytes.lexicographicallyPrecedes(next.bytes) { throw .notCanonical }
      keys.append(next)
    }
    guard !keys.isEmpty else { throw .notCanonical }
    return keys
  }
}
