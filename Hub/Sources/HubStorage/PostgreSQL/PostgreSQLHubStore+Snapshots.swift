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

  package func cards(in space: SpaceID) async throws -> [ReplicaID: [UInt8]] {
    let rows = try await query("SELECT replica, body FROM card WHERE space = $1", [.id(space)]) {
      (try $0.replica(), try $0.bytes())
    }
    return Dictionary(rows) { first, _ in first }
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

  package func part(_ number: Int, of snapshot: SnapshotName, in space: SpaceID) async throws -> [UInt8]? {
    try await query(
      """
      SELECT body FROM snapshot_part
      WHERE space = $1 AND replica = $2 AND number = $3 AND digest = $4 AND part = $5::bigint
      """,
      [
        .id(space), .id(snapshot.replica), .number(snapshot.number), .bytes(snapshot.storedDigest),
        .integer(Int64(number)),
      ]
    ) { try $0.bytes() }.first
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
