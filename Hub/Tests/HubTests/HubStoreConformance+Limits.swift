import Crypto
import Foundation
import HubSamples
import HubStorage
import TallySync

extension HubStore {
  /// All cards of a space.
  func allCards(in space: SpaceID) async throws -> [ReplicaID: [UInt8]] {
    let cards = try await cards(after: nil, byteCount: .max, in: space)
    return Dictionary(cards.map { ($0.replica, $0.bytes) }) { first, _ in first }
  }

  /// All bytes of a part of a snapshot.
  func wholePart(_ number: Int, of snapshot: SnapshotName, in space: SpaceID) async throws -> [UInt8]? {
    try await part(number, of: snapshot, from: 0, count: 1 << 24, in: space)?.bytes
  }
}

// Pages, and what one member may take of a space.
extension HubStoreConformance {
  /// Joins a space by an invitation.
  func join(_ owner: HubMember, as role: HubRole, token: TokenHash? = nil) async throws -> HubMember {
    let invitation = self.token()
    try await store.put(.invitation(owner.space, role, by: owner.id, expiresAt: 10), for: invitation, at: 0)
    let member = try await store.join(
      owner.space, as: UUID(), token: token ?? self.token(), by: invitation, at: 0)
    guard let member else { throw Unmet(description: "no member") }
    return member
  }

  func refuses(_ what: String, as error: HubStoreError, _ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch let found as HubStoreError where found == error {
      return
    }
    throw Unmet(description: "\(what) is taken")
  }

  func isFull(_ what: String, _ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch HubStoreError.full {
      return
    }
    throw Unmet(description: "\(what) is taken")
  }

  func pagesOfCards() async throws {
    let (member, _) = try await space(limitInBytes: 100_000)
    var expected: [ReplicaID: [UInt8]] = [:]
    for number in 0..<20 as Range<UInt8> {
      let replica = ReplicaID(UUID())
      expected[replica] = [UInt8](repeating: number, count: 100)
      try await store.putCard(
        [UInt8](repeating: number, count: 100), number: 1, of: replica, by: member, mostCards: .max)
    }
    for byteCount in [1, 100, 101, 950, 1 << 20] {
      var (read, last): ([HubCard], ReplicaID?) = ([], nil)
      while true {
        let page = try await store.cards(after: last, byteCount: byteCount, in: member.space)
        guard let end = page.last else { break }
        guard page.dropLast().reduce(0, { $0 + $1.bytes.count }) < byteCount else {
          throw Unmet(description: "a page for \(byteCount) bytes has \(page.count) cards")
        }
        read += page
        last = end.replica
      }
      let sorted = expected.sorted { $0.key < $1.key }.map { HubCard(replica: $0.key, bytes: $0.value) }
      try require(read, is: sorted, "the cards in pages for \(byteCount) bytes")
    }
  }

  func slices() async throws {
    let (member, _) = try await space(limitInBytes: 1 << 20)
    var stream = SealedStream(in: member.space)
    let segments = stream.next(1, bodyByteCount: 5_000) + stream.next(1)
    _ = try await store.append(segments, of: stream.replica, by: member)
    let pages = [
      try await store.segments(of: stream.replica, after: 0, byteCount: 1_000, in: member.space),
      try await store.segments(after: 0, byteCount: 1_000, in: member.space),
    ]
    for page in pages {
      try require(page.map(\.bytes), is: [Array(segments[0].prefix(1_000))], "the beginning of a large segment")
      try require(page.map(\.byteCount), is: [segments[0].count], "its size")
    }
    let both = try await store.segments(after: 0, byteCount: segments[0].count + 7, in: member.space)
    try require(both.map(\.bytes), is: [segments[0], Array(segments[1].prefix(7))], "the beginning of the last one")
    try require(both.map(\.byteCount), is: segments.map(\.count), "the sizes")
    let name = stream.snapshot(1, 1)
    try await store.putPart(segments[0], number: 0, of: name, by: member)
    for (offset, count) in [
      (0, 10), (1_000, 1_000), (segments[0].count - 5, 100), (segments[0].count, 5), (1 << 40, 5),
    ] {
      let expected = HubSlice(
        bytes: Array(segments[0].dropFirst(offset).prefix(count)), byteCount: segments[0].count)
      try require(
        try await store.segment(at: 1, from: offset, count: count, in: member.space), is: expected,
        "a slice at \(offset)")
      try require(
        try await store.part(0, of: name, from: offset, count: count, in: member.space), is: expected,
        "a slice of a part at \(offset)")
    }
    try require(
      try await store.segment(at: 9, from: 0, count: 5, in: member.space), is: nil, "a segment that is not there")
    try require(
      try await store.part(1, of: name, from: 0, count: 5, in: member.space), is: nil, "a part that is not there")
  }

