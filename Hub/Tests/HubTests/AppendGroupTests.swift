import Foundation
import HubSamples
import HubStorage
import Synchronization
import TallySync
import Testing

/// Appends of several requests in one transaction of PostgreSQL.
@Suite(.enabled(if: PostgreSQLServer.address != nil))
struct AppendGroupTests {
  @Test func appendsAtOnceShareTransactions() async throws {
    try await withSpaces(200) { store, spaces, database in
      try await appendToAll(spaces, through: store)
      // Each row names the transaction that has written it.
      try await PostgreSQLServer.run(
        """
        DO $$ BEGIN
          IF (SELECT count(*) FROM tally_hub.segment) <> 200 THEN RAISE 'segments are missing'; END IF;
          IF (SELECT count(DISTINCT xmin::text) FROM tally_hub.segment) > 100 THEN RAISE 'a transaction for each'; END IF;
        END $$
        """, in: database)
    }
  }

  @Test func aSpaceThatIsLockedDelaysNoOther() async throws {
    try await withSpaces(6) { store, spaces, database in
      let locked = spaces[0]
      let flag = Flag()
      var late: Task<[HubAppendAnswer], any Error>?
      try await PostgreSQLServer.withTransaction(
        "SELECT FROM tally_hub.space WHERE id = '\(locked.space)' FOR UPDATE", in: database
      ) {
        late = Task {
          var stream = SealedStream(in: locked.space)
          let answers = try await store.append(stream.next(1), of: stream.replica, by: locked)
          flag.isSet.withLock { $0 = true }
          return answers
        }
        // Not many: the locked one waits for an answer for ten seconds at most.
        for _ in 0..<5 { try await appendToAll(Array(spaces.dropFirst()), through: store) }
        #expect(flag.isSet.withLock { !$0 })
      }
      #expect(try await late?.value == [.stored(1)])
    }
  }

  @Test func aSegmentThatTheDatabaseRefusesFailsAlone() async throws {
    try await withSpaces(40) { store, spaces, database in
      let bad = spaces[7]
      try await PostgreSQLServer.run(
        """
        CREATE FUNCTION tally_hub.fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''not this one''; END';
        CREATE TRIGGER fails AFTER INSERT ON tally_hub.segment
          FOR EACH ROW WHEN (NEW.space = '\(bad.space)') EXECUTE FUNCTION tally_hub.fail();
        """, in: database)
      try await withThrowingTaskGroup { group in
        for member in spaces {
          group.addTask {
            var stream = SealedStream(in: member.space)
            if member == bad {
              await #expect(throws: HubStoreError.self) {
                _ = try await store.append(stream.next(1), of: stream.replica, by: member)
              }
            } else {
              let answers = try await store.append(stream.next(1), of: stream.replica, by: member)
              #expect(answers == [.stored(1)])
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await store.space(bad.space)?.position == 0)
    }
  }

  @Test func aSpaceThatMovesRefusesAndTheOthersGoOn() async throws {
    try await withSpaces(20) { store, spaces, database in
      let moving = spaces[3]
      try await PostgreSQLServer.run(
        "UPDATE tally_hub.space SET is_frozen = true WHERE id = '\(moving.space)'", in: database)
      try await withThrowingTaskGroup { group in
        for member in spaces {
          group.addTask {
            var stream = SealedStream(in: member.space)
            let segments = stream.next(1)
            if member == moving {
              await #expect(throws: HubStoreError.self) {
                _ = try await store.append(segments, of: stream.replica, by: member)
              }
            } else {
              let answers = try await store.append(segments, of: stream.replica, by: member)
              #expect(answers == [.stored(1)])
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  private func appendToAll(_ spaces: [HubMember], through store: PostgreSQLHubStore) async throws {
    try await withThrowingTaskGroup { group in
      for member in spaces {
        group.addTask {
          var stream = SealedStream(in: member.space)
          guard case .stored = try await store.append(stream.next(1), of: stream.replica, by: member).first else {
            Issue.record("a segment is not stored")
            return
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Runs a body with the owners of new spaces.
  private func withSpaces(
    _ count: Int, _ body: (PostgreSQLHubStore, [HubMember], String) async throws -> Void
  ) async throws {
    try await PostgreSQLServer.withDatabase { address in
      _ = try PostgreSQLSchema.migrate(at: address)
      let store = try await PostgreSQLHubStore(at: address, connectionCount: 4)
      defer { store.close() }
      let account = HubAccount(id: UUID(), limitInBytes: 1 << 20)
      try await store.put(account)
      var members: [HubMember] = []
      for number in 0..<count {
        let member = HubMember(id: UUID(), space: SpaceID(), role: .owner)
        let bytes = (0..<32).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 4))) }
        let token = try #require(TokenHash(bytes: bytes))
        try await store.createSpace(of: account, with: member, token: token, mostSpaces: .max)
        members.append(member)
      }
      try await body(store, members, address)
    }
  }
}

private final class Flag: Sendable {
  let isSet = Mutex(false)
}
