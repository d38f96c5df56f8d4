import Crypto
import Foundation
import HubSamples
import HubStorage
import HubWire
import TallySync
import Testing

/// Databases of the third format that have something in each of their tables, brought to the present one.
@Suite(.enabled(if: PostgreSQLServer.address != nil))
struct PostgreSQLMigrationTests {
  @Test func aFilledDatabaseOfTheThirdFormatKeepsEverything() async throws {
    try await PostgreSQLServer.withDatabase { address in
      let filled = try await FilledDatabase(at: address)
      let (rows, bytes) = (try await filled.rows(), try await filled.byteCounts())
      #expect(try PostgreSQLSchema.migrate(at: address) == 3)
      try await filled.requireMigrated(rows, bytes)
      // Once more, by the operator and by hubs that open it: nothing changes.
      let (after, counts) = (try await filled.rows(), try await filled.byteCounts())
      #expect(try PostgreSQLSchema.migrate(at: address) == 4)
      for _ in 0..<2 { try await PostgreSQLHubStore(at: address, connectionCount: 2).close() }
      #expect(try await filled.rows() == after)
      #expect(try await filled.byteCounts() == counts)
      try await filled.requireUsable()
    }
  }

  /// The connection ends while the migration waits for a lock: at its last step, with the others done.
  @Test func aMigrationThatIsInterruptedIsDoneAgain() async throws {
    try await PostgreSQLServer.withDatabase { address in
      let filled = try await FilledDatabase(at: address)
      let (rows, bytes) = (try await filled.rows(), try await filled.byteCounts())
      for table in ["space", "meta"] {
        try await PostgreSQLServer.withTransaction("LOCK TABLE tally_hub.\(table) IN SHARE MODE", in: address) {
          async let interrupted = Self.migrateOnAThread(address)
          try await PostgreSQLServer.run(
            """
            DO $$ BEGIN LOOP
              PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = 'tally-hub' AND wait_event_type = 'Lock';
              EXIT WHEN FOUND;
              PERFORM pg_stat_clear_snapshot();
              PERFORM pg_sleep(0.01);
            END LOOP; END $$
            """, in: address)
          guard case .failure(.unavailable) = await interrupted else {
            Issue.record("The migration was not interrupted at \(table).")
            return
          }
        }
        #expect(try await filled.rows() == rows)
        #expect(try await filled.byteCounts() == bytes)
        await #expect(throws: HubStoreError.self) { _ = try await PostgreSQLHubStore(at: address) }
      }
      // One that the server refuses in the middle of it.
      try await PostgreSQLServer.run("CREATE TABLE tally_hub.recovery ()", in: address)
      #expect(throws: HubStoreError.self) { try PostgreSQLSchema.migrate(at: address) }
      try await PostgreSQLServer.run("DROP TABLE tally_hub.recovery", in: address)
      #expect(try await filled.rows() == rows)
      #expect(try PostgreSQLSchema.migrate(at: address) == 3)
      try await filled.requireMigrated(rows, bytes)
      try await filled.requireUsable()
    }
  }

  /// Two programs at once: one migrates, the other one finds that done.
  @Test func twoMigrationsAtOnceAreOne() async throws {
    try await PostgreSQLServer.withDatabase { address in
      let filled = try await FilledDatabase(at: address)
      let (rows, bytes) = (try await filled.rows(), try await filled.byteCounts())
      async let (first, second) = (Self.migrateOnAThread(address), Self.migrateOnAThread(address))
      let formats = Set([try await first.get(), try await second.get()])
      #expect(formats == [3, 4])
      try await filled.requireMigrated(rows, bytes)
    }
  }

  /// A migration waits for locks, which would keep a thread from the tasks of other tests.
  private static func migrateOnAThread(_ address: String) async -> Result<Int, HubStoreError> {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(
          returning: Result { try PostgreSQLSchema.migrate(at: address) }
            .mapError { $0 as? HubStoreError ?? .malformed("\($0)") })
      }
    }
  }
}

/// A database of the third format with accounts, members of each role, invitations, a revoked device and a space that moves.
private struct FilledDatabase {
  let address: String
  let accounts = [UUID(), UUID()]
  let space = SpaceID()
  let movingSpace = SpaceID()
  let owner: HubMember
  let writer: HubMember
  let reader: HubMember
  let revoked = UUID()
  let movingOwner: HubMember
  var streams: [SealedStream] = []
  let readersReplica = ReplicaID(UUID())
  private(set) var segments: [[UInt8]] = []
  private static let tables = [
    "account", "token", "member", "replica", "segment", "card", "snapshot", "snapshot_part",
  ]

  /// Its token has 32 equal bytes.
  static func token(_ byte: UInt8) -> TokenHash? { TokenHash(bytes: Array(repeating: byte, count: 32)) }