  func replicasOfAMember() async throws {
    let (owner, _) = try await space(limitInBytes: 1 << 20)
    let (reader, writer) = (try await join(owner, as: .reader), try await join(owner, as: .writer))
    let most = HubRowLimits.mostReplicasOfMember
    let replicas = (0...most).map { _ in ReplicaID(UUID()) }
    for replica in replicas.prefix(most) {
      try await store.putCard([1, 2, 3], number: 1, of: replica, by: reader, mostCards: most)
    }
    try await isFull("a card of one more replica") {
      try await store.putCard([1], number: 1, of: replicas[most], by: reader, mostCards: .max)
    }
    // Existing replicas may still change.
    try await store.putCard([4], number: 2, of: replicas[0], by: reader, mostCards: most)
    // The cards of one member use up the room of the space until that member is revoked.
    let own = ReplicaID(UUID())
    try await isFull("a card in a space with as many as it may have") {
      try await store.putCard([1], number: 1, of: own, by: writer, mostCards: most)
    }
    let before = try await store.space(owner.space)
    try require(try await store.revoke(replicas[0], behind: 0, in: owner.space), is: reader.id, "the revoked member")
    try await store.putCard([1], number: 1, of: own, by: writer, mostCards: most)
    try require(try await store.allCards(in: owner.space), is: [own: [1]], "the cards")
    let after = try await store.space(owner.space)
    try require(
      after?.byteCount, is: (before?.byteCount ?? 0) - 1 - 3 * (most - 1) + 1, "the bytes without the cards")
    guard after?.changeCount ?? 0 > before?.changeCount ?? 0 else {
      throw Unmet(description: "revoking does not count as a change")
    }
    // The limit also holds for a writer, and for segments and snapshots.
    for _ in 1..<most {
      var stream = SealedStream(in: owner.space)
      _ = try await store.append(stream.next(1), of: stream.replica, by: writer)
    }
    var stream = SealedStream(in: owner.space)
    let segments = stream.next(1)
    try await isFull("a segment of one more replica") {
      _ = try await store.append(segments, of: stream.replica, by: writer)
    }
    try await isFull("a snapshot of one more replica") {
      try await store.putPart([1], number: 0, of: stream.snapshot(1, 1), by: writer)
    }
    // The card of a revoked replica with segments stays to verify them, but takes no room from others.
    _ = try await store.revoke(own, behind: 0, in: owner.space)
    let ownersCard = ReplicaID(UUID())
    try await store.putCard([9], number: 1, of: ownersCard, by: owner, mostCards: 1)
    try require(try await store.allCards(in: owner.space), is: [ownersCard: [9]], "the cards at last")
  }

  func rowsCount() async throws {
    let (owner, _) = try await space(limitInBytes: rows(5))
    var stream = SealedStream(in: owner.space)
    try await store.putPart([], number: 0, of: stream.snapshot(1, 99), by: owner)
    try await store.putPart([], number: 1, of: stream.snapshot(1, 99), by: owner)
    let invitations = (0..<3).map { _ in token() }
    for invitation in invitations.prefix(2) {
      try await store.put(.invitation(owner.space, .writer, by: owner.id, expiresAt: 10), for: invitation, at: 0)
    }
    try require(try await store.space(owner.space)?.byteCount, is: rows(5), "the bytes")
    try await refuses("an empty part in a full space", as: .full("The space has no room.")) {
      try await store.putPart([], number: 2, of: stream.snapshot(1, 99), by: owner)
    }
    try await refuses("an invitation to a full space", as: .full("The space has no room.")) {
      try await store.put(.invitation(owner.space, .writer, by: owner.id, expiresAt: 10), for: invitations[2], at: 9)
    }
    try require(try await store.append(stream.next(1), of: stream.replica, by: owner), is: [.quota], "a segment")
    // A member takes the room of its invitation; expired invitations give their room back.
    _ = try await store.join(owner.space, as: UUID(), token: token(), by: invitations[0], at: 9)
    try require(try await store.space(owner.space)?.byteCount, is: rows(5), "the bytes with a member")
    try await store.put(.invitation(owner.space, .writer, by: owner.id, expiresAt: 30), for: invitations[2], at: 20)
    try require(try await store.space(owner.space)?.byteCount, is: rows(5), "the bytes with another invitation")
    try require(try await store.grant(for: invitations[1], in: owner.space), is: nil, "an expired invitation")
  }

