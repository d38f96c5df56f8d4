import Foundation
import Testing

@testable import Tally

struct UUIDv7Tests {
  private let now = Timestamp(clamping: 1_795_262_400_123_456)

  @Test func idsCarryVersionVariantAndTime() throws {
    let id = UUIDv7Generator().next(at: now)
    let text = Array(id.uuidString)
    #expect(text[14] == "7")
    #expect("89AB".contains(text[19]))
    #expect(UUIDv7.timestamp(of: id)?.microsecondsSince1970 == 1_795_262_400_123_000)
    #expect(UUIDv7.timestamp(of: UUID()) == nil)
  }

  @Test func theExampleOfRFC9562IsRead() throws {
    let id = try #require(UUID(uuidString: "017F22E2-79B0-7CC3-98C4-DC0C0C07398F"))
    #expect(UUIDv7.timestamp(of: id)?.iso8601 == "2022-02-22T19:22:22Z")
  }

  @Test func idsAscendWithinOneMillisecondBeyondTheCounter() {
    let generator = UUIDv7Generator { [now] in now }
    let ids = (0..<20_000).map { _ in generator.next().uuidString }
    #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
    // 20,000 ids use the counter up four to ten times: the time in them runs ahead by that many milliseconds.
    let lastTime = UUID(uuidString: ids[19_999]).flatMap(UUIDv7.timestamp(of:))
    #expect((4...10).contains((lastTime?.microseconds(since: now) ?? 0) / 1_000 + 1))
  }

  @Test func idsWithASeedAreTheSameInEveryRun() throws {
    func ids(seed: UInt64?) -> [UUID] {
      let generator = UUIDv7Generator(clock: { [now] in now }, seed: seed)
      return (0..<3).map { _ in generator.next() }
    }
    #expect(ids(seed: 1) == ids(seed: 1))
    #expect(Set(ids(seed: 1) + ids(seed: 2) + ids(seed: nil) + ids(seed: nil)).count == 12)
    // Written down: a test that compares ids must not change with a new version.
    #expect(ids(seed: 1)[0].uuidString == "01A1FDFA-467B-74C1-AFBA-E3685963BB19")
    #expect(UUIDv7.timestamp(of: ids(seed: 1)[2])?.microseconds(since: now) == -456)
  }

  @Test func idsAscendWhenTheClockGoesBack() {
    let generator = UUIDv7Generator()
    let instants = [now, now.adding(seconds: -3_600), .earliest, now.adding(seconds: -1), now.adding(seconds: 1)]
    let ids = instants.map { generator.next(at: $0) }
    #expect(zip(ids, ids.dropFirst()).allSatisfy { $0.uuidString < $1.uuidString })
    #expect(UUIDv7.timestamp(of: ids[3])?.iso8601 == "2026-11-21T12:00:00.123Z")
    #expect(UUIDv7.timestamp(of: ids[4])?.iso8601 == "2026-11-21T12:00:01.123Z")
  }

  @Test func theEndsOfTheRangeCanBeStamped() {
    #expect(UUIDv7.timestamp(of: UUIDv7Generator().next(at: .earliest))?.microsecondsSince1970 == 0)
    #expect(UUIDv7.timestamp(of: UUIDv7Generator().next(at: .latest))?.iso8601 == "9999-12-31T23:59:59.999Z")
  }

  @Test func idsOfManyThreadsAreUniqueAndAscendInEach() async {
    let all = await withTaskGroup(of: [UUID].self, returning: [[UUID]].self) { group in
      for _ in 0..<8 {
        group.addTask { (0..<2_000).map { _ in UUIDv7.next() } }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for ids in all { #expect(zip(ids, ids.dropFirst()).allSatisfy { $0.uuidString < $1.uuidString }) }
    #expect(Set(all.joined()).count == 16_000)
  }
}
