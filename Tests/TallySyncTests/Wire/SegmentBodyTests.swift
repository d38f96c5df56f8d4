import Foundation
import TestSupport
import Testing

@testable import TallySync

struct SegmentBodyTests {
  private static func id(_ last: UInt8) -> [UInt8] { [UInt8](repeating: 0, count: 15) + [last] }

  /// A change of two registers, up to the count of the writes that it replaces.
  private static let twoRegisters = [1] + id(9) + [2, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0]

  @Test func bodiesComeBack() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "segment bodiesComeBack"))
    for _ in 0..<200 {
      let (body, author) = SegmentBody.random(using: &random)
      #expect(try SegmentBody(decoding: body.encoded(by: author), by: author) == body)
    }
  }

  @Test func changedBytesAreRefusedOrAreAnotherBody() {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "segment changedBytes"))
    var (refusals, others) = (0, 0)
    for _ in 0..<60 {
      let (body, author) = SegmentBody.random(using: &random)
      let bytes = body.encoded(by: author)
      for _ in 0..<50 {
        let changed = bytes.changed(using: &random)
        do throws(EnvelopeFault) {
          let other = try SegmentBody(decoding: changed, by: author)
          #expect(other.encoded(by: author) == changed)
          others += 1
        } catch {
          refusals += 1
        }
      }
    }
    #expect(refusals > 0 && others > 0)
  }

  @Test func randomBytesAreRefused() {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "segment randomBytes"))
    let author = ReplicaID(SimulatedSpace.id(1))
    for _ in 0..<2_000 {
      let bytes = [1] + [UInt8].random(count: Int.random(in: 0...300, using: &random), using: &random)
      guard let body = try? SegmentBody(decoding: bytes, by: author) else { continue }
      #expect(body.encoded(by: author) == bytes)
    }
  }

  @Test func newerBodyNeedsANewerVersion() {
    let author = ReplicaID(SimulatedSpace.id(1))
    #expect(throws: EnvelopeFault.needsNewerVersion) { try SegmentBody(decoding: [2, 0xFF], by: author) }
    #expect(throws: EnvelopeFault.malformed(.impossibleValue)) { try SegmentBody(decoding: [0], by: author) }
    #expect(throws: EnvelopeFault.malformed(.endsEarly)) { try SegmentBody(decoding: [], by: author) }
  }

  @Test(
    arguments: [
      // A count of replicas, of others, of changes that memory would have to hold.
      ([0xFF, 0xFF, 0xFF, 0x0F], .endsEarly), ([0, 0xFF, 0xFF, 0xFF, 0x0F], .endsEarly),
      ([0, 0, 0xFF, 0xFF, 0xFF, 0x0F], .endsEarly), ([0, 0, 0, 0], .trailingBytes),
      // The author among the others.
      ([0, 1] + [UInt8](repeating: 0, count: 14) + [0, 1, 0], .notCanonical),
      // A replica that nobody names.
      ([0, 1] + [UInt8](repeating: 0, count: 14) + [0, 2, 0], .notCanonical),
      // Replicas out of order.
      ([2] + id(3) + [UInt8](repeating: 0, count: 9) + id(2) + [UInt8](repeating: 0, count: 11), .notCanonical),
      ([0, 2] + id(3) + id(2) + [0], .notCanonical),
      // Replaced writes out of order, and twice.
      ([0, 0, 1] + twoRegisters + [2, 1, 0, 0, 0, 0, 0], .notCanonical),
      ([0, 0, 1] + twoRegisters + [2, 1, 0, 0, 1, 0, 0], .notCanonical),
      // Of a register that the change does not write.
      ([0, 0, 1] + twoRegisters + [1, 2, 0, 0], .impossibleValue),
    ] as [([UInt8], CodingFault)])
  func bytesThatNobodyWritesAreNamed(bytes: [UInt8], fault: CodingFault) {
    let author = ReplicaID(SimulatedSpace.id(1))
    #expect(throws: EnvelopeFault.malformed(fault)) { try SegmentBody(decoding: [1, 0] + bytes, by: author) }
  }

  @Test func changesOfOneObjectAreJoined() {
    let (replica, object) = (ReplicaID(SimulatedSpace.id(1)), ObjectKey(isList: false, id: SimulatedSpace.id(2)))
    let first = ObjectState().setting(.title, to: [1], at: 5, by: replica)
    let second = first.setting(.title, to: [2], at: 6, by: replica)
    let (before, between) = (Stamp(time: 1, replica: replica), Stamp(time: 5, replica: replica))
    let body = SegmentBody(
      sealedAt: 1_700_000_000_000_000, seen: [:],
      changes: [
        ObjectChange(object: object, state: first, replaced: [.title: before, .notes: before]),
        ObjectChange(object: object, state: second, replaced: [.title: between]),
      ])
    #expect(body.changes == [ObjectChange(object: object, state: second, replaced: [.title: before])])
  }

  @Test func changesAreDividedByTheirSize() {
    let replica = ReplicaID(SimulatedSpace.id(1))
    let changes = (0..<50).map { number in
      let value = [UInt8](repeating: 1, count: number == 20 ? 5_000 : 100)
      return ObjectChange(
        object: ObjectKey(isList: false, id: SimulatedSpace.id(number)),
        state: ObjectState().setting(.title, to: value, at: 5, by: replica))
    }
    let segments = SegmentBody.divide(changes, limitInBytes: 1_000)
    #expect(segments.flatMap(\.self) == changes)
    #expect(segments.contains { $0 == [changes[20]] })
    for segment in segments where segment.count > 1 {
      #expect(
        SegmentBody(sealedAt: 1_700_000_000_000_000, seen: [:], changes: segment).encoded(by: replica).count <= 1_000)
    }
    #expect(segments.count < 10)
    #expect(SegmentBody.divide([]).isEmpty)
  }
}

