import Foundation
import HubSamples
import HubStorage
import TallySync

// Appending and reading segments, and who may.
extension HubStoreConformance {
  func segmentsGetPositions() async throws {
    let (member, _) = try await space()
    var (first, second) = (SealedStream(in: member.space), SealedStream(in: member.space))
    let (a, b) = (first.next(2), second.next(1))
    try require(try await store.append(a, of: first.replica, by: member), is: [.stored(1), .stored(2)], "answers")
    try require(try await store.append(b, of: second.replica, by: member), is: [.stored(3)], "answers")
    try require(try await store.append([], of: second.replica, by: member), is: [], "answers to nothing")
    let all = try await store.segments(after: 0, byteCount: 1 << 20, in: member.space)
    try require(all, is: zip(UInt64(1)..., a + b).map { HubSegment(position: $0, bytes: $1) }, "all segments")
    try require(
      try await store.segments(of: first.replica, after: 1, byteCount: 9_999, in: member.space).map(\.bytes),
      is: [a[1]],
      "the segments of the first replica")
    let replicas = try await store.replicas(in: member.space)
    try require(replicas[first.replica]?.head, is: SegmentHead(of: a[1]), "the head")
    try require(try await store.space(member.space)?.position, is: 3, "the position")
    try require(
      try await store.space(member.space)?.byteCount, is: (a + b).reduce(rows(1)) { $0 + $1.count }, "the bytes")
  }

  func repeatedSegments() async throws {
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

  func gaps() async throws {
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

  func denials() async throws {
    let (owner, _) = try await space()
    var stream = SealedStream(in: owner.space)
    let segments = stream.next(3)
    let reader = HubMember(id: UUID(), space: owner.space, role: .reader)
    try require(try await store.append(segments, of: stream.replica, by: reader), is: [.denied], "a reader")
    let invitation = token(), joined = token()
    try await store.put(.invitation(owner.space, .writer, by: owner.id, expiresAt: 10), for: invitation, at: 0)
    guard let writer = try await store.join(owner.space, as: UUID(), token: joined, by: invitation, at: 0) else {
      throw Unmet(description: "no member")
    }
    _ = try await store.append([segments[0]], of: stream.replica, by: writer)
    try require(try await store.append([segments[1]], of: stream.replica, by: owner), is: [.denied], "another member")
    try require(try await store.revoke(stream.replica, behind: 2, in: owner.space), is: writer.id, "revoking")
    try require(try await store.revoke(stream.replica, behind: 5, in: owner.space), is: writer.id, "revoking again")
    try require(
      try await store.grant(for: joined, in: owner.space), is: .revoked(owner.space), "the token of a revoked member")
    try require(
      try await store.append(Array(segments.dropFirst()), of: stream.replica, by: writer), is: [.denied],
      "a revoked replica")
    try require(try await store.revoke(ReplicaID(UUID()), behind: 0, in: owner.space), is: nil, "an unknown one")
  }

  func replicaIsOfOneMember() async throws {
    let (owner, _) = try await space()
    let (invitation, late, joined) = (token(), token(), token())
    try await store.put(.invitation(owner.space, .writer, by: owner.id, expiresAt: 10), for: invitation, at: 0)
    guard let other = try await store.join(owner.space, as: UUID(), token: joined, by: invitation, at: 0) else {
      throw Unmet(description: "no member")
    }
    try await store.put(.invitation(owner.space, .writer, by: other.id, expiresAt: 10), for: late, at: 0)
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
    try require(try await store.allCards(in: owner.space), is: [stream.replica: [1]], "the cards")
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

  func malformed() async throws {
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

  func readingStops() async throws {
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

  func concurrentAppends() async throws {
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

  /// A store may combine them: each has its own answer all the same, and what one is refused the others get.
  func appendsThatFail() async throws {
    let (good, _) = try await space(limitInBytes: 1 << 20)
    let (full, _) = try await space(limitInBytes: 10)
    let stranger = HubMember(id: UUID(), space: good.space, role: .writer)
    let nowhere = HubMember(id: UUID(), space: SpaceID(), role: .owner)
    let count = 12
    try await withThrowingTaskGroup { group in
      for _ in 0..<count {
        group.addTask {
          var stream = SealedStream(in: good.space)
          for segment in stream.next(3) {
            guard case .stored = try await store.append([segment], of: stream.replica, by: good).first else {
              throw Unmet(description: "a segment that fits is not stored")
            }
          }
          let late = try await store.append([stream.next(2)[1]], of: stream.replica, by: good)
          guard case .gap = late.first else { throw Unmet(description: "a late segment: \(late)") }
        }
        group.addTask {
          var stream = SealedStream(in: full.space)
          let answers = try await store.append(stream.next(2), of: stream.replica, by: full)
          try require(answers, is: [.quota], "the answer of a full space")
        }
        group.addTask {
          var stream = SealedStream(in: good.space)
          let answers = try await store.append(stream.next(2), of: stream.replica, by: stranger)
          try require(answers, is: [.denied], "the answer to a stranger")
        }
        group.addTask {
          var stream = SealedStream(in: nowhere.space)
          do {
            _ = try await store.append(stream.next(1), of: stream.replica, by: nowhere)
            throw Unmet(description: "a segment of no space is stored")
          } catch HubStoreError.noSpace {}
        }
      }
      try await group.waitForAll()
    }
    let positions = try await store.segments(after: 0, byteCount: 1 << 20, in: good.space).map(\.position)
    try require(positions, is: Array(1...UInt64(3 * count)), "the positions")
    try require(try await store.space(good.space)?.changeCount, is: UInt64(3 * count), "the changes")
    try require(try await store.space(full.space)?.changeCount, is: 0, "the changes of the full space")
  }
}
