import LMDB
package import TallySync

extension LMDBHubStore {
  package func append(
    _ segments: [[UInt8]], of replica: ReplicaID, by member: HubMember
  ) async throws -> [HubAppendAnswer] {
    let segments = try segments.map { try ReceivedSegment($0, of: replica, in: member.space) }
    return try await write { tables, transaction in
      try tables.append(segments, of: replica, by: member, in: &transaction)
    }
  }

  package func segments(after position: UInt64, byteCount: Int, in space: SpaceID) async throws -> [HubSegment] {
    try read { tables, transaction in
      var (segments, size) = ([HubSegment](), 0)
      let lower = space.bytes + (position == .max ? position : position + 1).bytes
      try tables.segments.forEach(from: lower, in: transaction) { key, value in
        let key = try [UInt8](decoding: key)
        guard key.starts(with: space.bytes) else { return false }
        let bytes = try [UInt8](decoding: value).segmentBytes
        segments.append(HubSegment(position: UInt64(bytes: key.suffix(8)), bytes: bytes))
        size += bytes.count
        return size < byteCount
      }
      return segments
    }
  }

  package func segments(
    of replica: ReplicaID, after number: UInt64, byteCount: Int, in space: SpaceID
  ) async throws -> [HubSegment] {
    try read { tables, transaction in
      var (segments, size, next) = ([HubSegment](), 0, number)
      let stream = space.bytes + replica.bytes
      try tables.positions.forEach(from: stream + (number == .max ? number : number + 1).bytes, in: transaction) {
        key, value in
        let (key, position) = (try [UInt8](decoding: key), try [UInt8](decoding: value))
        guard key.starts(with: stream), UInt64(bytes: key.suffix(8)) == next + 1,
          let bytes = try tables.segments.value(forKey: space.bytes + position, in: transaction)?.segmentBytes
        else { return false }
        segments.append(HubSegment(position: UInt64(bytes: position), bytes: bytes))
        (size, next) = (size + bytes.count, next + 1)
        return size < byteCount
      }
      return segments
    }
  }
}

extension [UInt8] {
  /// The sealed bytes behind the replica and number in a row of segments.
  fileprivate var segmentBytes: [UInt8] { Array(dropFirst(24)) }
}

extension HubTables {
  fileprivate func append(
    _ segments: [ReceivedSegment], of replica: ReplicaID, by member: HubMember, in transaction: inout WriteTransaction
  ) throws -> [HubAppendAnswer] {
    let space = member.space
    guard var row = try self.space(space, in: transaction) else { throw HubStoreError.noSpace }
    guard member.role != .reader, var stream = try? ownReplica(replica, of: member, in: transaction) else {
      return [.denied]
    }
    var (answers, hasChanged): ([HubAppendAnswer], Bool) = ([], false)
    for segment in segments {
      let answer = try answer(to: segment, of: replica, stream, row, in: space, transaction)
      answers.append(answer)
      if case .known = answer { continue }
      guard case .stored(let position) = answer else { break }
      let value = replica.bytes + segment.number.bytes + segment.bytes
      try self.segments.put(value, forKey: space.bytes + position.bytes, in: &transaction)
      try positions.put(
        position.bytes, forKey: space.bytes + replica.bytes + segment.number.bytes, in: &transaction)
      (row.position, row.byteCount) = (position, row.byteCount + segment.bytes.count)
      (stream.number, stream.hash, hasChanged) = (segment.number, segment.hash, true)
    }
    guard hasChanged else { return answers }
    try putChanged(row, of: space, in: &transaction)
    try replicas.put(stream.bytes, forKey: space.bytes + replica.bytes, in: &transaction)
    return answers
  }

  private func answer(
    to segment: ReceivedSegment, of replica: ReplicaID, _ stream: ReplicaRow, _ row: SpaceRow, in space: SpaceID,
    _ transaction: borrowing WriteTransaction
  ) throws -> HubAppendAnswer {
    if segment.number <= stream.number {
      let key = space.bytes + replica.bytes + segment.number.bytes
      guard let position = try positions.value(forKey: key, in: transaction),
        let stored = try segments.value(forKey: space.bytes + position, in: transaction)
      else { return .gap(stream.head) }
      return stored.dropFirst(24).elementsEqual(segment.bytes) ? .known(UInt64(bytes: position)) : .fork
    }
    guard segment.number <= stream.cutOff else { return .denied }
    guard segment.number == stream.number + 1, segment.previousHash == stream.hash else { return .gap(stream.head) }
    guard row.byteCount + segment.bytes.count <= row.limitInBytes else { return .quota }
    return .stored(row.position + 1)
  }
}
