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
  private let account = HubAccount(id: UUID(), limitInBytes: 10_000)

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
  ]

  private func require<V: Equatable>(_ value: V, is expected: V, _ what: String) throws {
    guard value == expected else { throw Unmet(description: "\(what): \(value), not \(expected)") }
  }

  private func token() -> TokenHash {
    TokenHash(bytes: (0..<32).map { _ in UInt8.random(in: .min ... .max) }) ?? token()
  }

  /// A space with its owner.
  private func space(limitInBytes: Int = 10_000) async throws -> (HubMember, TokenHash) {
    let account = HubAccount(id: UUID(), limitInBytes: limitInBytes)
    try await store.put(account)
    let (member, token) = (HubMember(id: UUID(), space: SpaceID(), role: .owner), token())
    try await store.createSpace(of: account, with: member, token: token, mostSpaces: .max)
    return (member, token)
  }

  private func incarnationStays() async throws {
    let first = try await store.incarnation(for: nil)
    try require(first.count, is: 16, "the bytes of the incarnation")
    try require(try await store.incarnation(for: nil), is: first, "the incarnation")
  }

  private func limitOfAnAccount() async throws {
    let (member, _) = try await space(limitInBytes: 500)
    let (other, _) = try await space(limitInBytes: 500)
    guard let id = try await store.space(member.space)?.account else { throw Unmet(description: "no space") }
    try await store.put(HubAccount(id: id, limitInBytes: 700))
    try require(try await store.account(id)?.limitInBytes, is: 700, "the limit of the account")
    try require(try await store.space(member.space)?.limitInBytes, is: 700, "the limit of its space")
    try require(try await store.space(other.space)?.limitInBytes, is: 500, "the limit of another one's")
  }

  private func totals() async throws {
    try require(try await store.totals(), is: HubTotals(), "the totals of nothing")
    var expected = HubTotals()
    for count in [1, 2] {
      let (member, _) = try await space()
      var stream = SealedStream(in: member.space)
      let segments = stream.next(count)
      _ = try await store.append(segments, of: stream.replica, by: member)
      (expected.accounts, expected.spaces) = (expected.accounts + 1, expected.spaces + 1)
      (expected.appendedSegments, expected.bytes) = (
        expected.appendedSegments + UInt64(count), expected.bytes + segments.reduce(0) { $0 + $1.count }
      )
    }
    try require(try await store.totals(), is: expected, "the totals")
  }

  private func changeCounts() async throws {
    let (first, second) = (try await space().0, try await space().0)
    var stream = SealedStream(in: first.space)
    _ = try await store.append(stream.next(1), of: stream.replica, by: first)
    let counts = try await store.changeCounts(of: [first.space, second.space, SpaceID()])
    try require(counts, is: [first.space: 1, second.space: 0], "the counts")
    try require(try await store.changeCounts(of: []), is: [:], "the counts of no spaces")
  }

  private func tokensAllow() async throws {
    let tokens = [token(), token(), token()]
    let (member, invited) = (HubMember(id: UUID(), space: SpaceID(), role: .reader), SpaceID())
    let grants: [HubGrant] = [
      .account(account.id), .member(member), .invitation(invited, .writer, by: UUID(), expiresAt: -5),
    ]
    try await store.put(account)
    try require(try await store.account(account.id), is: account, "the account")
    try require(try await store.account(UUID()), is: nil, "an unknown account")
    let spaces: [SpaceID?] = [nil, member.space, invited]
    for (token, grant) in zip(tokens, grants) { try await store.put(grant, for: token) }
    for ((token, grant), space) in zip(zip(tokens, grants), spaces) {
      try require(try await store.grant(for: token, in: space), is: grant, "the grant")
    }
    try require(try await store.grant(for: token(), in: nil), is: nil, "the grant of an unknown token")
  }

  private func spaceIsCreatedOnce() async throws {
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

  private func invitationIsUsedOnce() async throws {
    let (owner, _) = try await space()
    let (invitation, late, joined) = (token(), token(), token())
    try await store.put(.invitation(owner.space, .writer, by: owner.id, expiresAt: 100), for: invitation)
    try await store.put(.invitation(owner.space, .writer, by: owner.id, expiresAt: 100), for: late)
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

  private func segmentsGetPositions() async throws {
    let (member, _) = try await space()
    var (first, second) = (SealedStream(in: member.space), SealedStream(in: member.space))
    let (a, b) = (first.next(2), second.next(1))
    try require(try await store.append(a, of: first.replica, by: member), is: [.stored(1), .stored(2)], "answers")
    try require(try await store.append(b, of: second.replica, by: member), is: [.stored(3)], "answers")
    let all = try await store.segments(after: 0, byteCount: 1 << 20, in: member.space)
    try require(all, is: zip(UInt64(1)..., a + b).map { HubSegment(position: $0, bytes: $1) }, "all segments")
    try require(
      try await store.segments(of: first.replica, after: 1, byteCount: 1, in: member.space).map(\.bytes), is: [a[1]],
      "the segments of the first replica")
    let replicas = try await store.replicas(in: member.space)
    try require(replicas[first.replica]?.head, is: SegmentHead(of: a[1]), "the head")
    try require(try await store.space(member.space)?.position, is: 3, "the position")
    try require(
      try await store.space(member.space)?.byteCount, is: (a + b).reduce(0) { $0 + $1.count }, "the bytes")
  }

  private func repeatedSegments() async throws {
    let (member, _) = try await space()
    var stream = SealedStream(in: member.space)
    var twin = stream
    let segments = stream.next(2)
    _ = try await store.append(segments, of: stream.replica, by: member)
    try require(
      try await store.append(segments, of: stream.replica, by: member), is: [.known(1), .known(2)], "the same again")
    try require(
      try await store.append(twin.next(2), of: stream.replica, by: member), is: [.fork], "other segments")
    try require(try await store.space(member.space)?.position, is: 2, "the position")
  }

  private func gaps() async throws {
    let (member, _) = try await space()
    var stream = SealedStream(in: member.space)
    let segments = stream.next(3)
    try require(
      try await store.append([segments[1]], of: stream.replica, by: member), is: [.gap(.none)], "the second one first")
    _ = try await store.append([segments[0]], of: stream.replica, by: member)
    let head = try SegmentHead(of: segments[0]).map { $0 } ?? { throw Unmet(description: "no head") }()
    try require(
      try await store.append([segments[2]], of: stream.replica, by: member), is: [.gap(head)], "the third one next")
    var other = SealedStream(in: member.space, of: stream.replica)
    try require(
      try await store.append([other.next(2)[1]], of: stream.replica, by: member), is: [.gap(head)], "another chain")
  }

  private func quota() async throws {
    let (member, _) = try await space(limitInBytes: 700)
    var stream = SealedStream(in: member.space)
    let segments = stream.next(4, bodyByteCount: 100)
    let answers = try await store.append(segments, of: stream.replica, by: member)
    try require(answers, is: [.stored(1), .stored(2), .quota], "answers")
    try require(try await store.space(member.space)?.position, is: 2, "the position")
    do {
      try await store.putPart([UInt8](repeating: 1, count: 500), number: 0, of: stream.snapshot(1, 1), by: member)
      throw Unmet(description: "a snapshot that has no room is stored")
    } catch HubStoreError.full {}
    try require(try await store.snapshots(in: member.space), is: [], "the snapshots")
    do {
      try await store.putCard(
        [UInt8](repeating: 1, count: 500), number: 1, of: stream.replica, by: member, mostCards: .max)
      throw Unmet(description: "a card that has no room is stored")
    } catch HubStoreError.full {}
    let byteCount = try await store.space(member.space)?.byteCount ?? 0
    for number in 1...3 as ClosedRange<UInt64> {
      try await store.putCard([1, 2, 3], number: number, of: stream.replica, by: member, mostCards: .max)
    }
    try require(try await store.space(member.space)?.byteCount, is: byteCount + 3, "the bytes with a card")
  }

  private func limits() async throws {
    let account = HubAccount(id: UUID(), limitInBytes: 10_000)
    try await store.put(account)
    // Equal beginnings: in the same database.
    let ids = (1...3).compactMap { number in
      SpaceID(bytes: [0] + (0..<14).map { _ in UInt8.random(in: .min ... .max) } + [number])
    }
    let members = ids.map { HubMember(id: UUID(), space: $0, role: .owner) }
    for member in members.prefix(2) {
      try await store.createSpace(of: account, with: member, token: token(), mostSpaces: 2)
    }
    let lost = token()
    do {
      try await store.createSpace(of: account, with: members[2], token: lost, mostSpaces: 2)
      throw Unmet(description: "a third space of two")
    } catch HubStoreError.full {}
    try require(try await store.space(members[2].space), is: nil, "the space that is one too many")
    try require(try await store.grant(for: lost, in: members[2].space), is: nil, "the grant of its token")
    let replicas = (0..<3).map { _ in ReplicaID(UUID()) }
    for replica in replicas.prefix(2) {
      try await store.putCard([1], number: 1, of: replica, by: members[0], mostCards: 2)
    }
    do {
      try await store.putCard([1], number: 1, of: replicas[2], by: members[0], mostCards: 2)
      throw Unmet(description: "a third card of two")
    } catch HubStoreError.full {}
    try await store.putCard([2], number: 2, of: replicas[0], by: members[0], mostCards: 2)
    try require(
      try await store.cards(in: members[0].space), is: [replicas[0]: [2], replicas[1]: [1]], "the cards")
  }

  private func denials() async throws {
    let (owner, _) = try await space()
    var stream = SealedStream(in: owner.space)
    let segments = stream.next(3)
    let reader = HubMember(id: UUID(), space: owner.space, role: .reader)
    try require(try await store.append(segments, of: stream.replica, by: reader), is: [.denied], "a reader")
    let invitation = token(), joined = token()
    try await store.put(.invitation(owner.space, .writer, by: owner.id, expiresAt: 10), for: invitation)
    guard let writer = try await store.join(owner.space, as: UUID(), token: joined, by: invitation, at: 0) else {
      throw Unmet(description: "no member")
    }
    _ = try await store.append([segments[0]], of: stream.replica, by: writer)
    try require(try await store.append([segments[1]], of: stream.replica, by: owner), is: [.denied], "another member")
    try require(try await store.revoke(stream.replica, behind: 2, in: owner.space), is: true, "revoking")
    try require(try await store.revoke(stream.replica, behind: 5, in: owner.space), is: true, "revoking again")
    try require(try await store.grant(for: joined, in: owner.space), is: nil, "the token of a revoked member")
    try require(
      try await store.append(Array(segments.dropFirst()), of: stream.replica, by: writer), is: [.denied],
      "a revoked replica")
    try require(try await store.revoke(ReplicaID(UUID()), behind: 0, in: owner.space), is: false, "an unknown one")
  }

  private func replicaIsOfOneMember() async throws {
    let (owner, _) = try await space()
    let (invitation, late, joined) = (token(), token(), token())
    try await store.put(.invitation(owner.space, .writer, by: owner.id, expiresAt: 10), for: invitation)
    guard let other = try await store.join(owner.space, as: UUID(), token: joined, by: invitation, at: 0) else {
      throw Unmet(description: "no member")
    }
    try await store.put(.invitation(owner.space, .writer, by: other.id, expiresAt: 10), for: late)
    var stream = SealedStream(in: owner.space)
    try await store.putCard([1], number: 1, of: stream.replica, by: other, mostCards: .max)
    try require(try await store.append(stream.next(1), of: stream.replica, by: owner), is: [.denied], "a segment")
    let attempts: [(String, () async throws -> Void)] = [
      ("a card", { try await store.putCard([2], number: .max, of: stream.replica, by: owner, mostCards: .max) }),
      ("a snapshot", { try await store.putPart([1], number: 0, of: stream.snapshot(1, 1), by: owner) }),
      ("a deletion", { try await store.delete(segmentsOf: stream.replica, upTo: 1, snapshots: [], by: owner) }),
    ]
    for (what, attempt) in attempts {
      do {
        try await attempt()
        throw Unmet(description: "\(what) of another member is taken")
      } catch HubStoreError.denied {}
    }
    try require(try await store.cards(in: owner.space), is: [stream.replica: [1]], "the cards")
    _ = try await store.revoke(stream.replica, behind: 0, in: owner.space)
    let fresh = SealedStream(in: owner.space)
    do {
      try await store.putCard([1], number: 1, of: fresh.replica, by: other, mostCards: .max)
      throw Unmet(description: "a revoked member becomes another replica")
    } catch HubStoreError.denied {}
    try require(
      try await store.join(owner.space, as: UUID(), token: token(), by: late, at: 0), is: nil,
      "an invitation of a revoked member")
  }

  private func malformed() async throws {
    let (member, _) = try await space()
    var (stream, foreign) = (SealedStream(in: member.space), SealedStream(in: SpaceID()))
    let segment = stream.next(1)[0]
    let other = foreign.next(1)[0]
    for bytes in [[], Array(segment.dropLast()), segment + [0], other] {
      do {
        _ = try await store.append([bytes], of: stream.replica, by: member)
        throw Unmet(description: "\(bytes.count) wrong bytes are stored")
      } catch HubStoreError.malformed {}
    }
    let nowhere = HubMember(id: member.id, space: SpaceID(), role: .owner)
    var lost = SealedStream(in: nowhere.space)
    do {
      _ = try await store.append(lost.next(1), of: lost.replica, by: nowhere)
      throw Unmet(description: "a segment of no space is stored")
    } catch HubStoreError.noSpace {}
  }

  private func readingStops() async throws {
    let (member, _) = try await space()
    var stream = SealedStream(in: member.space)
    let segments = stream.next(5)
    _ = try await store.append(segments, of: stream.replica, by: member)
    let size = segments[0].count
    for (limit, count) in [(1, 1), (size, 1), (size + 1, 2), (1 << 20, 5)] {
      let read = try await store.segments(of: stream.replica, after: 0, byteCount: limit, in: member.space)
      try require(read.count, is: count, "segments for \(limit) bytes")
      let all = try await store.segments(after: 0, byteCount: limit, in: member.space)
      try require(all.count, is: count, "segments of all for \(limit) bytes")
    }
    try require(
      try await store.segments(of: stream.replica, after: 5, byteCount: 9, in: member.space), is: [], "after the last")
    try require(try await store.segments(after: .max, byteCount: 9, in: member.space), is: [], "after the greatest")
  }

  private func cards() async throws {
    let (member, _) = try await space()
    let replica = ReplicaID(UUID())
    for (number, byte) in [(1, 1), (3, 3), (2, 2), (3, 4)] as [(UInt64, UInt8)] {
      try await store.putCard([byte], number: number, of: replica, by: member, mostCards: .max)
    }
    try require(try await store.cards(in: member.space), is: [replica: [4]], "the cards")
  }

  private func snapshots() async throws {
    let (member, _) = try await space()
    let stream = SealedStream(in: member.space)
    let (old, new) = (stream.snapshot(1, 2), stream.snapshot(2, 1))
    try await store.putPart([1], number: 0, of: old, by: member)
    try await store.putPart([1], number: 0, of: old, by: member)
    try require(try await store.snapshots(in: member.space), is: [], "snapshots before the last part")
    try await store.putPart([2, 2], number: 1, of: old, by: member)
    try await store.putPart([3], number: 0, of: new, by: member)
    try require(try await store.snapshots(in: member.space), is: [new, old], "snapshots")
    try require(try await store.part(1, of: old, in: member.space), is: [2, 2], "a part")
    try require(try await store.part(2, of: old, in: member.space), is: nil, "a part behind the last")
    try require(try await store.space(member.space)?.byteCount, is: 4, "the bytes")
    // One that was interrupted is deleted when its author begins another one.
    try await store.putPart([4, 4], number: 0, of: stream.snapshot(3, 2), by: member)
    try await store.putPart([5], number: 0, of: stream.snapshot(4, 2), by: member)
    try require(
      try await store.part(0, of: stream.snapshot(3, 2), in: member.space), is: nil, "an interrupted snapshot")
    try require(try await store.space(member.space)?.byteCount, is: 5, "the bytes")
    try require(try await store.snapshots(in: member.space), is: [new, old], "snapshots")
    do {
      try await store.putPart([1], number: 2, of: old, by: member)
      throw Unmet(description: "a part behind the last is stored")
    } catch HubStoreError.malformed {}
  }

  private func deleting() async throws {
    let (member, _) = try await space()
    var stream = SealedStream(in: member.space)
    let segments = stream.next(3)
    _ = try await store.append(segments, of: stream.replica, by: member)
    try await store.putPart([1, 2, 3], number: 0, of: stream.snapshot(1, 1), by: member)
    try await store.delete(
      segmentsOf: stream.replica, upTo: 99, snapshots: [stream.snapshot(1, 1)], by: member)
    let left = try await store.segments(after: 0, byteCount: 1 << 20, in: member.space)
    try require(left, is: [HubSegment(position: 3, bytes: segments[2])], "the remaining segments")
    try require(try await store.snapshots(in: member.space), is: [], "the snapshots")
    try require(try await store.space(member.space)?.byteCount, is: segments[2].count, "the bytes")
    try require(
      try await store.append(stream.next(1), of: stream.replica, by: member), is: [.stored(4)], "the next segment")
  }

  private func changes() async throws {
    let (member, _) = try await space()
    var stream = SealedStream(in: member.space)
    var last = try await store.space(member.space)?.changeCount ?? 0
    func requireChange(_ what: String) async throws {
      let now = try await store.space(member.space)?.changeCount ?? 0
      guard now > last else { throw Unmet(description: "\(what) does not count as a change") }
      last = now
    }
    _ = try await store.append(stream.next(1), of: stream.replica, by: member)
    try await requireChange("a segment")
    try await store.putCard([1], number: 1, of: stream.replica, by: member, mostCards: .max)
    try await requireChange("a card")
    try await store.putPart([1], number: 0, of: stream.snapshot(1, 1), by: member)
    try await requireChange("a snapshot")
  }

  private func concurrentAppends() async throws {
    let (member, _) = try await space(limitInBytes: 1 << 20)
    try await withThrowingTaskGroup { group in
      for _ in 0..<20 {
        group.addTask { [store] in
          var stream = SealedStream(in: member.space)
          for segment in stream.next(5) { _ = try await store.append([segment], of: stream.replica, by: member) }
        }
      }
      try await group.waitForAll()
    }
    let positions = try await store.segments(after: 0, byteCount: 1 << 20, in: member.space).map(\.position)
    try require(positions, is: Array(1...100), "the positions")
  }
}
