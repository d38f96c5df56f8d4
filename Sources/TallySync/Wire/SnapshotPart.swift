/// What a snapshot covers, and which state it holds: the same in all its parts.
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
    encodeCoverage(into: &writer)
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
  fileprivate func encodeCoverage(into writer: inout ByteWriter) {
    writer.append(UInt64(coverage.count))
    for (replica, position) in coverage.sorted(by: { $0.key < $1.key }) {
      writer.append(raw: replica.bytes)
      writer.append(position.number)
      writer.append(raw: position.hash.bytes)
    }
  }

  fileprivate func encode(into writer: inout ByteWriter) {
    encodeCoverage(into: &writer)
    writer.append(signed: madeAt)
    writer.append(raw: stateHash.bytes)
    writer.append(UInt64(partCount))
  }

  fileprivate init(from reader: inout ByteReader) throws(CodingFault) {
    var (coverage, last): ([ReplicaID: StreamPosition], ReplicaID?) = ([:], nil)
    for _ in 0..<(try reader.count(ofAtLeast: ReplicaID.byteCount + 1 + ContentHash.byteCount)) {
      let replica = try reader.replica(after: last)
      coverage[replica] = StreamPosition(number: try reader.number(), hash: try reader.hash())
      last = replica
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
  ///   - bytes: What ``encoded(by:)`` returned, or anything else.
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
