package import Foundation
package import TallySync

/// Spaces in several stores, by a map; no function of ``HubStore`` spans two spaces.
package struct DividedHubStore: HubStore {
  /// Where the spaces are whose ids begin with some digits.
  package struct Rule: Sendable {
    let prefix: String
    let store: Int

    /// Takes the first digits of ids, in lower case, and the number of the store.
    package init(prefix: String, store: Int) { (self.prefix, self.store) = (prefix, store) }
  }

  /// The first one has the accounts, and the spaces that no rule names.
  private let stores: [any HubStore]
  private let rules: [Rule]

  /// Takes the map.
  ///
  /// - Parameters:
  ///   - stores: The first one has the accounts, and the spaces that no rule names.
  ///   - rules: The longest prefix that fits decides.
  package init(_ stores: [any HubStore], rules: [Rule]) {
    self.stores = stores
    self.rules = rules.sorted { $0.prefix.count > $1.prefix.count }
  }

  private func number(of space: SpaceID) -> Int {
    let id = "\(space)"
    return rules.first { id.hasPrefix($0.prefix) }?.store ?? 0
  }

  private func store(of space: SpaceID) -> any HubStore { stores[number(of: space)] }

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
    await withTaskGroup { group in
      for store in stores { group.addTask { await store.followOthers(report) } }
    }
  }

  package func changeCounts(of spaces: [SpaceID]) async throws -> [SpaceID: UInt64] {
    var counts: [SpaceID: UInt64] = [:]
    for (number, spaces) in Dictionary(grouping: spaces, by: number(of:)) {
      counts.merge(try await stores[number].changeCounts(of: spaces)) { first, _ in first }
    }
    return counts
  }

  // MARK: Accounts and tokens

  package func put(_ account: HubAccount) async throws {
    for store in stores { try await store.put(account) }
  }

  package func account(_ id: UUID) async throws -> HubAccount? { try await stores[0].account(id) }

  package func put(_ grant: HubGrant, for token: TokenHash) async throws {
    try await (grant.space.map { store(of: $0) } ?? stores[0]).put(grant, for: token)
  }

  package func grant(for token: TokenHash, in space: SpaceID?) async throws -> HubGrant? {
    try await (space.map { store(of: $0) } ?? stores[0]).grant(for: token, in: space)
  }

  // MARK: Spaces

  package func createSpace(
    of account: HubAccount, with member: HubMember, token: TokenHash, mostSpaces: Int
  ) async throws {
    let own = number(of: member.space)
    var elsewhere = 0
    for (number, store) in stores.enumerated() where number != own {
      // A database that is lost stops its own spaces only; two spaces at once may be one too many.
      elsewhere += (try? await store.spaceCount(of: account.id)) ?? 0
    }
    try await stores[own].createSpace(of: account, with: member, token: token, mostSpaces: mostSpaces - elsewhere)
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

  package func revoke(_ replica: ReplicaID, behind number: UInt64, in space: SpaceID) async throws -> Bool {
    try await store(of: space).revoke(replica, behind: number, in: space)
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

  package func cards(in space: SpaceID) async throws -> [ReplicaID: [UInt8]] {
    try await store(of: space).cards(in: space)
  }

  package func putPart(_ part: [UInt8], number: Int, of snapshot: SnapshotName, by member: HubMember) async throws
    -> Bool
  {
    try await store(of: member.space).putPart(part, number: number, of: snapshot, by: member)
  }

  package func snapshots(in space: SpaceID) async throws -> [SnapshotName] {
    try await store(of: space).snapshots(in: space)
  }

  package func part(_ number: Int, of snapshot: SnapshotName, in space: SpaceID) async throws -> [UInt8]? {
    try await store(of: space).part(number, of: snapshot, in: space)
  }

  package func delete(
    segmentsOf replica: ReplicaID, upTo number: UInt64, snapshots: [SnapshotName], by member: HubMember
  ) async throws {
    try await store(of: member.space).delete(segmentsOf: replica, upTo: number, snapshots: snapshots, by: member)
  }
}

extension HubGrant {
  /// The space that it is about; `nil` for an account.
  fileprivate var space: SpaceID? {
    switch self {
    case .account: nil
    case .member(let member): member.space
    case .invitation(let space, _, _, _), .revoked(let space): space
    }
  }
}
