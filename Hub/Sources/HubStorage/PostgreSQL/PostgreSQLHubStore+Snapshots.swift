package import TallySync

extension PostgreSQLHubStore {
  package func putCard(
    _ card: [UInt8], number: UInt64, of replica: ReplicaID, by member: HubMember, mostCards: Int
  ) async throws {
    try await run(
      "SELECT put_card($1, $2, $3, $4, $5, $6)",
      [
        .id(member.space), .id(member.id), .id(replica), .number(number), .bytes(card), .integer(Int64(mostCards)),
      ])
  }

  package func cards(after replica: ReplicaID?, byteCount: Int, in space: SpaceID) async throws -> [HubCard] {
    try await query(
      """
      SELECT replica, body FROM (
        SELECT replica, body, sum(octet_length(body)) OVER (ORDER BY replica) - octet_length(body) AS bytes_before
        FROM card WHERE space = $1 AND ($2::uuid IS NULL OR replica > $2) ORDER BY replica LIMIT 1000) AS following
      WHERE bytes_before < $3 ORDER BY replica
      """, [.id(space), replica.map { .id($0) } ?? .null, .integer(Int64(byteCount))]
    ) { HubCard(replica: try $0.replica(), bytes: try $0.bytes()) }
  }

  package func putPart(_ part: [UInt8], number: Int, of snapshot: SnapshotName, by member: HubMember) async throws
    -> Bool
  {
    guard (0..<snapshot.partCount).contains(number) else {
      throw HubStoreError.malformed("The snapshot has no part of this number.")
    }
    return try await query(
      "SELECT put_part($1, $2, $3, $4, $5, $6::bigint::integer, $7::bigint::integer, $8)",
      [
        .id(member.space), .id(member.id), .id(snapshot.replica), .number(snapshot.number),
        .bytes(snapshot.storedDigest),
        .integer(Int64(snapshot.partCount)), .integer(Int64(number)), .bytes(part),
      ]
    ) { try $0.boolean() }.first == true
  }

  package func snapshots(in space: SpaceID) async throws -> [SnapshotName] {
    try await query(
      """
      SELECT replica, number, digest, part_count FROM snapshot WHERE space = $1 AND stored_count = part_count
      ORDER BY number DESC, replica
      """, [.id(space)]
    ) {
      SnapshotName(
        replica: try $0.replica(), number: try $0.number(), digest: try $0.bytes(), partCount: Int(try $0.integer()))
    }
  }

  package func part(
    _ number: Int, of snapshot: SnapshotName, from offset: Int, count: Int, in space: SpaceID
  ) async throws -> HubSlice? {
    try await query(
      """
      SELECT octet_length(body), \(Self.slice("$6", "$7")) FROM snapshot_part
      WHERE space = $1 AND replica = $2 AND number = $3 AND digest = $4 AND part = $5::bigint
      """,
      [
        .id(space), .id(snapshot.replica), .number(snapshot.number), .bytes(snapshot.storedDigest),
        .integer(Int64(number)), .integer(Int64(offset)), .integer(Int64(count)),
      ]
    ) { try HubSlice(&$0) }.first
  }

  package func delete(
    segmentsOf replica: ReplicaID, upTo number: UInt64, snapshots: [SnapshotName], by member: HubMember
  ) async throws {
    let own = snapshots.filter { $0.replica == replica }
    try await run(
      "SELECT delete_old($1, $2, $3, $4, $5, $6)",
      [
        .id(member.space), .id(member.id), .id(replica), .number(number),
        .integers(own.map { Int64(clamping: $0.number) }), .byteStrings(own.map(\.storedDigest)),
      ])
  }
}
