package import Foundation
package import TallySync

/// A hub's store in a PostgreSQL database, which several hubs may share.
///
/// Each function of ``HubStore`` is one statement and one round trip; those that write are functions of the database, in
/// `Schema`.
package final class PostgreSQLHubStore: HubStore {
  let pool: PostgreSQLPool
  let appends: AppendGroups
  private let announcements: ChangeAnnouncements

  /// Connects to a database, whose schema must be that of this version.
  ///
  /// - Parameters:
  ///   - address: A connection string of libpq.
  ///   - connectionCount: The number of connections and threads, besides one more for announcements.
  /// - Throws: ``HubStoreError/unavailable(_:)``; ``HubStoreError/malformed(_:)`` for a database of another version.
  package init(at address: String, connectionCount: Int = 8) async throws {
    pool = PostgreSQLPool(to: address, count: connectionCount)
    appends = AppendGroups(through: pool)
    announcements = ChangeAnnouncements(through: address)
    do {
      try await requireFormat()
    } catch {
      close()
      throw error
    }
  }

  /// Ends the connections after the calls that were made are answered.
  package func close() {
    announcements.close()
    pool.close()
  }

  private func requireFormat() async throws {
    let found: Int64?
    do {
      found = try await query("SELECT format FROM meta") { try $0.integer() }.first
    } catch HubStoreError.database(let code, _) where code == PostgreSQLSchema.undefinedTable {
      found = nil
    }
    guard found == PostgreSQLSchema.format else {
      throw HubStoreError.malformed(
        "The database has format \(found ?? 0), and this version needs \(PostgreSQLSchema.format): run 'tally-hub migrate'."
      )
    }
  }

  /// Runs a statement, and reads the rows of its answer.
  func query<R>(
    _ text: String, _ parameters: [PostgreSQLValue] = [], _ read: (inout PostgreSQLRow) throws -> R
  ) async throws -> [R] {
    do {
      return try await pool.run(PostgreSQLQuery(text, parameters)).map { row in
        var row = row
        return try read(&row)
      }
    } catch let fault as PostgreSQLFault {
      throw HubStoreError(fault)
    }
  }

  func run(_ text: String, _ parameters: [PostgreSQLValue]) async throws {
    _ = try await query(text, parameters) { _ in }
  }

  package func incarnation(for _: SpaceID?) async throws -> [UInt8] {
    try await query("SELECT incarnation FROM meta") { try $0.bytes() }.first ?? []
  }

  package func totals() async throws -> HubTotals {
    try await query(
      """
      SELECT (SELECT count(*) FROM account), count(*), coalesce(sum(position), 0)::bigint,
        coalesce(sum(byte_count), 0)::bigint FROM space
      """
    ) {
      var totals = HubTotals()
      (totals.accounts, totals.spaces) = (Int(try $0.integer()), Int(try $0.integer()))
      (totals.appendedSegments, totals.bytes) = (try $0.number(), Int(try $0.integer()))
      return totals
    }.first ?? HubTotals()
  }

  // MARK: Other hubs

  package let isShared = true

  package func announceChange(of space: SpaceID) { announcements.announce(space) }

  package func followOthers(_ report: @escaping @Sendable ([SpaceID]) -> Void) async {
    await announcements.follow(report)
  }

  package func changeCounts(of spaces: [SpaceID]) async throws -> [SpaceID: UInt64] {
    let rows = try await query(
      "SELECT id, change_count FROM space WHERE id = ANY($1::uuid[]) AND NOT is_frozen", [.ids(spaces.map(\.bytes))]
    ) { (try $0.space(), try $0.number()) }
    return Dictionary(rows) { first, _ in first }
  }
}

// MARK: - Accounts and tokens

extension PostgreSQLHubStore {
  package func put(_ account: HubAccount) async throws {
    try await run("SELECT put_account($1, $2)", [.id(account.id), .integer(Int64(account.limitInBytes))])
  }

  package func account(_ id: UUID) async throws -> HubAccount? {
    try await query("SELECT byte_limit FROM account WHERE id = $1", [.id(id)]) {
      HubAccount(id: id, limitInBytes: Int(try $0.integer()))
    }.first
  }

  package func put(_ grant: HubGrant, for token: TokenHash, at time: Int64) async throws {
    let fields: [PostgreSQLValue] =
      switch grant {
      case .account(let id): [.small(1), .id(id), .null, .null, .null, .null]
      case .member(let member):
        [.small(2), .null, .id(member.space), .id(member.id), .small(Int16(member.role.code)), .null]
      case .invitation(let space, let role, let inviter, let expiresAt):
        [.small(3), .null, .id(space), .id(inviter), .small(Int16(role.code)), .integer(expiresAt)]
      case .revoked(let space): [.small(4), .null, .id(space), .null, .null, .null]
      }
    try await run(
      "SELECT put_token($1, $2::smallint, $3, $4, $5, $6::smallint, $7, $8)",
      [.bytes(token.bytes)] + fields + [.integer(time)])
  }