  func oldSnapshots() async throws {
    let (member, _) = try await space()
    let stream = SealedStream(in: member.space)
    for number in 1...7 as ClosedRange<UInt64> {
      try await store.putPart([1, 2], number: 0, of: stream.snapshot(number, 1), by: member)
    }
    let newest = (4...7).reversed().map { stream.snapshot($0, 1) }
    try require(try await store.snapshots(in: member.space), is: newest, "the snapshots")
    try require(try await store.space(member.space)?.byteCount, is: rows(1) + 4 * (2 + rows(1)), "the bytes")
  }

  func streamsOfRevoked() async throws {
    let (owner, _) = try await space()
    let writer = try await join(owner, as: .writer)
    var stream = SealedStream(in: owner.space)
    _ = try await store.append(stream.next(3), of: stream.replica, by: writer)
    try await store.putPart([1], number: 0, of: stream.snapshot(1, 1), by: writer)
    try await refuses("deleting for a member that is there", as: .denied) {
      try await store.delete(segmentsOf: stream.replica, upTo: 9, snapshots: [], by: owner)
    }
    _ = try await store.revoke(stream.replica, behind: 3, in: owner.space)
    let other = try await join(owner, as: .writer)
    try await refuses("deleting by another writer", as: .denied) {
      try await store.delete(segmentsOf: stream.replica, upTo: 9, snapshots: [], by: other)
    }
    try await store.delete(segmentsOf: stream.replica, upTo: 9, snapshots: [stream.snapshot(1, 1)], by: owner)
    try require(try await store.segments(after: 0, byteCount: 1 << 20, in: owner.space), is: [], "the segments")
    try require(try await store.snapshots(in: owner.space), is: [], "the snapshots")
    try require(try await store.replicas(in: owner.space)[stream.replica]?.head.number, is: 3, "the head")
    try require(try await store.space(owner.space)?.byteCount, is: rows(3), "the bytes")
  }
}

// Roles, recovery codes, and what an operator does.
extension HubStoreConformance {
  private func verifier() -> [UInt8] { token().bytes }

  func roles() async throws {
    let (owner, _) = try await space()
    let (first, second) = (token(), token())
    let (reader, writer) = (
      try await join(owner, as: .reader, token: first), try await join(owner, as: .writer, token: second)
    )
    var stream = SealedStream(in: owner.space)
    try await store.putCard([1], number: 1, of: stream.replica, by: reader, mostCards: .max)
    let segments = stream.next(2)
    try require(try await store.append([segments[0]], of: stream.replica, by: reader), is: [.denied], "a reader")
    try require(
      try await store.setRole(.owner, ofMemberOf: stream.replica, in: owner.space), is: reader.id, "the new owner")
    let grown = HubMember(id: reader.id, space: owner.space, role: .owner)
    try require(try await store.grant(for: first, in: owner.space), is: .member(grown), "the grant")
    // The role that the request was authorised with does not matter.
    try require(try await store.append([segments[0]], of: stream.replica, by: reader), is: [.stored(1)], "an owner")
    let code = verifier()
    try await store.putRecovery(code, isShared: false, by: grown, at: 1)
    _ = try await store.setRole(.reader, ofMemberOf: stream.replica, in: owner.space)
    try require(try await store.append([segments[1]], of: stream.replica, by: grown), is: [.denied], "a reader again")
    try require(try await store.recovery(code)?.isReplaced, is: true, "the code of a former owner")
    try await refuses("the code of a former owner", as: .denied) {
      try await store.putRecovery(verifier(), isShared: false, by: grown, at: 2)
    }
    try require(
      try await store.setRole(.owner, ofMemberOf: ReplicaID(UUID()), in: owner.space), is: nil, "an unknown replica")
    _ = try await store.revoke(stream.replica, behind: 1, in: owner.space)
    try require(
      try await store.setRole(.owner, ofMemberOf: stream.replica, in: owner.space), is: nil, "a revoked replica")
    try await refuses("the code of a writer", as: .denied) {
      try await store.putRecovery(verifier(), isShared: false, by: writer, at: 2)
    }
  }

