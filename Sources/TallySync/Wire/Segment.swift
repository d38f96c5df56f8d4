import Crypto

/// The number of a segment in the stream of its replica, and the start of its hash.
public struct SegmentHead: Hashable, Sendable {
  /// How many bytes of the hash are stored.
  public static let digestByteCount = 8

  /// From 1; 0 before the first segment.
  public let number: UInt64
  /// The first eight bytes of the segment's SHA-256; zeros before the first segment.
  public let digest: [UInt8]

  /// Creates a head of a number and the start of a hash.
  ///
  /// - Parameters:
  ///   - number: The number, from 1.
  ///   - digest: The first bytes of the segment's SHA-256; missing ones count as zeros, further ones are dropped.
  public init(number: UInt64, digest: [UInt8]) {
    self.number = number
    let start = digest.prefix(Self.digestByteCount)
    self.digest = start + [UInt8](repeating: 0, count: Self.digestByteCount - start.count)
  }

  /// Before the first segment.
  public static let none = SegmentHead(number: 0, digest: [])
}

/// The fields of an envelope that a place can read without a key: its replica, its number and its length.
///
/// These fields stay where they are in every format, so that a place stores and returns envelopes of newer versions.
public struct SegmentFrame: Hashable, Sendable {
  /// The shortest envelope: one without a body.
  static let leastByteCount = EnvelopeHeader.byteCount + VerifyingKey.signatureByteCount

  let kind: EnvelopeHeader.Kind
  /// The sixteen bytes of the space.
  public let space: [UInt8]
  /// The replica that claims to have written it; only a key can prove that.
  public let replica: ReplicaID
  /// The number of the segment, of the part of a snapshot, of the card.
  public let number: UInt64
  /// The SHA-256 of the segment before it.
  let previous: ContentHash
  let bodyByteCount: Int

  /// The length of the whole envelope, which may be longer than the bytes at hand.
  public var byteCount: Int { Self.leastByteCount + bodyByteCount }

  /// Whether it is a segment, and no card or part of a snapshot.
  public var isSegment: Bool { kind == .segment }

  /// The SHA-256 of the segment before it; zeros in the first one.
  public var previousHash: [UInt8] { previous.bytes }

  /// Reads the header at the start of some bytes; `nil` if it is not there as a whole.
  ///
  /// - Parameter bytes: An envelope, perhaps followed by others, or a part of one.
  public init?(_ bytes: ArraySlice<UInt8>) {
    let header = Array(bytes.prefix(EnvelopeHeader.byteCount))
    guard header.count == EnvelopeHeader.byteCount, header.starts(with: EnvelopeHeader.magic),
      let kind = EnvelopeHeader.Kind(rawValue: header[5]), let replica = ReplicaID(bytes: header[24..<40]),
      let previous = ContentHash(bytes: header[52..<84])
    else { return nil }
    (self.kind, self.replica, self.previous) = (kind, replica, previous)
    space = Array(header[8..<24])
    number = UInt64(bigEndianBytes: header[44..<52])
    bodyByteCount = Int(clamping: UInt32(bigEndianBytes: header[116..<120]))
  }

  /// Splits bytes into the envelopes that they contain, one after the other.
  ///
  /// - Parameter bytes: All bytes of a file.
  /// - Returns: Each with its frame; `nil` if anything else is among them, or the last one is not whole.
  public static func split(_ bytes: [UInt8]) -> [(frame: SegmentFrame, bytes: [UInt8])]? {
    var envelopes: [(frame: SegmentFrame, bytes: [UInt8])] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      guard let frame = SegmentFrame(rest), frame.byteCount <= rest.count else { return nil }
      envelopes.append((frame, Array(rest.prefix(frame.byteCount))))
      rest = rest.dropFirst(frame.byteCount)
    }
    return envelopes
  }
}

extension SegmentHead {
  /// Reads the number of a sealed segment and hashes it, without a key; `nil` if the bytes are not one segment.
  ///
  /// - Parameter segment: The whole segment.
  public init?(of segment: [UInt8]) {
    guard let frame = SegmentFrame(segment[...]), frame.kind == .segment, frame.byteCount == segment.count else {
      return nil
    }
    self.init(number: frame.number, digest: Array(SHA256.hash(data: segment)))
  }
}

/// The content of a segment: how far its author had followed the others, and changes of objects.
struct SegmentBody: Hashable, Sendable {
  /// When it was sealed, in microseconds since 1970.
  let sealedAt: Int64
  /// The last segment of each other replica that the author had merged.
  ///
  /// A replica that has not moved since the author's previous segment may be left out, so that segments are small.
  let seen: [ReplicaID: SegmentHead]
  /// Ascending by object, one for each.
  let changes: [ObjectChange]

