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
      SELECT position, octet_length(body), \(Self.body(within: "$3")) FROM (
        SELECT position, body, sum(octet_length(body)) OVER (ORDER BY position) - octet_length(body) AS bytes_before
        FROM segment WHERE space = $1 AND position > $2 ORDER BY position LIMIT \(Self.mostAtOnce)) AS following
      WHERE bytes_before < $3 ORDER BY position
      """, [.id(space), .number(position), .integer(Int64(byteCount))]
    ) { try HubSegment(&$0) }
  }

  package func segments(
    of replica: ReplicaID, after number: UInt64, byteCount: Int, in space: SpaceID
  ) async throws -> [HubSegment] {
    // Segments after a gap have another distance between their number and that of their row.
    try await query(
      """
      SELECT position, octet_length(body), \(Self.body(within: "$4")) FROM (
        SELECT position, number, body, row_number() OVER rising AS row,
          sum(octet_length(body)) OVER rising - octet_length(body) AS bytes_before
        FROM segment WHERE space = $1 AND replica = $2 AND number > $3
        WINDOW rising AS (ORDER BY number) ORDER BY number LIMIT \(Self.mostAtOnce)) AS following
      WHERE number - $3 = row AND bytes_before < $4 ORDER BY number
      """, [.id(space), .id(replica), .number(number), .integer(Int64(byteCount))]
    ) { try HubSegment(&$0) }
  }

  package func segment(at position: UInt64, from offset: Int, count: Int, in space: SpaceID) async throws -> HubSlice? {
    try await query(
      "SELECT octet_length(body), \(Self.slice("$3", "$4")) FROM segment WHERE space = $1 AND position = $2",
      [.id(space), .number(position), .integer(Int64(offset)), .integer(Int64(count))]
    ) { try HubSlice(&$0) }.first
  }

  /// SQL for the bytes of a body that fit into a page after the segments before it.
  private static func body(within count: String) -> String {
    "substring(body FROM 1 FOR least(\(count)::bigint - bytes_before, 1 << 30)::integer)"
  }

  /// SQL for the bytes from an offset; only these are read, because bodies are stored uncompressed.
  static func slice(_ offset: String, _ count: String) -> String {
    "substring(body FROM least(\(offset)::bigint, 1 << 30)::integer + 1 FOR least(\(count)::bigint, 1 << 29)::integer)"
  }

  private static let mostAtOnce = 1_000
}

extension HubSegment {
  fileprivate init(_ row: inout PostgreSQLRow) throws {
    let (position, byteCount) = (try row.number(), Int(try row.integer()))
    self.init(position: position, bytes: try row.bytes(), byteCount: byteCount)
  }
}

extension HubSlice {
  /// Reads the number of all bytes, then the bytes of the slice.
  init(_ row: inout PostgreSQLRow) throws {
    let byteCount = Int(try row.integer())
    self.init(bytes: try row.bytes(), byteCount: byteCount)
  }
}