  func recoveryCodes() async throws {
    let (owner, _) = try await space(limitInBytes: 20_000)
    let codes = (0..<4).map { _ in verifier() }
    try require(try await store.recovery(codes[0]), is: nil, "an unknown code")
    try require(
      try await store.addOwner(UUID(), token: token(), by: codes[0], in: owner.space), is: nil, "its owner")
    try await store.putRecovery(codes[0], isShared: false, by: owner, at: 1)
    try await store.putRecovery(codes[0], isShared: false, by: owner, at: 2)
    try require(
      try await store.recovery(codes[0]), is: HubRecovery(space: owner.space, isReplaced: false), "the code")
    let (id, known) = (UUID(), token())
    let second = HubMember(id: id, space: owner.space, role: .owner)
    for attempt in [id, UUID()] {
      let added = try await store.addOwner(attempt, token: known, by: codes[0], in: owner.space)
      try require(added, is: second, "the owner that it adds")
    }
    try require(try await store.grant(for: known, in: owner.space), is: .member(second), "its grant")
    try require(try await store.space(owner.space)?.byteCount, is: rows(2), "the bytes")
    let others = token()
    try await store.put(.revoked(owner.space), for: others, at: 0)
    try require(
      try await store.addOwner(UUID(), token: others, by: codes[0], in: owner.space), is: nil,
      "a token that was revoked")
    let (elsewhere, _) = try await space()
    try require(
      try await store.addOwner(UUID(), token: token(), by: codes[0], in: elsewhere.space), is: nil, "another space")
    // Each owner has one code, and a newer one replaces it.
    try await store.putRecovery(codes[1], isShared: false, by: second, at: 3)
    try require(Set(try await store.recoveries(in: owner.space)), is: Set(codes.prefix(2)), "the codes of both owners")
    try await store.putRecovery(codes[2], isShared: false, by: second, at: 4)
    try require(
      Set(try await store.recoveries(in: owner.space)), is: [codes[0], codes[2]], "the codes after a newer one")
    try await refuses("a code that was replaced", as: .replacedCode) {
      try await store.putRecovery(codes[1], isShared: false, by: second, at: 5)
    }
    try require(
      try await store.addOwner(UUID(), token: token(), by: codes[1], in: owner.space), is: nil,
      "an owner by a replaced code")
    // Revoking a member replaces all codes, because its device may have known one.
    let writer = try await join(owner, as: .writer)
    let replica = ReplicaID(UUID())
    try await store.putCard([1], number: 1, of: replica, by: writer, mostCards: .max)
    _ = try await store.revoke(replica, behind: 0, in: owner.space)
    try require(try await store.recoveries(in: owner.space), is: [], "the codes after a revocation")
    try require(try await store.recovery(codes[0])?.isReplaced, is: true, "what is known of an old code")
    try require(
      try await store.addOwner(UUID(), token: token(), by: codes[0], in: owner.space), is: nil,
      "an owner by an old code")
    // The oldest of those that were replaced are forgotten.
    for number in 0..<HubRowLimits.mostReplacedRecoveries + 5 {
      try await store.putRecovery(verifier(), isShared: false, by: owner, at: 10 + Int64(number))
    }
    try require(try await store.recovery(codes[0]), is: nil, "a code that was forgotten")
    try require(try await store.recoveries(in: owner.space).count, is: 1, "the codes that count")
  }