/// The sizes that `docs/synchronisation.md` and its readers count on.
struct WireSizeTests {
  private let sample = WireSample()
  /// 2026-01-01.
  private let now: Int64 = 1_767_225_600_000_000

  private func seen(_ count: Int) -> [ReplicaID: SegmentHead] {
    Dictionary(
      uniqueKeysWithValues: (0..<count).map { number in
        (ReplicaID(UUID()), SegmentHead(number: UInt64(1_000 + number), digest: [1, 2, 3, 4, 5, 6, 7, 8]))
      })
  }

  @Test func editOfATitleTakesAtMost350Bytes() throws {
    let title = Array("Call the dentist about Tuesday".utf8)
    let state = ObjectState(registers: [.title: Register(time: now, replica: sample.author, value: title)])
    let other = ReplicaID(UUID())
    for (seen, replaced) in [(seen(0), sample.author), (seen(1), sample.author), (seen(0), other)] {
      let change = ObjectChange(
        object: ObjectKey(isList: false, id: UUID()), state: state,
        replaced: [.title: Stamp(time: now - 3_600_000_000, replica: replaced)])
      let body = SegmentBody(sealedAt: 1_700_000_000_000_000, seen: seen, changes: [change]).encoded(by: sample.author)
      let envelope = try sample.envelope(body)
      print("title edit, \(seen.count) seen: body \(body.count) bytes, envelope \(envelope.bytes.count) bytes")
      #expect(envelope.bytes.count <= 350)
    }
  }

  @Test func thousandCreationsTakeAtMost110BytesEachBesideTheirTexts() throws {
    let list = Array(ReplicaID(UUID()).bytes)
    var textByteCount = 0
    let changes = (0..<1_000).map { number in
      let title = Array("Task number \(number)".utf8)
      textByteCount += title.count
      let fields: [(ObjectState.Field, [UInt8])] = [
        (.order, Int64(number << 20).bigEndianBytes), (.list, list), (.title, title),
        (.scheduledDate, [1, 2, 3, 4]), (.created, now.bigEndianBytes),
      ]
      var registers: SortedTable<ObjectState.Field, Register> = [:]
      for (field, value) in fields {
        registers[field] = Register(time: now + Int64(number), replica: sample.author, value: value)
      }
      return ObjectChange(
        object: ObjectKey(isList: false, id: UUID()),
        state: ObjectState(registers: registers))
    }
    let body = SegmentBody(sealedAt: 1_700_000_000_000_000, seen: seen(4), changes: changes).encoded(by: sample.author)
    let each = (try sample.envelope(body).bytes.count - textByteCount) / 1_000
    print("1,000 creations: \(each) bytes each beside their texts")
    #expect(each <= 110)
  }
}