  init(at address: String) async throws {
    self.address = address
    owner = HubMember(id: UUID(), space: space, role: .owner)
    writer = HubMember(id: UUID(), space: space, role: .writer)
    reader = HubMember(id: UUID(), space: space, role: .reader)
    movingOwner = HubMember(id: UUID(), space: movingSpace, role: .owner)
    #expect(try PostgreSQLSchema.migrate(at: address, to: 3) == 0)
    streams = [
      SealedStream(in: space), SealedStream(in: space), SealedStream(in: space), SealedStream(in: movingSpace),
    ]
    try await PostgreSQLServer.run(membersAndTokens(), in: address)
    // In the order in which they were stored: three of the owner, one of the writer, one of the revoked device.
    for (position, stream) in [0, 1, 0, 2, 0].enumerated() {
      segments += streams[stream].next(1)
      let members = [owner.id, writer.id, revoked]
      try await insert(
        segments[position], at: position + 1, of: streams[stream].replica, by: members[stream], in: space)
    }
    segments += streams[3].next(1)
    try await insert(segments[5], at: 1, of: streams[3].replica, by: movingOwner.id, in: movingSpace)
    try await PostgreSQLServer.run(contents(), in: address)
  }

  private func membersAndTokens() -> String {
    func bytes(_ byte: Int) -> String { "decode(repeat('\(Hexadecimal.text(of: [UInt8(byte)]))', 32), 'hex')" }
    func invitation(_ byte: Int, until: Int64) -> String {
      "SELECT put_token(\(bytes(byte)), 3::smallint, NULL, '\(space)', '\(owner.id)', 2::smallint, \(until));"
    }
    func account(_ byte: Int, _ id: UUID, limit: Int) -> String {
      "SELECT put_account('\(id)', \(limit));"
        + "SELECT put_token(\(bytes(byte)), 1::smallint, '\(id)', NULL, NULL, NULL, NULL);"
    }
    return """
      SET search_path = tally_hub;
      \(account(10, accounts[0], limit: 100_000)) \(account(11, accounts[1], limit: 200_000))
      SELECT create_space('\(space)', '\(accounts[0])', 100000, 9, '\(owner.id)', 1::smallint, \(bytes(1)));
      SELECT add_member('\(space)', '\(writer.id)', 2::smallint, \(bytes(2)));
      SELECT add_member('\(space)', '\(reader.id)', 3::smallint, \(bytes(3)));
      SELECT add_member('\(space)', '\(revoked)', 2::smallint, \(bytes(4)));
      SELECT create_space('\(movingSpace)', '\(accounts[1])', 200000, 9, '\(movingOwner.id)', 1::smallint, \(bytes(5)));
      \(invitation(14, until: 4_000_000_000_000_000)) \(invitation(15, until: 1))
      """
  }

  private func insert(
    _ segment: [UInt8], at position: Int, of replica: ReplicaID, by member: UUID, in space: SpaceID
  ) async throws {
    let hash = "decode('\(Hexadecimal.text(of: Array(SHA256.hash(data: segment))))', 'hex')"
    let number =
      "(SELECT coalesce(max(number), 0) + 1 FROM segment WHERE space = '\(space)' AND replica = '\(replica)')"
    try await PostgreSQLServer.run(
      """
      SET search_path = tally_hub;
      INSERT INTO replica (space, id, member, number, hash) VALUES ('\(space)', '\(replica)', '\(member)', \(number), \(hash))
        ON CONFLICT (space, id) DO UPDATE SET number = excluded.number, hash = excluded.hash;
      INSERT INTO segment VALUES ('\(space)', \(position), '\(replica)', \(number), \(hash),
        decode('\(Hexadecimal.text(of: segment))', 'hex'));
      UPDATE space SET position = \(position), change_count = change_count + 1, byte_count = byte_count + \(segment.count)
        WHERE id = '\(space)';
      """, in: address)
  }

  /// Cards, a complete snapshot, one that was interrupted, a revoked device, a space that moves.
  private func contents() -> String {
    let (owners, writers, lost) = (streams[0].replica, streams[1].replica, streams[2].replica)
    func card(_ replica: ReplicaID, _ member: UUID, _ byte: UInt8) -> String {
      "SELECT put_card('\(space)', '\(member)', '\(replica)', 1, '\\x\(Hexadecimal.text(of: [byte, byte]))', 1000);"
    }
    func part(_ number: Int, of count: Int, _ replica: ReplicaID, _ member: UUID, _ byte: UInt8) -> String {
      "SELECT put_part('\(space)', '\(member)', '\(replica)', 1, '\\x0102030405060708', \(count), \(number), "
        + "'\\x\(Hexadecimal.text(of: [byte, byte, byte]))');"
    }
    return """
      SET search_path = tally_hub;
      \(card(owners, owner.id, 1)) \(card(writers, writer.id, 2)) \(card(readersReplica, reader.id, 3)) \(card(lost, revoked, 4))
      \(part(0, of: 2, owners, owner.id, 7)) \(part(1, of: 2, owners, owner.id, 8)) \(part(0, of: 3, writers, writer.id, 9))
      SELECT revoke_replica('\(space)', '\(lost)', 1);
      UPDATE space SET is_frozen = true WHERE id = '\(movingSpace)';
      """
  }

