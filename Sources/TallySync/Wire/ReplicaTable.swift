import Foundation

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
  ///   - author: Who has written the body.
  ///   - listed: Those whose ids stand in the body before the table.
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
  ///   - author: Who has written the body.
  ///   - listed: Those whose ids stand in the body before the table.
  /// - Throws: ``CodingFault``.
  init(
    from reader: inout ByteReader, author: ReplicaID, listed: some Sequence<ReplicaID>
  ) throws(CodingFault) {
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

extension ReplicaID {
  static let byteCount = 16
}

extension ByteReader {
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
}
