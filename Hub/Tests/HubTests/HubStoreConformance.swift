import Foundation
import HubSamples
import HubStorage
import TallySync

/// What every hub's store promises.
///
/// Each check gets an empty store, and throws if a promise is not kept.
struct HubStoreConformance {
  struct Unmet: Error, CustomStringConvertible {
    let description: String
  }

  let store: any HubStore
  let account = HubAccount(id: UUID(), limitInBytes: 10_000)

  static let checks: [(name: String, run: @Sendable (HubStoreConformance) async throws -> Void)] = [
    ("the incarnation stays", { try await $0.incarnationStays() }),
    ("an account's limit is that of its spaces", { try await $0.limitOfAnAccount() }),
    ("the totals count all spaces", { try await $0.totals() }),
    ("the counts of changes are those of the spaces", { try await $0.changeCounts() }),
    ("a token has its grant", { try await $0.tokensAllow() }),
    ("a space is created once", { try await $0.spaceIsCreatedOnce() }),
    ("an invitation is used once, before it expires", { try await $0.invitationIsUsedOnce() }),
    ("segments get positions without gaps", { try await $0.segmentsGetPositions() }),
    ("a segment that is there is known, another one is a fork", { try await $0.repeatedSegments() }),
    ("a segment that does not follow is a gap", { try await $0.gaps() }),
    ("a full space refuses and stays as it is", { try await $0.quota() }),
    ("an account has no more spaces, a space no more cards than they may", { try await $0.limits() }),
    ("a reader, another member and a revoked replica are denied", { try await $0.denials() }),
    ("a replica is the member's that writes as it first", { try await $0.replicaIsOfOneMember() }),
    ("bytes that are not a segment of the replica are refused", { try await $0.malformed() }),
    ("reading stops at the number of bytes", { try await $0.readingStops() }),
    ("the newest card stays", { try await $0.cards() }),
    ("a snapshot counts when all its parts are there", { try await $0.snapshots() }),
    ("deleting keeps the last segment and gives room back", { try await $0.deleting() }),
    ("each change is counted", { try await $0.changes() }),
    ("appends at once get all positions", { try await $0.concurrentAppends() }),
    ("appends at once do not fail each other", { try await $0.appendsThatFail() }),
    ("pages of cards are all cards in their order", { try await $0.pagesOfCards() }),
    ("a large segment and a part are read in slices", { try await $0.slices() }),
    ("one member cannot take the room of others", { try await $0.replicasOfAMember() }),
    ("rows without bytes count", { try await $0.rowsCount() }),
    ("the newest snapshots of a replica stay", { try await $0.oldSnapshots() }),
    ("an owner deletes the stream of a revoked replica", { try await $0.streamsOfRevoked() }),
    ("a role changes at once", { try await $0.roles() }),
    ("a recovery code adds an owner until it is replaced", { try await $0.recoveryCodes() }),
    ("a code that all members could have is not taken beside readers", { try await $0.sharedCodes() }),
    ("an operator lists, gives away and erases", { try await $0.operating() }),
  ]

  func require<V: Equatable>(_ value: V, is expected: V, _ what: String) throws {
    guard value == expected else { throw Unmet(description: "\(what): \(value), not \(expected)") }
  }

  func token() -> TokenHash {
    TokenHash(bytes: (0..<32).map { _ in UInt8.random(in: .min ... .max) }) ?? token()
  }

  /// What rows without sealed bytes count.
  func rows(_ count: Int) -> Int { count * HubRowLimits.rowByteCount }

  /// A space with its owner.
  func space(limitInBytes: Int = 10_000) async throws -> (HubMember, TokenHash) {
    let account = HubAccount(id: UUID(), limitInBytes: limitInBytes)
    try await store.put(account)
    let (member, token) = (HubMember(id: UUID(), space: SpaceID(), role: .owner), token())
    try await store.createSpace(of: account, with: member, token: token, mostSpaces: .max)
    return (member, token)
  }

  func incarnationStays() async throws {
    let first = try await store.incarnation(for: nil)
    try require(first.count, is: 16, "the bytes of the incarnation")
    try require(try await store.incarnation(for: nil), is: first, "the incarnation")
  }