  package func grant(for token: TokenHash, in space: SpaceID?) async throws -> HubGrant? {
    try await query(
      "SELECT kind, account, space, member, role, expires_at FROM token WHERE hash = $1", [.bytes(token.bytes)]
    ) { row -> HubGrant in
      let kind = try row.integer()
      if kind == 1 { return .account(try row.id()) }
      _ = try row.optionalBytes()
      let space = try row.space()
      if kind == 4 { return .revoked(space) }
      let member = try row.id()
      let role = try HubRole(code: UInt8(clamping: try row.integer()))
      guard kind == 3 else { return .member(HubMember(id: member, space: space, role: role)) }
      return .invitation(space, role, by: member, expiresAt: try row.integer())
    }.first
  }
}

// MARK: - Spaces and members

extension PostgreSQLHubStore {
  package func createSpace(
    of account: HubAccount, with member: HubMember, token: TokenHash, mostSpaces: Int
  ) async throws {
    try await run(
      "SELECT create_space($1, $2, $3, $4, $5, $6::smallint, $7)",
      [
        .id(member.space), .id(account.id), .integer(Int64(account.limitInBytes)), .integer(Int64(mostSpaces)),
        .id(member.id), .small(Int16(member.role.code)), .bytes(token.bytes),
      ])
  }

  package func spaceCount(of account: UUID) async throws -> Int {
    // A space that is being moved counts in its new database.
    try await query("SELECT count(*) FROM space WHERE account = $1 AND NOT is_frozen", [.id(account)]) {
      Int(try $0.integer())
    }.first ?? 0
  }

  package func space(_ id: SpaceID) async throws -> HubSpace? {
    try await query(
      "SELECT account, position, change_count, byte_count, byte_limit, is_frozen FROM space WHERE id = $1", [.id(id)]
    ) {
      let space = HubSpace(
        account: try $0.id(), position: try $0.number(), changeCount: try $0.number(), byteCount: Int(try $0.integer()),
        limitInBytes: Int(try $0.integer()))
      // The rows of a frozen space may be old: devices would conclude that the hub has lost something.
      guard try !$0.boolean() else { throw HubStoreError.moving }
      return space
    }.first
  }

  package func join(
    _ space: SpaceID, as id: UUID, token: TokenHash, by invitation: TokenHash, at time: Int64
  ) async throws -> HubMember? {
    try await query(
      "SELECT join_space($1, $2, $3, $4, $5)",
      [.id(space), .bytes(invitation.bytes), .id(id), .bytes(token.bytes), .integer(time)]
    ) { HubMember(id: id, space: space, role: try HubRole(code: UInt8(clamping: try $0.integer()))) }.first
  }

  package func replicas(in space: SpaceID) async throws -> [ReplicaID: HubReplica] {
    let rows = try await query(
      "SELECT id, member, cut_off, number, hash FROM replica WHERE space = $1", [.id(space)]
    ) { row in
      let (id, member, cutOff) = (try row.replica(), try row.id(), try row.optionalInteger())
      let head = SegmentHead(number: try row.number(), digest: try row.bytes())
      return (id, HubReplica(member: member, cutOff: cutOff.map { UInt64(bitPattern: $0) }, head: head))
    }
    return Dictionary(rows) { first, _ in first }
  }
}

extension HubStoreError {
  static let moving = HubStoreError.unavailable("The space moves to another database.")

  /// The error for a fault that the functions of the database raise, by the codes of `Schema`.
  init(_ fault: PostgreSQLFault) {
    switch fault {
    case .disconnected(let message): self = .unavailable(message)
    case .refused(let code, let message):
      self =
        switch code {
        case "TH001": .noSpace
        case "TH002": .denied
        case "TH003": .noRoom
        case "TH004": .spaceExists
        case "TH005": .moving
        case "TH006": .tooManySpaces
        case "TH007": .tooManyCards
        case "TH008": .tooManyReplicas
        case "TH009": .replacedCode
        case "TH010": .sharedCode
        case "TH011": .hasSpaces
        case "TH012": .knownToken
        // Serialisation failures, deadlocks, a shutdown, a standby, no room on the disk.
        case "40001", "40P01", "25006", "53100", "53200", "53300": .unavailable(message)
        case _ where code.hasPrefix("57") || code.hasPrefix("08"): .unavailable(message)
        default: .database(code: code, message)
        }
    }
  }
}
