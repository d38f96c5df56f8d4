package import Foundation
package import TallySync

// Revoking members, changing their roles, and recovery codes.
extension PostgreSQLHubStore {
  package func revoke(_ replica: ReplicaID, behind number: UInt64, in space: SpaceID) async throws -> UUID? {
    try await query(
      "SELECT * FROM revoke_replica($1, $2, $3)", [.id(space), .id(replica), .number(number)]
    ) { try $0.id() }.first
  }

  package func setRole(_ role: HubRole, ofMemberOf replica: ReplicaID, in space: SpaceID) async throws -> UUID? {
    try await query(
      "SELECT * FROM set_role($1, $2, $3::smallint)", [.id(space), .id(replica), .small(Int16(role.code))]
    ) { try $0.id() }.first
  }

  package func putRecovery(_ verifier: [UInt8], isShared: Bool, by member: HubMember, at time: Int64) async throws {
    try await run(
      "SELECT put_recovery($1, $2, $3, $4, $5)",
      [.id(member.space), .id(member.id), .bytes(verifier), .bytes([isShared ? 1 : 0]), .integer(time)])
  }

  package func recoveries(in space: SpaceID) async throws -> [[UInt8]] {
    try await query(
      "SELECT verifier FROM recovery WHERE space = $1 AND NOT is_replaced ORDER BY verifier", [.id(space)]
    ) {
      try $0.bytes()
    }
  }

  package func recovery(_ verifier: [UInt8]) async throws -> HubRecovery? {
    try await query("SELECT space, is_replaced FROM recovery WHERE verifier = $1", [.bytes(verifier)]) {
      HubRecovery(space: try $0.space(), isReplaced: try $0.boolean())
    }.first
  }

  package func addOwner(
    _ id: UUID, token: TokenHash, by verifier: [UInt8], in space: SpaceID
  ) async throws -> HubMember? {
    try await query(
      "SELECT * FROM add_owner($1, $2, $3, $4)", [.id(space), .bytes(verifier), .id(id), .bytes(token.bytes)]
    ) { HubMember(id: try $0.id(), space: space, role: .owner) }.first
  }
}

// MARK: - For the operator

extension PostgreSQLHubStore {
  package func accounts(after account: UUID?, limit: Int) async throws -> [HubAccountSummary] {
    try await query(
      """
      SELECT id, byte_limit, count(space_id), coalesce(sum(byte_count), 0)::bigint FROM (
        SELECT account.id, account.byte_limit, space.id AS space_id, space.byte_count FROM (
          SELECT * FROM account WHERE $1::uuid IS NULL OR id > $1 ORDER BY id LIMIT $2) AS account
        LEFT JOIN space ON space.account = account.id AND NOT space.is_frozen) AS known
      GROUP BY id, byte_limit ORDER BY id
      """, [account.map { .id($0) } ?? .null, .integer(Int64(limit))]
    ) {
      HubAccountSummary(
        account: try $0.id(), limitInBytes: Int(try $0.integer()), spaces: Int(try $0.integer()),
        bytes: Int(try $0.integer()))
    }
  }

  package func spaces(after space: SpaceID?, limit: Int) async throws -> [HubSpaceSummary] {
    try await query(
      """
      SELECT id, account, position, change_count, byte_count, byte_limit,
        (SELECT count(*) FROM member WHERE member.space = space.id AND role = 1),
        (SELECT count(*) FROM member WHERE member.space = space.id AND role = 2),
        (SELECT count(*) FROM member WHERE member.space = space.id AND role = 3),
        (SELECT count(*) FROM replica WHERE replica.space = space.id)
      FROM space WHERE ($1::uuid IS NULL OR id > $1) AND NOT is_frozen ORDER BY id LIMIT $2
      """, [space.map { .id($0) } ?? .null, .integer(Int64(limit))]
    ) { row in
      let id = try row.space()
      let space = HubSpace(
        account: try row.id(), position: try row.number(), changeCount: try row.number(),
        byteCount: Int(try row.integer()), limitInBytes: Int(try row.integer()))
      var members: [String: Int] = [:]
      for role in [HubRole.owner, .writer, .reader] {
        let count = Int(try row.integer())
        if count > 0 { members[role.rawValue] = count }
      }
      return HubSpaceSummary(id, space, members: members, replicas: Int(try row.integer()))
    }
  }

  package func eraseSpace(_ space: SpaceID) async throws -> Bool {
    try await query("SELECT erase_space($1)", [.id(space)]) { try $0.boolean() }.first == true
  }

  package func eraseAccount(_ account: UUID) async throws { try await run("SELECT erase_account($1)", [.id(account)]) }

  package func give(_ space: SpaceID, to account: HubAccount) async throws -> Bool {
    try await query(
      "UPDATE space SET account = $2, byte_limit = $3 WHERE id = $1 RETURNING id",
      [.id(space), .id(account.id), .integer(Int64(account.limitInBytes))]
    ) { try $0.space() }.first != nil
  }

  package func gauges() async throws -> [String: Double] {
    var gauges = pool.gauges
    let size = try? await query("SELECT pg_database_size(current_database())") { try $0.integer() }.first
    gauges["tally_hub_store_bytes"] = size.map(Double.init)
    gauges["tally_hub_database_answers"] = size == nil ? 0 : 1
    return gauges
  }
}