  func limitOfAnAccount() async throws {
    let (member, _) = try await space(limitInBytes: 500)
    let (other, _) = try await space(limitInBytes: 500)
    guard let id = try await store.space(member.space)?.account else { throw Unmet(description: "no space") }
    try await store.put(HubAccount(id: id, limitInBytes: 700))
    try require(try await store.account(id)?.limitInBytes, is: 700, "the limit of the account")
    try require(try await store.space(member.space)?.limitInBytes, is: 700, "the limit of its space")
    try require(try await store.space(other.space)?.limitInBytes, is: 500, "the limit of another one's")
  }

  func totals() async throws {
    try require(try await store.totals(), is: HubTotals(), "the totals of nothing")
    var expected = HubTotals()
    for count in [1, 2] {
      let (member, _) = try await space()
      var stream = SealedStream(in: member.space)
      let segments = stream.next(count)
      _ = try await store.append(segments, of: stream.replica, by: member)
      (expected.accounts, expected.spaces) = (expected.accounts + 1, expected.spaces + 1)
      (expected.appendedSegments, expected.bytes) = (
        expected.appendedSegments + UInt64(count), expected.bytes + segments.reduce(rows(1)) { $0 + $1.count }
      )
    }
    try require(try await store.totals(), is: expected, "the totals")
  }

  func changeCounts() async throws {
    let (first, second) = (try await space().0, try await space().0)
    var stream = SealedStream(in: first.space)
    _ = try await store.append(stream.next(1), of: stream.replica, by: first)
    let counts = try await store.changeCounts(of: [first.space, second.space, SpaceID()])
    try require(counts, is: [first.space: 1, second.space: 0], "the counts")
    try require(try await store.changeCounts(of: []), is: [:], "the counts of no spaces")
  }

  func tokensAllow() async throws {
    let tokens = [token(), token(), token()]
    let (member, invited) = (HubMember(id: UUID(), space: SpaceID(), role: .reader), SpaceID())
    let grants: [HubGrant] = [
      .account(account.id), .member(member), .invitation(invited, .writer, by: UUID(), expiresAt: -5),
    ]
    try await store.put(account)
    try require(try await store.account(account.id), is: account, "the account")
    try require(try await store.account(UUID()), is: nil, "an unknown account")
    let spaces: [SpaceID?] = [nil, member.space, invited]
    for (token, grant) in zip(tokens, grants) { try await store.put(grant, for: token, at: 0) }
    for ((token, grant), space) in zip(zip(tokens, grants), spaces) {
      try require(try await store.grant(for: token, in: space), is: grant, "the grant")
    }
    try require(try await store.grant(for: token(), in: nil), is: nil, "the grant of an unknown token")
  }

  func spaceIsCreatedOnce() async throws {
    let (member, token) = try await space()
    try require(try await store.grant(for: token, in: member.space), is: .member(member), "the grant of the owner")
    let other = self.token()
    do {
      try await store.createSpace(
        of: account, with: HubMember(id: UUID(), space: member.space, role: .owner), token: other,
        mostSpaces: .max)
      throw Unmet(description: "a second space with one id")
    } catch HubStoreError.spaceExists {}
    try require(try await store.grant(for: other, in: member.space), is: nil, "the grant of the second owner")
    try require(try await store.space(SpaceID()), is: nil, "an unknown space")
  }

  func invitationIsUsedOnce() async throws {
    let (owner, _) = try await space()
    let (invitation, late, joined) = (token(), token(), token())
    try await store.put(.invitation(owner.space, .writer, by: owner.id, expiresAt: 100), for: invitation, at: 0)
    try await store.put(.invitation(owner.space, .writer, by: owner.id, expiresAt: 100), for: late, at: 0)
    let id = UUID()
    let member = try await store.join(owner.space, as: id, token: joined, by: invitation, at: 99)
    try require(member, is: HubMember(id: id, space: owner.space, role: .writer), "the member")
    try require(
      try await store.grant(for: joined, in: owner.space), is: member.map { .member($0) }, "the grant of the member")
    try require(
      try await store.join(owner.space, as: UUID(), token: token(), by: invitation, at: 99), is: nil, "the second use")
    try require(try await store.join(owner.space, as: UUID(), token: token(), by: late, at: 100), is: nil, "a late use")
    try require(
      try await store.join(owner.space, as: UUID(), token: token(), by: token(), at: 1), is: nil,
      "an unknown invitation")
  }
}