  func sharedCodes() async throws {
    let (owner, _) = try await space()
    let codes = (0..<5).map { _ in verifier() }
    try await store.putRecovery(codes[0], isShared: true, by: owner, at: 1)
    try require(try await store.recoveries(in: owner.space), is: [codes[0]], "the code that all could have")
    // A reader would have it, too.
    _ = try await join(owner, as: .reader)
    try require(try await store.recoveries(in: owner.space), is: [], "the codes beside a reader")
    try await refuses("such a code beside a reader", as: .sharedCode) {
      try await store.putRecovery(codes[1], isShared: true, by: owner, at: 2)
    }
    try await store.putRecovery(codes[2], isShared: false, by: owner, at: 3)
    let (other, _) = try await space()
    try await store.putRecovery(codes[3], isShared: true, by: other, at: 1)
    try await store.putRecovery(codes[4], isShared: false, by: other, at: 2)
    try require(try await store.recoveries(in: other.space), is: [codes[4]], "the codes after one of its owner's")
    try await refuses("a code that all could have beside one of an owner's", as: .sharedCode) {
      try await store.putRecovery(verifier(), isShared: true, by: other, at: 3)
    }
    try await refuses("a code of another space", as: .denied) {
      try await store.putRecovery(codes[4], isShared: false, by: owner, at: 4)
    }
  }

  func operating() async throws {
    let (first, token) = try await space(limitInBytes: 5_000)
    let (second, _) = try await space(limitInBytes: 7_000)
    var stream = SealedStream(in: first.space)
    let segment = stream.next(1)
    _ = try await store.append(segment, of: stream.replica, by: first)
    let reader = try await join(first, as: .reader)
    let code = verifier()
    try await store.putRecovery(code, isShared: false, by: first, at: 1)
    let spaces = try await store.spaces(after: nil, limit: 10)
    try require(spaces.map(\.space), is: [first, second].map { "\($0.space)" }.sorted(), "the spaces")
    guard let known = spaces.first(where: { $0.space == "\(first.space)" }) else {
      throw Unmet(description: "no space")
    }
    try require(known.members, is: ["owner": 1, "reader": 1], "the members")
    try require(known.replicas, is: 1, "the replicas")
    try require(known.bytes, is: segment[0].count + rows(2), "the bytes")
    try require(
      try await store.spaces(after: nil, limit: 1) + store.spaces(after: SpaceID(spaces[0].space), limit: 1),
      is: spaces,
      "the spaces in pages")
    let accounts = try await store.accounts(after: nil, limit: 10)
    try require(Set(accounts.map(\.limitInBytes)), is: [5_000, 7_000], "the accounts")
    try require(
      try await store.accounts(after: nil, limit: 1) + store.accounts(after: accounts[0].account, limit: 1),
      is: accounts,
      "the accounts in pages")
    guard let own = accounts.first(where: { $0.account == known.account }),
      let other = accounts.first(where: { $0.account != known.account })
    else { throw Unmet(description: "no account") }
    try require(own.bytes, is: known.bytes, "the bytes of the account")
    try await isFull("erasing an account with a space") { try await store.eraseAccount(own.account) }
    let heir = HubAccount(id: other.account, limitInBytes: other.limitInBytes)
    try require(try await store.give(first.space, to: heir), is: true, "giving")
    try require(try await store.give(SpaceID(), to: heir), is: false, "giving what is not there")
    try require(try await store.space(first.space)?.limitInBytes, is: 7_000, "the limit of another account")
    try require(try await store.spaceCount(of: heir.id), is: 2, "the spaces of the heir")
    try await store.eraseAccount(own.account)
    try require(try await store.account(own.account), is: nil, "an account that was erased")
    try require(try await store.eraseSpace(first.space), is: true, "erasing")
    try require(try await store.eraseSpace(first.space), is: false, "erasing again")
    try require(try await store.space(first.space), is: nil, "a space that was erased")
    try require(try await store.grant(for: token, in: first.space), is: nil, "the grant of its owner")
    try require(try await store.recovery(code), is: nil, "its recovery code")
    try require(try await store.segments(after: 0, byteCount: 9_999, in: first.space), is: [], "its segments")
    try require(try await store.replicas(in: first.space), is: [:], "its replicas")
    try await refuses("a card of a member of an erased space", as: .noSpace) {
      try await store.putCard([1], number: 1, of: ReplicaID(UUID()), by: reader, mostCards: .max)
    }
    try require(try await store.space(second.space)?.byteCount, is: rows(1), "the other space")
  }
}