  /// Creates a body.
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
    writer.append(byReplica: seen.filter { $0.key != author }) { writer, head in
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
  ///   - bytes: The result of ``encoded(by:)``, or any other bytes.
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
    let headByteCount = 1 + SegmentHead.digestByteCount
    let seen = try reader.byReplica(ofAtLeast: headByteCount) { reader, replica throws(CodingFault) in
      guard replica != author else { throw .notCanonical }
      return SegmentHead(number: try reader.number(), digest: try reader.bytes(SegmentHead.digestByteCount))
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

/// Hides the exact size of a body: its byte count, four bytes; its bytes; then zeros.
enum BodyPadding {
  static let blockByteCount = 64
  private static let prefixByteCount = 4

  /// Pads a body to whole blocks.
  ///
  /// - Parameter body: Fewer than 4 GiB.
  /// - Returns: The padded body.
  static func padded(_ body: [UInt8]) -> [UInt8] {
    let count = paddedByteCount(body.count)
    var padded: [UInt8] = []
    padded.reserveCapacity(count)
    padded += UInt32(truncatingIfNeeded: body.count).bigEndianBytes
    padded += body
    padded += [UInt8](repeating: 0, count: count - padded.count)
    return padded
  }

  /// Reads a padded body.
  ///
  /// - Parameter padded: The padded body, or anything else.
  /// - Returns: The body.
  /// - Throws: ``EnvelopeFault/malformed(_:)`` if it is not padded in the one way in which ``padded(_:)`` does it.
  static func content(of padded: some RandomAccessCollection<UInt8>) throws(EnvelopeFault) -> [UInt8] {
    guard padded.count >= prefixByteCount else { throw .malformed(.endsEarly) }
    let count = Int(clamping: UInt32(bigEndianBytes: padded.prefix(prefixByteCount)))
    let rest = padded.dropFirst(prefixByteCount)
    guard count <= rest.count else { throw .malformed(.endsEarly) }
    guard paddedByteCount(count) == padded.count, rest.dropFirst(count).allSatisfy({ $0 == 0 }) else {
      throw .malformed(.notCanonical)
    }
    return Array(rest.prefix(count))
  }

  private static func paddedByteCount(_ count: Int) -> Int {
    (prefixByteCount + count + blockByteCount - 1) / blockByteCount * blockByteCount
  }
}

/// The version with which each body begins.
enum BodyVersion {
  static let current: UInt8 = 1
  /// The version of a card's body with the keys of past epochs.
  static let cardWithKeys: UInt8 = 2

  /// Reads a body, its version first.
  ///
  /// - Parameters:
  ///   - bytes: The body, or anything else.
  ///   - newest: The newest version of this kind of body.
  ///   - read: Reads the rest, up to the end.
  /// - Returns: The value that was read.
  /// - Throws: ``EnvelopeFault/needsNewerVersion``, or ``EnvelopeFault/malformed(_:)``.
  static func decode<Value>(
    _ bytes: [UInt8], newest: UInt8 = current, read: (inout ByteReader) throws(CodingFault) -> Value
  ) throws(EnvelopeFault) -> Value {
    try start(of: bytes, newest: newest) { reader throws(CodingFault) in
      let value = try read(&reader)
      guard reader.isAtEnd else { throw .trailingBytes }
      return value
    }
  }

  /// Like ``decode(_:newest:read:)``, but reads only the first values of a body.
  static func start<Value>(
    of bytes: [UInt8], newest: UInt8 = current, read: (inout ByteReader) throws(CodingFault) -> Value
  ) throws(EnvelopeFault) -> Value {
    guard (bytes.first ?? 0) <= newest else { throw .needsNewerVersion }
    do throws(CodingFault) {
      var reader = ByteReader(bytes)
      guard try reader.byte() >= current else { throw .impossibleValue }
      return try read(&reader)
    } catch {
      throw .malformed(error)
    }
  }
}

/// A place in a replica's stream: the number and the whole hash of a segment.
struct StreamPosition: Hashable, Sendable, Codable {
  let number: UInt64
  let hash: ContentHash

  /// Before the first segment.
  static let start = StreamPosition(number: 0, hash: .none)
  /// The least number of bytes of the encoded form.
  static let leastByteCount = 1 + ContentHash.byteCount

  /// The number and the start of the hash.
  var head: SegmentHead { SegmentHead(number: number, digest: hash.bytes) }
}

extension StreamPosition {
  init(_ segment: Envelope) { self.init(number: segment.header.label.number, hash: segment.hash) }
}
