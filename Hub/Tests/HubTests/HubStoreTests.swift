import Foundation
import HubSamples
import HubStorage
import SystemPackage
import TallySync
import Testing

/// Stores of hubs keep what `HubStore` promises.
struct HubStoreTests {
  @Test(arguments: HubStoreConformance.checks.map(\.name))
  func lmdbKeepsItsPromises(_ name: String) async throws {
    try await withDirectory { directory in
      let store = try LMDBHubStore(at: directory)
      let check = try #require(HubStoreConformance.checks.first { $0.name == name })
      try await check.run(HubStoreConformance(store: store))
      try store.close()
    }
  }

  @Test(.enabled(if: PostgreSQLServer.address != nil), arguments: HubStoreConformance.checks.map(\.name))
  func postgreSQLKeepsItsPromises(_ name: String) async throws {
    try await PostgreSQLServer.withStore { store in
      let check = try #require(HubStoreConformance.checks.first { $0.name == name })
      try await check.run(HubStoreConformance(store: store))
    }
  }

  @Test(.enabled(if: PostgreSQLServer.address != nil), arguments: HubStoreConformance.checks.map(\.name))
  func spacesInSeveralDatabasesKeepTheirPromises(_ name: String) async throws {
    try await PostgreSQLServer.withStore { first in
      try await PostgreSQLServer.withStore { second in
        // Half of the spaces are in each.
        let rules = "89abcdef".map { DividedHubStore.Rule(prefix: String($0), store: 1) }
        let check = try #require(HubStoreConformance.checks.first { $0.name == name })
        try await check.run(HubStoreConformance(store: DividedHubStore([first, second], rules: rules)))
      }
    }
  }

  @Test func aTokenIsFoundBesideADatabaseThatIsDown() async throws {
    try await withDirectory { directory in
      let stores = try (0..<2).map { try LMDBHubStore(at: directory.appending("\($0)")) }
      let divided = DividedHubStore(stores, rules: [])
      let (account, token) = (UUID(), try #require(TokenHash(bytes: Array(repeating: 1, count: 32))))
      let unknown = try #require(TokenHash(bytes: Array(repeating: 2, count: 32)))
      try await stores[1].put(.account(account), for: token, at: 0)
      #expect(try await divided.grant(for: unknown, in: nil) == nil)
      try stores[0].close()
      #expect(try await divided.grant(for: token, in: nil) == .account(account))
      // It may be in the database that does not answer.
      await #expect(throws: (any Error).self) { try await divided.grant(for: unknown, in: nil) }
      try stores[1].close()
    }
  }

  /// As after SIGHUP: new calls go where the new map says, and the stores that it does not have are to be closed.
  @Test func aMapOfStoresChangesWhileTheyAreInUse() async throws {
    try await withDirectory { directory in
      let stores = try (0..<3).map { try LMDBHubStore(at: directory.appending("\($0)")) }
      let divided = DividedHubStore(
        [stores[0], stores[1]], rules: "89abcdef".map { .init(prefix: String($0), store: 1) })
      let account = HubAccount(id: UUID(), limitInBytes: 10_000)
      try await divided.put(account)
      var spaces: [SpaceID] = []
      for number in 0..<20 {
        let member = HubMember(id: UUID(), space: SpaceID(), role: .owner)
        let token = try #require(TokenHash(bytes: Array(repeating: UInt8(number), count: 32)))
        try await divided.createSpace(of: account, with: member, token: token, mostSpaces: .max)
        spaces.append(member.space)
      }
      let removed = divided.setMap(
        [stores[0], stores[2]], rules: "89abcdef".map { .init(prefix: String($0), store: 1) })
      #expect(removed.count == 1 && removed[0] === stores[1])
      for space in spaces {
        let isMoved = "\(space)".first.map { "89abcdef".contains($0) } == true
        #expect(try await (divided.space(space) == nil) == isMoved)
        #expect(try await (stores[1].space(space) != nil) == isMoved)
      }
      for store in stores { try store.close() }
    }
  }

  @Test func aFullDiskLosesNothing() async throws {
    try await withDirectory { directory in
      let store = try LMDBHubStore(at: directory, limitInBytes: 1 << 20)
      let member = HubMember(id: UUID(), space: SpaceID(), role: .owner)
      let token = try #require(TokenHash(bytes: Array(0..<32)))
      try await store.createSpace(
        of: HubAccount(id: UUID(), limitInBytes: .max), with: member, token: token, mostSpaces: .max)
      var (stream, stored) = (SealedStream(in: member.space), [[UInt8]]())
      var refusal: HubStoreError?
      while refusal == nil {
        let segment = stream.next(1, bodyByteCount: 20_000)
        do {
          #expect(
            try await store.append(segment, of: stream.replica, by: member) == [.stored(UInt64(stored.count + 1))])
          stored += segment
        } catch let error as HubStoreError {
          refusal = error
        }
      }
      guard case .unavailable = refusal else {
        Issue.record("\(String(describing: refusal))")
        return
      }
      #expect(try await store.segments(after: 0, byteCount: 1 << 24, in: member.space).map(\.bytes) == stored)
      try store.close()
    }
  }

  @Test func whatAStoreHasSurvivesItsEnd() async throws {
    try await withDirectory { directory in
      let token = try #require(TokenHash(bytes: Array(0..<32)))
      let member = HubMember(id: UUID(), space: SpaceID(), role: .owner)
      var stream = SealedStream(in: member.space)
      var store = try LMDBHubStore(at: directory)
      let incarnation = try await store.incarnation(for: nil)
      try await store.createSpace(
        of: HubAccount(id: UUID(), limitInBytes: 1_000), with: member, token: token, mostSpaces: .max)
      _ = try await store.append(stream.next(1), of: stream.replica, by: member)
      try store.close()
      store = try LMDBHubStore(at: directory)
      #expect(try await store.incarnation(for: nil) == incarnation)
      #expect(try await store.grant(for: token, in: member.space) == .member(member))
      #expect(try await store.append(stream.next(1), of: stream.replica, by: member) == [.stored(2)])
      try store.close()
    }
  }
}

/// Runs a body with a directory, and removes it.
func withDirectory<R>(_ body: (FilePath) async throws -> R) async throws -> R {
  let directory = FileManager.default.temporaryDirectory.appending(path: "hub-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: directory) }
  return try await body(FilePath(directory.path))
}
