import TestSupport
import Testing

@testable import TallySync

struct SnapshotPartTests {
  private static func part(using random: inout SeededGenerator) -> (part: SnapshotPart, author: ReplicaID) {
    let (body, author) = SegmentBody.random(using: &random)
    let states = SnapshotPart.States(ascending: body.changes.map { ($0.object, $0.state) })
    var coverage: [ReplicaID: StreamPosition] = [:]
    for (replica, head) in body.seen {
      coverage[replica] = StreamPosition(number: head.number, hash: ContentHash(of: head.digest))
    }
    if Bool.random(using: &random) { coverage[author] = StreamPosition(number: 3, hash: ContentHash(of: [3])) }
    let summary = SnapshotSummary(
      coverage: coverage, madeAt: .random(in: .min ... .max, using: &random), stateHash: ContentHash(of: [4]),
      partCount: Int.random(in: 1...9, using: &random))
    return (SnapshotPart(summary: summary, states: states), author)
  }

  @Test func partsComeBack() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "partsComeBack"))
    for _ in 0..<200 {
      let (part, author) = Self.part(using: &random)
      #expect(try SnapshotPart(decoding: part.encoded(by: author), by: author) == part)
    }
  }

  @Test func changedBytesAreRefusedOrAreAnotherPart() {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "snapshot changedBytes"))
    var (refusals, others) = (0, 0)
    for _ in 0..<60 {
      let (part, author) = Self.part(using: &random)
      let bytes = part.encoded(by: author)
      for _ in 0..<50 {
        let changed = bytes.changed(using: &random)
        do throws(EnvelopeFault) {
          let other = try SnapshotPart(decoding: changed, by: author)
          #expect(other.encoded(by: author) == changed)
          others += 1
        } catch {
          refusals += 1
        }
      }
    }
    #expect(refusals > 0 && others > 0)
  }

  @Test func newerPartNeedsANewerVersion() {
    let author = ReplicaID(SimulatedSpace.id(1))
    #expect(throws: EnvelopeFault.needsNewerVersion) { try SnapshotPart(decoding: [2], by: author) }
    #expect(throws: EnvelopeFault.malformed(.endsEarly)) { try SnapshotPart(decoding: [], by: author) }
    // A count of replicas that memory would have to hold.
    #expect(throws: EnvelopeFault.malformed(.endsEarly)) {
      try SnapshotPart(decoding: [1, 0xFF, 0xFF, 0xFF, 0x0F], by: author)
    }
  }

  @Test func coverageHashFollowsFromTheCoverageAlone() {
    let (first, second) = (ReplicaID(SimulatedSpace.id(1)), ReplicaID(SimulatedSpace.id(2)))
    let position = StreamPosition(number: 1, hash: ContentHash(of: [1]))
    let summary = SnapshotSummary(
      coverage: [first: position, second: position], madeAt: 1, stateHash: ContentHash(of: [2]), partCount: 1)
    var other = summary
    (other.madeAt, other.stateHash, other.partCount) = (2, ContentHash(of: [3]), 2)
    #expect(other.coverageHash == summary.coverageHash)
    other.coverage[second] = StreamPosition(number: 2, hash: position.hash)
    #expect(other.coverageHash != summary.coverageHash)
    other.coverage[second] = StreamPosition(number: 1, hash: ContentHash(of: [9]))
    #expect(other.coverageHash != summary.coverageHash)
  }
}
