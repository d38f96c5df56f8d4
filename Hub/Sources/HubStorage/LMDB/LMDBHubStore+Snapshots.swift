import LMDB
package import TallySync

extension LMDBHubStore {
  package func putCard(
    _ card: [UInt8], number: UInt64, of replica: ReplicaID, by member: HubMember, mostCards: Int
  ) async throws {
    let space = member.space
    try await write { tables, transaction in
      let key = space.bytes + replica.bytes
      guard var row = try tables.space(space, in: transaction) else { throw HubStoreError.noSpace }
      let stream = try tables.ownReplica(replica, of: member, in: transaction)
      let known = try tables.cards.value(forKey: key, in: transaction)
      if let known {
        guard UInt64(bytes: known.prefix(8)) <= number else { return }
      } else {
        guard try tables.cardCount(in: space, transaction) < mostCards else { throw HubStoreError.tooManyCards }
      }
      row.byteCount += card.count - (known.map { $0.count - 8 } ?? 0)
      guard row.byteCount <= row.limitInBytes else { throw HubStoreError.noRoom }
      try tables.replicas.put(stream.bytes, forKey: key, in: &transaction)
      try tables.cards.put(number.bytes + card, forKey: key, in: &transaction)
      try tables.putChanged(row, of: space, in: &transaction)
    }
  }

  package func cards(after replica: ReplicaID?, byteCount: Int, in space: SpaceID) async throws -> [HubCard] {
    try read { tables, transaction in
      var (cards, size): ([HubCard], Int) = ([], 0)
      let lower = space.bytes + (replica.map { $0.bytes + [0] } ?? [])
      try tables.cards.forEach(from: lower, in: transaction) { key, value in
        let key = try [UInt8](decoding: key)
        guard key.starts(with: space.bytes) else { return false }
        guard let replica = ReplicaID(bytes: key.dropFirst(SpaceID.byteCount)) else { throw RowReader.Damaged() }
        let card = try HubSlice(of: value, behind: 8, from: 0, count: .max).bytes
        cards.append(HubCard(replica: replica, bytes: card))
        size += card.count
        return size < byteCount
      }
      return cards
    }
  }

  package func putPart(_ part: [UInt8], number: Int, of snapshot: SnapshotName, by member: HubMember) async throws
    -> Bool
  {
    let space = member.space
    guard (0..<snapshot.partCount).contains(number) else {
      throw HubStoreError.malformed("The snapshot has no part of this number.")
    }
    return try await write { tables, transaction in
      guard var row = try tables.space(space, in: transaction) else { throw HubStoreError.noSpace }
      guard let role = try tables.role(of: member, in: transaction), role != .reader else { throw HubStoreError.denied }
      let stream = try tables.ownReplica(snapshot.replica, of: member, in: transaction)
      let key = snapshot.key(in: space)
      let partKey = key + UInt64(number).bytes
      var count = try tables.snapshots.value(forKey: key, in: transaction).map { UInt64(bytes: $0.suffix(8)) } ?? 0
      let known = try tables.parts.value(forKey: partKey, in: transaction)
      row.byteCount -= known.map { $0.count + HubRowLimits.rowByteCount } ?? 0
      if known == nil { count += 1 }
      // A member that begins another snapshot keeps its unfinished ones.
      if count == 1, known == nil {
        row.byteCount -= try tables.deleteIncomplete(of: snapshot.replica, besides: key, in: space, &transaction)
      }
      row.byteCount += part.count + HubRowLimits.rowByteCount
      guard row.byteCount <= row.limitInBytes else { throw HubStoreError.noRoom }
      try tables.parts.put(part, forKey: partKey, in: &transaction)
      try tables.snapshots.put(UInt64(snapshot.partCount).bytes + count.bytes, forKey: key, in: &transaction)
      try tables.replicas.put(stream.bytes, forKey: space.bytes + snapshot.replica.bytes, in: &transaction)
      // Others cannot use a part alone, so they are not woken for it.
      let isComplete = known == nil && count == UInt64(snapshot.partCount)
      if isComplete {
        row.byteCount -= try tables.deleteOldSnapshots(of: snapshot.replica, in: space, &transaction)
        try tables.putChanged(row, of: space, in: &transaction)
      } else {
        try tables.spaces.put(row.bytes, forKey: space.bytes, in: &transaction)
      }
      return isComplete
    }
  }

  package func snapshots(in space: SpaceID) async throws -> [SnapshotName] {
    try read { tables, transaction in
      var complete: [SnapshotName] = []
      try tables.snapshots.forEach(withPrefix: space.bytes, in: transaction) { key, value in
        let value = try [UInt8](decoding: value)
        if value.prefix(8).elementsEqual(value.suffix(8)) {
          complete.append(try SnapshotName(key: [UInt8](decoding: key), partCount: Int(UInt64(bytes: value.prefix(8)))))
        }
        return true
      }
      return complete.sorted { ($0.number, $1.replica) > ($1.number, $0.replica) }
    }
  }

  package func part(
    _ number: Int, of snapshot: SnapshotName, from offset: Int, count: Int, in space: SpaceID
  ) async throws -> HubSlice? {
    guard number >= 0 else { return nil }
    return try read { tables, transaction in
      let key = snapshot.key(in: space) + UInt64(number).bytes
      guard let value = try tables.parts.bytes(forKey: key, in: transaction) else { return nil }
      return try HubSlice(of: value, behind: 0, from: offset, count: count)
    }
  }