  // MARK: - What is there

  /// All rows, but for what the format changes: the bytes that a space counts, and the format.
  func rows() async throws -> [String] {
    let tables = Self.tables.map { "SELECT '\($0) ' || t::text AS row FROM tally_hub.\($0) AS t" }
    let others = [
      "SELECT 'space ' || (id, account, position, change_count, byte_limit, is_frozen)::text FROM tally_hub.space",
      "SELECT 'meta ' || incarnation::text FROM tally_hub.meta",
    ]
    let all = (tables + others).joined(separator: " UNION ALL ")
    return try await PostgreSQLServer.run("SELECT row FROM (\(all)) AS rows ORDER BY row", in: address)
      .split(separator: "\n").map(String.init)
  }

  func byteCounts() async throws -> [String] {
    try await PostgreSQLServer.run("SELECT id || ' ' || byte_count FROM tally_hub.space ORDER BY id", in: address)
      .split(separator: "\n").map(String.init)
  }

  /// Everything is as it was, and the rows that count from now on do.
  func requireMigrated(_ rows: [String], _ bytes: [String]) async throws {
    let counts = Dictionary(grouping: rows) { $0.prefix { $0 != " " } }.mapValues(\.count)
    #expect(
      counts == [
        "account": 2, "token": 9, "member": 4, "replica": 5, "segment": 6, "card": 4, "snapshot": 2, "snapshot_part": 3,
        "space": 2, "meta": 1,
      ])
    #expect(try await self.rows() == rows)
    // Four members, two invitations and three parts; the owner of the other space.
    let added = [space: 9, movingSpace: 1]
    let expected = bytes.map { line in
      let (id, count) = (line.prefix { $0 != " " }, Int(line.drop { $0 != " " }.dropFirst()) ?? 0)
      let rows = added.first { "\($0.key)" == id.filter { $0 != "-" } }?.value ?? 0
      return "\(id) \(count + rows * HubRowLimits.rowByteCount)"
    }
    #expect(try await byteCounts() == expected)
  }

  /// A hub finds everything, and goes on with it.
  func requireUsable() async throws {
    let store = try await PostgreSQLHubStore(at: address, connectionCount: 2)
    defer { store.close() }
    let members = [1: owner, 2: writer, 3: reader]
    for (byte, member) in members {
      #expect(try await store.grant(for: try #require(Self.token(UInt8(byte))), in: space) == .member(member))
    }
    #expect(try await store.grant(for: try #require(Self.token(4)), in: space) == .revoked(space))
    for (byte, account) in zip([10, 11] as [UInt8], accounts) {
      #expect(try await store.grant(for: try #require(Self.token(byte)), in: nil) == .account(account))
    }
    #expect(try await store.account(accounts[1])?.limitInBytes == 200_000)
    let stored = try await store.segments(after: 0, byteCount: 1 << 20, in: space)
    #expect(stored.map(\.bytes) == Array(segments[..<5]))
    let cards = try await store.allCards(in: space)
    // Those of a revoked device with segments stay, as others may still need them.
    #expect(
      cards == [
        streams[0].replica: [1, 1], streams[1].replica: [2, 2], readersReplica: [3, 3], streams[2].replica: [4, 4],
      ])
    let snapshot = streams[0].snapshot(1, 2)
    #expect(try await store.snapshots(in: space) == [snapshot])
    #expect(try await store.part(1, of: snapshot, from: 0, count: 9, in: space)?.bytes == [8, 8, 8])
    #expect(try await store.replicas(in: space)[streams[2].replica]?.cutOff == 1)
    #expect(try await store.recoveries(in: space) == [])
    var stream = streams[0]
    #expect(try await store.append(stream.next(1), of: stream.replica, by: owner) == [.stored(6)])
    let (late, good) = (try #require(Self.token(15)), try #require(Self.token(14)))
    let token = try #require(Self.token(20))
    #expect(try await store.join(space, as: UUID(), token: token, by: late, at: 1_000) == nil)
    #expect(try await store.join(space, as: UUID(), token: token, by: good, at: 1_000)?.role == .writer)
    try await store.putRecovery(Array(repeating: 1, count: 32), isShared: false, by: owner, at: 1_000)
    // The other one goes on moving.
    var moving = streams[3]
    await #expect(throws: HubStoreError.self) {
      _ = try await store.append(moving.next(1), of: moving.replica, by: movingOwner)
    }
  }
}
