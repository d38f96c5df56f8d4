package import Foundation
package import TallySync

/// The storage of a hub: sealed segments, snapshots and cards, which it cannot read, and who may reach them.
///
/// Every function takes effect as a whole or not at all, and changes one space only. Data reported as stored survives a
/// crash of the hub and of its machine. Any function may throw an error of the database besides ``HubStoreError``.
package protocol HubStore: AnyObject, Sendable {
  /// Sixteen random bytes that distinguish one database from another.
  ///
  /// - Parameter space: The space whose database is meant; `nil` for the first database, after all databases have
  ///   answered.
  /// - Returns: The bytes.
  /// - Throws: ``HubStoreError``.
  func incarnation(for space: SpaceID?) async throws -> [UInt8]

  /// Ends the use of the store, after the calls that are under way.
  func close() throws

  /// The totals of the store; reads a row for each space.
  func totals() async throws -> HubTotals

  // MARK: Other hubs

  /// Whether other hubs may change the store.
  var isShared: Bool { get }

  /// Lets other hubs know soon that a space has changed; this may be lost.
  func announceChange(of space: SpaceID)

  /// Reports spaces that other hubs have announced, until the task is cancelled.
  func followOthers(_ report: @escaping @Sendable ([SpaceID]) -> Void) async

  /// The number of changes of each of some spaces; spaces that do not exist or are being moved are missing.
  func changeCounts(of spaces: [SpaceID]) async throws -> [SpaceID: UInt64]

  // MARK: Accounts and tokens

  /// Creates an account, or changes the limit of each of its spaces.
  func put(_ account: HubAccount) async throws

  /// The account with an id; `nil` if there is none.
  func account(_ id: UUID) async throws -> HubAccount?

  /// Lets the holder of a token do what a grant says.
  ///
  /// An invitation counts as a row of its space. Expired invitations of the space are deleted.
  ///
  /// - Parameters:
  ///   - grant: What it may do.
  ///   - token: The token.
  ///   - time: The time now, in microseconds since 1970.
  /// - Throws: ``HubStoreError/full(_:)`` if the space has no room for an invitation.
  func put(_ grant: HubGrant, for token: TokenHash, at time: Int64) async throws

  /// The grant of a token; `nil` for an unknown one.
  ///
  /// - Parameters:
  ///   - token: The token.
  ///   - space: The space that the request is about; `nil` for the token of an account.
  /// - Returns: The grant.
  /// - Throws: An error of the database.
  func grant(for token: TokenHash, in space: SpaceID?) async throws -> HubGrant?

  // MARK: Spaces and replicas

  /// Creates a space with its first member.
  ///
  /// - Throws: ``HubStoreError/spaceExists``; ``HubStoreError/knownToken``; ``HubStoreError/full(_:)`` if the account has `mostSpaces` of them.
  func createSpace(of account: HubAccount, with member: HubMember, token: TokenHash, mostSpaces: Int) async throws

  /// How many spaces an account has.
  func spaceCount(of account: UUID) async throws -> Int

  /// A space; `nil` if there is none with the id.
  func space(_ id: SpaceID) async throws -> HubSpace?

  /// Adds a member to a space by an invitation, which is used up.
  ///
  /// - Parameters:
  ///   - space: The space.
  ///   - id: The new member's.
  ///   - token: The new member's.
  ///   - invitation: The token of the invitation.
  ///   - time: The time now, in microseconds since 1970.
  /// - Returns: The member; `nil` if the invitation is unknown, used or has expired.
  /// - Throws: ``HubStoreError/knownToken``; the invitation is not used up then.
  func join(
    _ space: SpaceID, as id: UUID, token: TokenHash, by invitation: TokenHash, at time: Int64
  ) async throws -> HubMember?

  /// The replicas of a space that have written.
  func replicas(in space: SpaceID) async throws -> [ReplicaID: HubReplica]

  /// Revokes the member of a replica with its token and its invitations, and records the number of the last segment of
  /// the replica that counts; if one was recorded before, the smaller one applies.
  ///
  /// All replicas of the member are cut off. Their cards no longer count, and cards of replicas without segments are deleted. All
  /// recovery codes of the space are replaced, because the member may have known one.
  ///
  /// - Returns: The id of the member; `nil` if the space does not have the replica.
  func revoke(_ replica: ReplicaID, behind number: UInt64, in space: SpaceID) async throws -> UUID?

  /// Changes what the member of a replica may do; the recovery code of a former owner is replaced.
  ///
  /// - Returns: The id of the member; `nil` if the space does not have the replica, or its member was revoked.
  func setRole(_ role: HubRole, ofMemberOf replica: ReplicaID, in space: SpaceID) async throws -> UUID?

  // MARK: Recovery codes

  /// Stores the verifier of an owner's recovery code, in place of the owner's earlier one.
  ///
  /// - Parameters:
  ///   - verifier: A public key (Ed25519), 32 bytes.
  ///   - isShared: Whether every member of the space knows the code, not only its owner.
  ///   - member: The owner.
  ///   - time: The time now, in microseconds since 1970.
  /// - Throws: ``HubStoreError/denied`` for a member that is not an owner; ``HubStoreError/replacedCode`` for a verifier that
  ///   was replaced; ``HubStoreError/sharedCode`` for a shared code if the space has readers or codes that are not shared.
  func putRecovery(_ verifier: [UInt8], isShared: Bool, by member: HubMember, at time: Int64) async throws

  /// The verifiers of the recovery codes of a space that are valid now.
  func recoveries(in space: SpaceID) async throws -> [[UInt8]]

  /// The space of a recovery code; `nil` if no space has it.
  func recovery(_ verifier: [UInt8]) async throws -> HubRecovery?

  /// Adds an owner to a space by its recovery code; the same call again gives the same member.
  ///
  /// - Parameters:
  ///   - id: The id of the new owner.
  ///   - token: The token of the new owner.
  ///   - verifier: The verifier of the code, whose possession was proven.
  ///   - space: The space of the code.
  /// - Returns: The member; `nil` if the code is no longer valid, or the token belongs to somebody else.
  /// - Throws: ``HubStoreError/full(_:)`` if the space has no room for a member's row.
  func addOwner(_ id: UUID, token: TokenHash, by verifier: [UInt8], in space: SpaceID) async throws -> HubMember?

  // MARK: For the operator

  /// Accounts in the order of their ids, with their totals in this store.
  ///
  /// - Parameters:
  ///   - account: The account after which to begin; `nil` for the first ones.
  ///   - limit: The most accounts.
  /// - Returns: The accounts; empty after the last one.
  /// - Throws: An error of the database.
  func accounts(after account: UUID?, limit: Int) async throws -> [HubAccountSummary]

  /// Spaces in the order of their ids.
  ///
  /// - Parameters:
  ///   - space: The space after which to begin; `nil` for the first ones.
  ///   - limit: The most spaces.
  /// - Returns: The spaces; empty after the last one.
  /// - Throws: An error of the database.
  func spaces(after space: SpaceID?, limit: Int) async throws -> [HubSpaceSummary]

  /// Erases a space and all that it has.
  ///
  /// - Returns: Whether there was one.
  func eraseSpace(_ space: SpaceID) async throws -> Bool

  /// Erases an account and its tokens; its spaces must be erased or given away first.
  ///
  /// - Throws: ``HubStoreError/full(_:)`` if the account still has spaces.
  func eraseAccount(_ account: UUID) async throws

  /// Makes another account responsible for a space; the limit of that account applies from now on.
  ///
  /// - Returns: Whether the space exists.
  func give(_ space: SpaceID, to account: HubAccount) async throws -> Bool

  /// The gauges that an operator watches: their names and current values.
  func gauges() async throws -> [String: Double]

  // MARK: Segments

  /// Appends segments to the stream of a replica, in their order.
  ///
  /// - Parameters:
  ///   - segments: The sealed bytes; their clear headers name the replica.
  ///   - replica: Their author; a new replica belongs to the member from now on.
  ///   - member: The sender.
  /// - Returns: The answer for each segment, up to the first one that is neither stored nor known.
  /// - Throws: ``HubStoreError/noSpace``; ``HubStoreError/malformed(_:)`` for bytes that are not a segment of the replica.
  func append(
    _ segments: [[UInt8]], of replica: ReplicaID, by member: HubMember
  ) async throws -> [HubAppendAnswer]

  /// Segments of all replicas in the order in which they were stored.
  ///
  /// - Parameters:
  ///   - position: The position after which to begin; 0 for all.
  ///   - byteCount: How many bytes there may be.
  ///   - space: The space.
  /// - Returns: The segments; the last one may be cut short. Positions have gaps where segments were deleted.
  /// - Throws: An error of the database.
  func segments(after position: UInt64, byteCount: Int, in space: SpaceID) async throws -> [HubSegment]

  /// Segments of one replica without gaps.
  ///
  /// - Parameters:
  ///   - replica: The replica.
  ///   - number: The number after which to begin; 0 for all.
  ///   - byteCount: How many bytes there may be.
  ///   - space: The space.
  /// - Returns: The segments; the last one may be cut short. Empty if the next segment is not there.
  /// - Throws: An error of the database.
  func segments(
    of replica: ReplicaID, after number: UInt64, byteCount: Int, in space: SpaceID
  ) async throws -> [HubSegment]

  /// A slice of the bytes of a segment; `nil` if it is not there.
  func segment(at position: UInt64, from offset: Int, count: Int, in space: SpaceID) async throws -> HubSlice?

  // MARK: Cards and snapshots

  /// Stores a card unless there is a newer one of the replica; a new replica belongs to the member from now on.
  ///
  /// - Throws: ``HubStoreError/denied``, ``HubStoreError/noSpace``; ``HubStoreError/full(_:)`` if the space has no room, or
  ///   `mostCards` of other replicas.
  func putCard(
    _ card: [UInt8], number: UInt64, of replica: ReplicaID, by member: HubMember, mostCards: Int
  ) async throws

  /// The newest card of each replica, in the order of their ids.
  ///
  /// - Parameters:
  ///   - replica: The replica after which to begin; `nil` for the first ones.
  ///   - byteCount: Stop when this many bytes have been read.
  ///   - space: The space.
  /// - Returns: Whole cards; empty after the last one.
  /// - Throws: An error of the database.
  func cards(after replica: ReplicaID?, byteCount: Int, in space: SpaceID) async throws -> [HubCard]

  /// Stores a part of a snapshot, which counts when all its parts are there; the newest four of a replica are kept.
  ///
  /// - Returns: Whether it counts from now on.
  /// - Throws: ``HubStoreError/denied``, ``HubStoreError/full(_:)``, ``HubStoreError/noSpace``,
  ///   ``HubStoreError/malformed(_:)``.
  @discardableResult
  func putPart(_ part: [UInt8], number: Int, of snapshot: SnapshotName, by member: HubMember) async throws -> Bool

  /// The complete snapshots of a space, the newest first.
  func snapshots(in space: SpaceID) async throws -> [SnapshotName]

  /// A slice of the bytes of a part of a snapshot, complete or not; `nil` if it is not there.
  func part(
    _ number: Int, of snapshot: SnapshotName, from offset: Int, count: Int, in space: SpaceID
  ) async throws -> HubSlice?

  /// Deletes segments of a replica up to a number, and snapshots of it; the last segment of a stream stays.
  ///
  /// An owner may also do this for a revoked replica; then the last segment is deleted as well.
  ///
  /// - Throws: ``HubStoreError/denied``, ``HubStoreError/noSpace``.
  func delete(
    segmentsOf replica: ReplicaID, upTo number: UInt64, snapshots: [SnapshotName], by member: HubMember
  ) async throws
}
