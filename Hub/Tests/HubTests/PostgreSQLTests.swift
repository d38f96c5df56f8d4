import Crypto
import Foundation
import HubClient
import HubSamples
import HubService
import HubStorage
import HubWire
import TallySync
import TallySyncConformance
import Testing

/// Hubs on PostgreSQL, several of them, and moves between databases.
@Suite(.enabled(if: PostgreSQLServer.address != nil))
struct PostgreSQLTests {
  @Test func theHubKeepsThePromisesOfAPlace() async throws {
    try await PostgreSQLServer.withStore { store in
      try await withHub(over: store) { hub in
        let members = Members(of: hub)
        let conformance = TransportConformance { space, replica in
          let space = try #require(SpaceID(bytes: space))
          return HubTransport(at: hub.url, space: space, token: try await members.token(of: replica, in: space))
        }
        let unmet = await conformance.run()
        #expect(unmet == [])
      }
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func hubsLetEachOtherKnowOfChanges() async throws {
    try await withTwoStores { stores in
      let (reports, report) = AsyncStream.makeStream(of: [SpaceID].self)
      let following = Task { await stores[1].followOthers { report.yield($0) } }
      defer { following.cancel() }
      let spaces = (0..<500).map { _ in SpaceID() }
      // The second one may not listen yet: the first one repeats itself.
      let announcing = Task {
        while !Task.isCancelled {
          for space in spaces { stores[0].announceChange(of: space) }
          try await Task.sleep(for: .milliseconds(100))
        }
      }
      defer { announcing.cancel() }
      var missing = Set(spaces)
      for await heard in reports {
        missing.subtract(heard)
        if missing.isEmpty { break }
      }
    }
  }

  @Test func aLostAnnouncementDelaysAChangeOnly() async throws {
    try await withTwoHubs { first, second in
      let (space, token) = try await newSpace(at: first)
      let waiting = HubTransport(at: second.url, space: space, token: token)
      _ = try await waiting.heads()
      let wait = Task { try await waiting.waitForChanges(seconds: 60) }
      // Straight to the store: no hub announces it.
      var stream = SealedStream(in: space)
      let hash = try #require(TokenHash(bytes: Array(SHA256.hash(data: Array(token.utf8)))))
      guard case .member(let member) = try await first.store.grant(for: hash, in: space) else {
        Issue.record("no member")
        return
      }
      #expect(try await first.store.append(stream.next(1), of: stream.replica, by: member) == [.stored(1)])
      #expect(try await wait.value)
    }
  }

  @Test func aSpaceMovesToAnotherDatabase() async throws {
    try await PostgreSQLServer.withDatabase { old in
      try await PostgreSQLServer.withDatabase { new in
        for address in [old, new] { _ = try PostgreSQLSchema.migrate(at: address) }
        let (first, second) = (try await PostgreSQLHubStore(at: old), try await PostgreSQLHubStore(at: new))
        defer { for store in [first, second] { store.close() } }
        let member = HubMember(id: UUID(), space: SpaceID(), role: .owner)
        let token = try #require(TokenHash(bytes: Array(0..<32)))
        try await first.createSpace(
          of: HubAccount(id: UUID(), limitInBytes: 10_000), with: member, token: token, mostSpaces: .max)
        var stream = SealedStream(in: member.space)
        let segments = stream.next(3)
        _ = try await first.append(segments, of: stream.replica, by: member)
        try await first.putCard([1, 2], number: 4, of: stream.replica, by: member, mostCards: .max)
        _ = try await first.putPart([7], number: 0, of: stream.snapshot(1, 1), by: member)
        let move = try PostgreSQLMove(of: member.space, from: old, to: new)
        #expect(throws: HubStoreError.noSpace) { try move.finish() }
        try move.copy()
        await #expect(throws: HubStoreError.self) {
          _ = try await first.append(stream.next(1), of: stream.replica, by: member)
        }
        #expect(throws: HubStoreError.spaceExists) { try move.cancel() }
        try move.copy()
        // What the old database has may be old from now on.
        await #expect(throws: HubStoreError.self) { _ = try await first.space(member.space) }
        // Back to a database that still has the rest of this move, or to itself: nothing is deleted.
        let back = try PostgreSQLMove(of: member.space, from: new, to: old)
        #expect(throws: HubStoreError.spaceExists) { try back.copy() }
        #expect(throws: HubStoreError.noSpace) { try back.finish() }
        let itself = try PostgreSQLMove(of: member.space, from: old, to: old)
        #expect(throws: HubStoreError.spaceExists) { try itself.copy() }
        #expect(throws: HubStoreError.noSpace) { try itself.finish() }
        try move.finish()
        #expect(try await first.space(member.space) == nil)
        #expect(try await second.segments(after: 0, byteCount: 10_000, in: member.space).map(\.bytes) == segments)
        #expect(try await second.allCards(in: member.space) == [stream.replica: [1, 2]])
        #expect(try await second.snapshots(in: member.space) == [stream.snapshot(1, 1)])
        #expect(try await second.grant(for: token, in: member.space) == .member(member))
        var next = SealedStream(in: member.space)
        #expect(try await second.append(next.next(1), of: next.replica, by: member) == [.stored(4)])
      }
    }
  }

  @Test func anAnswerCountsWhenItIsCommitted() async throws {
    try await PostgreSQLServer.withDatabase { address in
      _ = try PostgreSQLSchema.migrate(at: address)
      let store = try await PostgreSQLHubStore(at: address, connectionCount: 1)
      defer { store.close() }
      let member = HubMember(id: UUID(), space: SpaceID(), role: .owner)
      let token = try #require(TokenHash(bytes: Array(0..<32)))
      try await store.createSpace(
        of: HubAccount(id: UUID(), limitInBytes: 10_000), with: member, token: token, mostSpaces: .max)
      // The function returns its answer, and then its transaction fails.
      try await PostgreSQLServer.run(
        """
        CREATE FUNCTION tally_hub.fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''at the commit''; END';
        CREATE CONSTRAINT TRIGGER fails AFTER INSERT ON tally_hub.segment DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION tally_hub.fail();
        """, in: address)
      var stream = SealedStream(in: member.space)
      let (segment, replica) = (stream.next(1), stream.replica)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<20 {
          group.addTask {
            await #expect(throws: HubStoreError.self) {
              _ = try await store.append(segment, of: replica, by: member)
            }
            // An answer is never that of another question, though it may fail with the connection.
            let space = try? await store.space(member.space)
            #expect(space == nil || space?.position == 0)
          }
        }
        try await group.waitForAll()
      }
      try await PostgreSQLServer.run("DROP TRIGGER fails ON tally_hub.segment", in: address)
      #expect(try await store.append(segment, of: replica, by: member) == [.stored(1)])
    }
  }

  @Test func aDatabaseWithoutTablesIsRefused() async throws {
    try await PostgreSQLServer.withDatabase { address in
      await #expect(throws: HubStoreError.self) { _ = try await PostgreSQLHubStore(at: address) }
      let formats = [try PostgreSQLSchema.migrate(at: address), try PostgreSQLSchema.migrate(at: address)]
      #expect(formats == [0, 4])
    }
  }

  @Test func aDatabaseOfTheFirstFormatKeepsWhatItHas() async throws {
    try await PostgreSQLServer.withDatabase { address in
      #expect(try PostgreSQLSchema.migrate(at: address, to: 1) == 0)
      let (space, member, replica) = (SpaceID(), UUID(), ReplicaID(UUID()))
      var stream = SealedStream(in: space, of: replica)
      let segments = stream.next(3)
      let hash = Hexadecimal.text(of: Array(SHA256.hash(data: segments[0])))
      try await PostgreSQLServer.run(
        """
        SET search_path = tally_hub;
        SELECT put_account('\(member)', 100000);
        SELECT create_space('\(space)', '\(member)', 100000, 9, '\(member)', 1::smallint, decode(repeat('07', 32), 'hex'));
        SELECT append_segments(
          '\(space)', '\(member)', '\(replica)', '{1}', ARRAY[decode(repeat('00', 32), 'hex')],
          ARRAY[decode('\(hash)', 'hex')], ARRAY[decode('\(Hexadecimal.text(of: segments[0]))', 'hex')]);
        """, in: address)
      await #expect(throws: HubStoreError.self) { _ = try await PostgreSQLHubStore(at: address) }
      #expect(try PostgreSQLSchema.migrate(at: address) == 1)
      let store = try await PostgreSQLHubStore(at: address, connectionCount: 2)
      defer { store.close() }
      let owner = HubMember(id: member, space: space, role: .owner)
      let answers = try await store.append(segments, of: replica, by: owner)
      #expect(answers == [.known(1), .stored(2), .stored(3)])
      #expect(try await store.segments(after: 0, byteCount: 1 << 20, in: space).map(\.bytes) == segments)
    }
  }

  @Test func aDatabaseOfTheSecondFormatRemembersWhomItRevokesFromNowOn() async throws {
    try await PostgreSQLServer.withDatabase { address in
      #expect(try PostgreSQLSchema.migrate(at: address, to: 2) == 0)
      let (space, account) = (SpaceID(), UUID())
      let (tokens, replicas) = (["07", "08"], [ReplicaID(UUID()), ReplicaID(UUID())])
      try await PostgreSQLServer.run(
        "SET search_path = tally_hub; SELECT put_account('\(account)', 100000);"
          + "SELECT create_space('\(space)', '\(account)', 100000, 9, '\(UUID())', 1::smallint, decode(repeat('06', 32), 'hex'));",
        in: address)
      for (token, replica) in zip(tokens, replicas) {
        let member = UUID()
        try await PostgreSQLServer.run(
          """
          SET search_path = tally_hub;
          SELECT add_member('\(space)', '\(member)', 2::smallint, decode(repeat('\(token)', 32), 'hex'));
          INSERT INTO replica (space, id, member) VALUES ('\(space)', '\(replica)', '\(member)');
          """, in: address)
      }
      try await PostgreSQLServer.run(
        "SET search_path = tally_hub; SELECT revoke_replica('\(space)', '\(replicas[0])', 0)", in: address)
      #expect(try PostgreSQLSchema.migrate(at: address) == 2)
      let store = try await PostgreSQLHubStore(at: address, connectionCount: 2)
      defer { store.close() }
      #expect(try await store.revoke(replicas[1], behind: 0, in: space) != nil)
      let hashes = [UInt8(7), 8].compactMap { TokenHash(bytes: Array(repeating: $0, count: 32)) }
      #expect(try await store.grant(for: hashes[0], in: space) == nil)
      #expect(try await store.grant(for: hashes[1], in: space) == .revoked(space))
    }
  }

  @Test func aServerThatIsNotThereIsUnavailable() {
    for _ in 0..<20 {
      let error = #expect(throws: HubStoreError.self) { try PostgreSQLSchema.migrate(at: "host=127.0.0.1 port=1") }
      guard case .unavailable = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }

  @Test func connectionsThatTheServerEndsAreReplaced() async throws {
    try await PostgreSQLServer.withDatabase { address in
      _ = try PostgreSQLSchema.migrate(at: address)
      let store = try await PostgreSQLHubStore(at: address, connectionCount: 2)
      defer { store.close() }
      let incarnation = try await store.incarnation(for: nil)
      for _ in 0..<3 {
        try await PostgreSQLServer.run(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tally-hub' AND datname = current_database()",
          in: address)
        // The first calls may find a connection that has ended.
        var found: [UInt8]?
        for _ in 0..<10 where found == nil { found = try? await store.incarnation(for: nil) }
        #expect(found == incarnation)
      }
    }
  }

  private func withTwoHubs(_ body: (RunningHub, RunningHub) async throws -> Void) async throws {
    try await withTwoStores { stores in
      try await withHub(over: stores[0]) { first in
        try await withHub(over: stores[1]) { second in try await body(first, second) }
      }
    }
  }

  /// Two stores over one database.
  private func withTwoStores(_ body: ([PostgreSQLHubStore]) async throws -> Void) async throws {
    try await PostgreSQLServer.withDatabase { address in
      _ = try PostgreSQLSchema.migrate(at: address)
      let stores = [
        try await PostgreSQLHubStore(at: address, connectionCount: 2),
        try await PostgreSQLHubStore(at: address, connectionCount: 2),
      ]
      defer { for store in stores { store.close() } }
      try await body(stores)
    }
  }

  private func newSpace(at hub: RunningHub) async throws -> (SpaceID, token: String) {
    let (access, space) = (HubAccess(at: hub.url), SpaceID())
    let account = try await access.createAccount()
    return (space, try await access.createSpace(space, account: account.token))
  }
}
