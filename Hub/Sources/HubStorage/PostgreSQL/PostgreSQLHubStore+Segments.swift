package import TallySync

extension PostgreSQLHubStore {
  package func append(
    _ segments: [[UInt8]], of replica: ReplicaID, by member: HubMember
  ) async throws -> [HubAppendAnswer] {
    let segments = try segments.map { try ReceivedSegment($0, of: replica, in: member.space) }
    return try await appends.append(.init(segments: segments, replica: replica, member: member))
  }

  package func segments(after position: UInt64, byteCount: Int, in space: SpaceID) async throws -> [HubSegment] {
    try await query(
      """
      SELECT position, body FROM (
        SELECT position, body, sum(octet_length(body)) OVER (ORDER BY position) - octet_length(body) AS bytes_before
        FROM segment WHERE space = $1 AND position > $2 ORDER BY position LIMIT \(Self.mostAtOnce)) AS following
      WHERE bytes_before < $3 ORDER BY position
      """, [.id(space), .number(position), .integer(Int64(byteCount))]
    ) { HubSegment(position: try $0.number(), bytes: try $0.bytes()) }
  }

  package func segments(
    of replica: ReplicaID, after number: UInt64, byteCount: Int, in space: SpaceID
  ) async throws -> [HubSegment] {
    // Those behind a gap have another distance to their row's number.
    try await query(
      """
      SELECT position, body FROM (
        SELECT position, number, body, row_number() OVER rising AS row,
          sum(octet_length(body)) OVER rising - octet_length(body) AS bytes_before
        FROM segment WHERE space = $1 AND replica = $2 AND number > $3
        WINDOW rising AS (ORDER BY number) ORDER BY number LIMIT \(Self.mostAtOnce)) AS following
      WHERE number - $3 = row AND bytes_before < $4 ORDER BY number
      """, [.id(space), .id(replica), .number(number), .integer(Int64(byteCount))]
    ) { HubSegment(position: try $0.number(), bytes: try $0.bytes()) }
  }

  private static let mostAtOnce = 1_000
}