  package func delete(
    segmentsOf replica: ReplicaID, upTo number: UInt64, snapshots: [SnapshotName], by member: HubMember
  ) async throws {
    let space = member.space
    try await write { tables, transaction in
      guard var row = try tables.space(space, in: transaction) else { throw HubStoreError.noSpace }
      guard let role = try tables.role(of: member, in: transaction), role != .reader else { throw HubStoreError.denied }
      let stream = try tables.replica(replica, of: space, in: transaction)
      let isRevoked = stream.map { $0.cutOff != .max } ?? false
      if !(isRevoked && role == .owner) { _ = try tables.ownReplica(replica, of: member, in: transaction) }
      let last = (stream?.number ?? 0) - (isRevoked || stream?.number ?? 0 == 0 ? 0 : 1)
      row.byteCount -= try tables.deleteSegments(of: replica, upTo: min(number, last), in: space, &transaction)
      for snapshot in snapshots where snapshot.replica == replica {
        row.byteCount -= try tables.deleteSnapshot(snapshot.key(in: space), &transaction)
      }
      try tables.putChanged(row, of: space, in: &transaction)
    }
  }
}

extension HubTables {
  fileprivate func cardCount(in space: SpaceID, _ transaction: borrowing WriteTransaction) throws -> Int {
    var count = 0
    try cards.forEach(withPrefix: space.bytes, in: transaction) { key, _ in
      // Cards of revoked members stay to verify their segments, but take no room from others.
      let row = try replicas.value(forKey: [UInt8](decoding: key), in: transaction).map { try ReplicaRow($0) }
      if row?.cutOff == .max { count += 1 }
      return true
    }
    return count
  }

  /// - Returns: How many bytes are free now.
  fileprivate func deleteSegments(
    of replica: ReplicaID, upTo number: UInt64, in space: SpaceID, _ transaction: inout WriteTransaction
  ) throws -> Int {
    guard number > 0 else { return 0 }
    let prefix = space.bytes + replica.bytes
    var old: [(key: [UInt8], position: [UInt8])] = []
    try positions.forEach(
      from: prefix, upTo: prefix + number.advanced(by: 1).bytes, in: transaction
    ) { key, value in
      old.append((try [UInt8](decoding: key), try [UInt8](decoding: value)))
      return true
    }
    var byteCount = 0
    for (key, position) in old {
      byteCount += max(0, (try segments.value(forKey: space.bytes + position, in: transaction)?.count ?? 0) - 24)
      try segments.remove(forKey: space.bytes + position, in: &transaction)
      try positions.remove(forKey: key, in: &transaction)
    }
    return byteCount
  }

  /// Deletes the parts of unfinished snapshots.
  fileprivate func deleteIncomplete(
    of replica: ReplicaID, besides own: [UInt8], in space: SpaceID, _ transaction: inout WriteTransaction
  ) throws -> Int {
    var incomplete: [[UInt8]] = []
    try snapshots.forEach(withPrefix: space.bytes + replica.bytes, in: transaction) { key, value in
      let (key, value) = (try [UInt8](decoding: key), try [UInt8](decoding: value))
      if key != own, !value.prefix(8).elementsEqual(value.suffix(8)) { incomplete.append(key) }
      return true
    }
    return try incomplete.reduce(0) { try $0 + deleteSnapshot($1, &transaction) }
  }

  /// Deletes all but the newest complete snapshots of a replica.
  fileprivate func deleteOldSnapshots(
    of replica: ReplicaID, in space: SpaceID, _ transaction: inout WriteTransaction
  ) throws -> Int {
    var complete: [[UInt8]] = []
    // The snapshots come in the order of their numbers.
    try snapshots.forEach(withPrefix: space.bytes + replica.bytes, in: transaction) { key, value in
      let value = try [UInt8](decoding: value)
      if value.prefix(8).elementsEqual(value.suffix(8)) { complete.append(try [UInt8](decoding: key)) }
      return true
    }
    return try complete.dropLast(HubRowLimits.mostSnapshotsOfReplica).reduce(0) {
      try $0 + deleteSnapshot($1, &transaction)
    }
  }

  fileprivate func deleteSnapshot(_ key: [UInt8], _ transaction: inout WriteTransaction) throws -> Int {
    var byteCount = 0
    try parts.forEach(withPrefix: key, in: transaction) { _, value in
      byteCount += value.byteCount + HubRowLimits.rowByteCount
      return true
    }
    try parts.removeAll(withPrefix: key, in: &transaction)
    try snapshots.remove(forKey: key, in: &transaction)
    return byteCount
  }
}

extension SnapshotName {
  private static let digestByteCount = 8

  /// The digest as a row has it: always of the same length.
  var storedDigest: [UInt8] {
    let padding = [UInt8](repeating: 0, count: max(0, Self.digestByteCount - digest.count))
    return digest.prefix(Self.digestByteCount) + padding
  }

  fileprivate func key(in space: SpaceID) -> [UInt8] {
    space.bytes + replica.bytes + number.bytes + storedDigest
  }

  fileprivate init(key: [UInt8], partCount: Int) throws {
    var reader = RowReader(key)
    _ = try reader.space()
    guard let replica = ReplicaID(bytes: try reader.bytes(16)) else { throw RowReader.Damaged() }
    self.init(
      replica: replica, number: try reader.number(), digest: try reader.bytes(Self.digestByteCount),
      partCount: partCount)
  }
}
