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
      var page = SegmentPage(byteCount: byteCount)
      let lower = space.bytes + (position == .max ? position : position + 1).bytes
      try tables.segments.forEach(from: lower, in: transaction) { key, value in
        let key = try [UInt8](decoding: key)
        guard key.starts(with: space.bytes) else { return false }
        return try page.add(value, at: UInt64(bytes: key.suffix(8)))
      }
      return page.segments
    }
  }

  package func segments(
    of replica: ReplicaID, after number: UInt64, byteCount: Int, in space: SpaceID
  ) async throws -> [HubSegment] {
    try read { tables, transaction in
      var (page, next) = (SegmentPage(byteCount: byteCount), number)
      let stream = space.bytes + replica.bytes
      try tables.positions.forEach(from: stream + (number == .max ? number : number + 1).bytes, in: transaction) {
        key, position in
        let (key, position) = (try [UInt8](decoding: key), try [UInt8](decoding: position))
        guard key.starts(with: stream), UInt64(bytes: key.suffix(8)) == next + 1,
          let value = try tables.segments.bytes(forKey: space.bytes + position, in: transaction)
        else { return false }
        next += 1
        return try page.add(value, at: UInt64(bytes: position))
      }
      return page.segments
    }
  }

  package func segment(at position: UInt64, from offset: Int, count: Int, in space: SpaceID) async throws -> HubSlice? {
    try read { tables, transaction in
      guard let value = try tables.segments.bytes(forKey: space.bytes + position.bytes, in: transaction) else {
        return nil
      }
      return try HubSlice(of: value, behind: SegmentPage.headByteCount, from: offset, count: count)
    }
  }
}

/// Segments up to a number of bytes; the last one may be cut short.
private struct SegmentPage {
  /// The size of the replica and the number, which precede the sealed bytes in a row.
  static let headByteCount = 24

  private(set) var segments: [HubSegment] = []
  private var left: Int

  init(byteCount: Int) { left = byteCount }

  /// Adds the row of a segment.
  ///
  /// - Returns: Whether there is room for another one.
  mutating func add(_ row: RawSpan, at position: UInt64) throws -> Bool {
    let slice = try HubSlice(of: row, behind: Self.headByteCount, from: 0, count: left)
    segments.append(HubSegment(position: position, bytes: slice.bytes, byteCount: slice.byteCount))
    left -= slice.bytes.count
    return left > 0
  }
}

extension HubSlice {
  /// Copies a slice of the sealed bytes of a row, which come after its own fields.
  init(of row: RawSpan, behind head: Int, from offset: Int, count: Int) throws {
    let whole = max(0, row.byteCount - head)
    let start = min(max(0, offset), whole)
    let end = min(start + max(0, count), whole)
    let bytes = start < end ? try [UInt8](decoding: row.extracting(head + start..<head + end)) : []
    self.init(bytes: bytes, byteCount: whole)
  }
}

extension HubTables {
  fileprivate func append(
    _ segments: [ReceivedSegment], of replica: ReplicaID, by member: HubMember, in transaction: inout WriteTransaction
  ) throws -> [HubAppendAnswer] {
    let space = member.space
    guard var row = try self.space(space, in: transaction) else { throw HubStoreError.noSpace }
    // The role is read again: it may have changed, or the member may have been revoked, since the request was
    // authorised.
    guard let role = try role(of: member, in: transaction), role != .reader else { return [.denied] }
    var stream: ReplicaRow
    do {
      stream = try ownReplica(replica, of: member, in: transaction)
    } catch HubStoreError.denied {
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
      return stored.dropFirst(SegmentPage.headByteCount).elementsEqual(segment.bytes)
        ? .known(UInt64(bytes: position)) : .fork
    }
    guard segment.number <= stream.cutOff else { return .denied }
    guard segment.number == stream.number + 1, segment.previousHash == stream.hash else { return .gap(stream.head) }
    guard row.byteCount + segment.bytes.count <= row.limitInBytes else { return .quota }
    return .stored(row.position + 1)
  }
}
