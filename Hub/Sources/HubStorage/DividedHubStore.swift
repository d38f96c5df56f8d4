package import Foundation
import Synchronization
package import TallySync

/// Spaces in several stores, by a map that may change; no function of ``HubStore`` spans two spaces.
package final class DividedHubStore: HubStore {
  /// The store of the spaces whose ids begin with some digits.
  package struct Rule: Sendable {
    let prefix: String
    let store: Int

    /// Creates a rule from the first digits of ids, in lower case, and the number of the store.
    package init(prefix: String, store: Int) { (self.prefix, self.store) = (prefix, store) }
  }

  private struct Map {
    /// The first one has the accounts, and the spaces that no rule names.
    var stores: [any HubStore]
    var rules: [Rule]
    /// Tells those who follow the stores that the stores have changed.
    var changes: AsyncStream<Void>.Continuation?

    func number(of space: SpaceID) -> Int {
      let id = "\(space)"
      return rules.first { id.hasPrefix($0.prefix) }?.store ?? 0
    }
  }

  private let map: Mutex<Map>

  /// Creates a store from a map.
  ///
  /// - Parameters:
  ///   - stores: The first one has the accounts, and the spaces that no rule names.
  ///   - rules: The longest prefix that fits decides.
  package init(_ stores: [any HubStore], rules: [Rule]) {
    map = Mutex(Map(stores: stores, rules: Self.longestFirst(rules)))
  }

  /// Replaces the map; calls in progress finish in the stores in which they began.
  ///
  /// - Returns: The stores that the new map no longer has, to be closed when those calls have finished.
  package func setMap(_ stores: [any HubStore], rules: [Rule]) -> [any HubStore] {
    map.withLock { map in
      let removed = map.stores.filter { old in !stores.contains { $0 === old } }
      (map.stores, map.rules) = (stores, Self.longestFirst(rules))
      map.changes?.yield()
      return removed
    }
  }

  private static func longestFirst(_ rules: [Rule]) -> [Rule] { rules.sorted { $0.prefix.count > $1.prefix.count } }

  private var stores: [any HubStore] { map.withLock { $0.stores } }

  private func number(of space: SpaceID) -> Int { map.withLock { $0.number(of: space) } }

  private func store(of space: SpaceID) -> any HubStore { map.withLock { $0.stores[$0.number(of: space)] } }

  package func incarnation(for space: SpaceID?) async throws -> [UInt8] {
    if let space { return try await store(of: space).incarnation(for: space) }
    for store in stores.dropFirst() { _ = try await store.incarnation(for: nil) }
    return try await stores[0].incarnation(for: nil)
  }

  package func close() throws {
    for store in stores { try store.close() }
  }

  package func totals() async throws -> HubTotals {
    var totals = try await stores[0].totals()
    for store in stores.dropFirst() {
      let part = try await store.totals()
      (totals.spaces, totals.bytes) = (totals.spaces + part.spaces, totals.bytes + part.bytes)
      totals.appendedSegments += part.appendedSegments
    }
    return totals
  }

  package var isShared: Bool { stores.contains { $0.isShared } }

  package func announceChange(of space: SpaceID) { store(of: space).announceChange(of: space) }

  package func followOthers(_ report: @escaping @Sendable ([SpaceID]) -> Void) async {
    let (changes, change) = AsyncStream.makeStream(of: Void.self)
    map.withLock { $0.changes = change }
    change.yield()
    var following: Task<Void, Never>?
    for await _ in changes {
      following?.cancel()
      await following?.value
      let stores = stores
      following = Task {
        await withTaskGroup { group in
          for store in stores { group.addTask { await store.followOthers(report) } }
        }
      }
    }
    following?.cancel()
    await following?.value
  }

  package func changeCounts(of spaces: [SpaceID]) async throws -> [SpaceID: UInt64] {
    var counts: [SpaceID: UInt64] = [:]
    let map = map.withLock { Map(stores: $0.stores, rules: $0.rules) }
    let (stores, groups) = (map.stores, Dictionary(grouping: spaces, by: map.number(of:)))
    for (number, spaces) in groups {
      counts.merge(try await stores[number].changeCounts(of: spaces)) { first, _ in first }
    }
    return counts
  }

  // MARK: Accounts and tokens

  package func put(_ account: HubAccount) async throws {
    for store in stores { try await store.put(account) }
  }

  package func account(_ id: UUID) async throws -> HubAccount? { try await stores[0].account(id) }

  package func put(_ grant: HubGrant, for token: TokenHash, at time: Int64) async throws {
    try await (grant.space.map { store(of: $0) } ?? stores[0]).put(grant, for: token, at: time)
  }

  package func grant(for token: TokenHash, in space: SpaceID?) async throws -> HubGrant? {
    if let space { return try await store(of: space).grant(for: token, in: space) }
    var failure: (any Error)?
    for store in stores {
      do {
        if let grant = try await store.grant(for: token, in: nil) { return grant }
      } catch let error as CancellationError {
        throw error
      } catch {
        // Another database may have the token.
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return nil
  }

  // MARK: Spaces

  package func createSpace(
    of account: HubAccount, with member: HubMember, token: TokenHash, mostSpaces: Int
  ) async throws {
    let own = store(of: member.space)
    var elsewhere = 0
    for store in stores where store !== own {
      // A lost database counts as having no spaces. Two spaces that are created at once may exceed the limit by one.
      elsewhere += (try? await store.spaceCount(of: account.id)) ?? 0
    }
    try await own.createSpace(of: account, with: member, token: token, mostSpaces: mostSpaces - elsewhere)
  }

  package func spaceCount(of account: UUID) async throws -> Int {
    var count = 0
    for store in stores { count += try await store.spaceCount(of: account) }
    return count
  }

  package func space(_ id: SpaceID) async throws -> HubSpace? { try await store(of: id).space(id) }

  package func join(
    _ space: SpaceID, as id: UUID, token: TokenHash, by invitation: TokenHash, at time: Int64
  ) async throws -> HubMember? {
    try await store(of: space).join(space, as: id, token: token, by: invitation, at: time)
  }

  package func replicas(in space: SpaceID) async throws -> [ReplicaID: HubReplica] {
    try await store(of: space).replicas(in: space)
  }

  package func revoke(_ replica: ReplicaID, behind number: UInt64, in space: SpaceID) async throws -> UUID? {
    try await store(of: space).revoke(replica, behind: number, in: space)
  }

  package func setRole(_ role: HubRole, ofMemberOf replica: ReplicaID, in space: SpaceID) async throws -> UUID? {
    try await store(of: space).setRole(role, ofMemberOf: replica, in: space)
  }

  // MARK: Recovery codes

  package func putRecovery(_ verifier: [UInt8], isShared: Bool, by member: HubMember, at time: Int64) async throws {
    let own = store(of: member.space)
    for store in stores where store !== own {
      // A code of a space that has moved is also in its old database.
      if let known = try await store.recovery(verifier), known.space != member.space { throw HubStoreError.denied }
    }
    try await own.putRecovery(verifier, isShared: isShared, by: member, at: time)
  }

  package func recoveries(in space: SpaceID) async throws -> [[UInt8]] {
    try await store(of: space).recoveries(in: space)
  }

  /// A code names no space, so all databases are asked.
  ///
  /// It throws if one of them does not answer, because that may be the one with the code.
  package func recovery(_ verifier: [UInt8]) async throws -> HubRecovery? {
    for store in stores {
      guard let found = try await store.recovery(verifier) else { continue }
      // Until a move is finished, the space is also in its old database.
      if self.store(of: found.space) === store { return found }
    }
    return nil
  }

  package func addOwner(
    _ id: UUID, token: TokenHash, by verifier: [UInt8], in space: SpaceID
  ) async throws -> HubMember? {
    try await store(of: space).addOwner(id, token: token, by: verifier, in: space)
  }

  // MARK: What they have

  package func append(
    _ segments: [[UInt8]], of replica: ReplicaID, by member: HubMember
  ) async throws -> [HubAppendAnswer] {
    try await store(of: member.space).append(segments, of: replica, by: member)
  }

  package func segments(after position: UInt64, byteCount: Int, in space: SpaceID) async throws -> [HubSegment] {
    try await store(of: space).segments(after: position, byteCount: byteCount, in: space)
  }

  package func segments(
    of replica: ReplicaID, after number: UInt64, byteCount: Int, in space: SpaceID
  ) async throws -> [HubSegment] {
    try await store(of: space).segments(of: replica, after: number, byteCount: byteCount, in: space)
  }

  package func putCard(
    _ card: [UInt8], number: UInt64, of replica: ReplicaID, by member: HubMember, mostCards: Int
  ) async throws {
    try await store(of: member.space).putCard(card, number: number, of: replica, by: member, mostCards: mostCards)
  }

  package func segment(at position: UInt64, from offset: Int, count: Int, in space: SpaceID) async throws -> HubSlice? {
    try await store(of: space).segment(at: position, from: offset, count: count, in: space)
  }

  package func cards(after replica: ReplicaID?, byteCount: Int, in space: SpaceID) async throws -> [HubCard] {
    try await store(of: space).cards(after: replica, byteCount: byteCount, in: space)
  }

  package func putPart(_ part: [UInt8], number: Int, of snapshot: SnapshotName, by member: HubMember) async throws
    -> Bool
  {
    try await store(of: member.space).putPart(part, number: number, of: snapshot, by: member)
  }

  package func snapshots(in space: SpaceID) async throws -> [SnapshotName] {
    try await store(of: space).snapshots(in: space)
  }

  package func part(
    _ number: Int, of snapshot: SnapshotName, from offset: Int, count: Int, in space: SpaceID
  ) async throws -> HubSlice? {
    try await store(of: space).part(number, of: snapshot, from: offset, count: count, in: space)
  }

  package func delete(
    segmentsOf replica: ReplicaID, upTo number: UInt64, snapshots: [SnapshotName], by member: HubMember
  ) async throws {
    try await store(of: member.space).delete(segmentsOf: replica, upTo: number, snapshots: snapshots, by: member)
  }
}

// MARK: - For the operator

extension DividedHubStore {
  package func accounts(after account: UUID?, limit: Int) async throws -> [HubAccountSummary] {
    let stores = stores
    var accounts = try await stores[0].accounts(after: account, limit: limit)
    for store in stores.dropFirst() {
      // Every account is also in the first store.
      let others = try await store.accounts(after: account, limit: limit)
      let parts = Dictionary(others.map { ($0.account, $0) }) { first, _ in first }
      for index in accounts.indices {
        guard let part = parts[accounts[index].account] else { continue }
        accounts[index].spaces += part.spaces
        accounts[index].bytes += part.bytes
      }
    }
    return accounts
  }

  package func spaces(after space: SpaceID?, limit: Int) async throws -> [HubSpaceSummary] {
    var spaces: [HubSpaceSummary] = []
    for store in stores { spaces += try await store.spaces(after: space, limit: limit) }
    return Array(spaces.sorted { $0.space < $1.space }.prefix(limit))
  }

  package func eraseSpace(_ space: SpaceID) async throws -> Bool { try await store(of: space).eraseSpace(space) }

  package func eraseAccount(_ account: UUID) async throws {
    guard try await spaceCount(of: account) == 0 else { throw HubStoreError.hasSpaces }
    for store in stores { try await store.eraseAccount(account) }
  }

  package func give(_ space: SpaceID, to account: HubAccount) async throws -> Bool {
    try await store(of: space).give(space, to: account)
  }

  package func gauges() async throws -> [String: Double] {
    var gauges: [String: Double] = [:]
    for store in stores { gauges.merge(try await store.gauges()) { $0 + $1 } }
    return gauges
  }
}
