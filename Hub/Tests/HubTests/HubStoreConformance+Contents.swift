import Foundation
import HubSamples
import HubStorage
import TallySync

// Cards, snapshots, deleting, and what fits into a space.
extension HubStoreConformance {
  func quota() async throws {
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

  func limits() async throws {
    let account = HubAccount(id: UUID(), limitInBytes: 10_000)
    try await store.put(account)
    // Other beginnings: in several databases, if there are any.
    let ids = [0x00, 0xFF, 0x00].compactMap { (first: UInt8) in
      SpaceID(bytes: [first] + (0..<15).map { _ in UInt8.random(in: .min ... .max) })
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
    try require(try await store.spaceCount(of: account.id), is: 2, "the spaces of the account")
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
      try await store.allCards(in: members[0].space), is: [replicas[0]: [2], replicas[1]: [1]], "the cards")
  }

  func cards() async throws {
    let (member, _) = try await space()
    let replica = ReplicaID(UUID())
    for (number, byte) in [(1, 1), (3, 3), (2, 2), (3, 4)] as [(UInt64, UInt8)] {
      try await store.putCard([byte], number: number, of: replica, by: member, mostCards: .max)
    }
    try require(try await store.allCards(in: member.space), is: [replica: [4]], "the cards")
  }

  func snapshots() async throws {
    let (member, _) = try await space()
    let stream = SealedStream(in: member.space)
    let (old, new) = (stream.snapshot(1, 2), stream.snapshot(2, 1))
    try await store.putPart([1], number: 0, of: old, by: member)
    try await store.putPart([1], number: 0, of: old, by: member)
    try require(try await store.snapshots(in: member.space), is: [], "snapshots before the last part")
    try await store.putPart([2, 2], number: 1, of: old, by: member)
    try await store.putPart([3], number: 0, of: new, by: member)
    try require(try await store.snapshots(in: member.space), is: [new, old], "snapshots")
    try require(try await store.wholePart(1, of: old, in: member.space), is: [2, 2], "a part")
    try require(try await store.wholePart(2, of: old, in: member.space), is: nil, "a part behind the last")
    try require(try await store.space(member.space)?.byteCount, is: 4 + rows(4), "the bytes")
    // One that was interrupted is deleted when its author begins another one.
    try await store.putPart([4, 4], number: 0, of: stream.snapshot(3, 2), by: member)
    try await store.putPart([5], number: 0, of: stream.snapshot(4, 2), by: member)
    try require(
      try await store.wholePart(0, of: stream.snapshot(3, 2), in: member.space), is: nil, "an interrupted snapshot")
    try require(try await store.space(member.space)?.byteCount, is: 5 + rows(5), "the bytes")
    try require(try await store.snapshots(in: member.space), is: [new, old], "snapshots")
    do {
      try await store.putPart([1], number: 2, of: old, by: member)
      throw Unmet(description: "a part behind the last is stored")
    } catch HubStoreError.malformed {}
  }

  func deleting() async throws {
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
    try require(try await store.space(member.space)?.byteCount, is: segments[2].count + rows(1), "the bytes")
    try require(
      try await store.append(stream.next(1), of: stream.replica, by: member), is: [.stored(4)], "the next segment")
  }

  func changes() async throws {
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
}
