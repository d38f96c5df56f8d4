import Foundation
import TestSupport
import Testing

@testable import TallySync

struct StateCodingTests {
  private static func number(_ replica: ReplicaID) -> UInt64 { UInt64(numbers[replica] ?? 99) }

  private static func replica(_ number: UInt64) -> ReplicaID? {
    numbers.first { UInt64($0.value) == number }?.key
  }

  /// Some hundred replicas, with numbers in another order than their ids.
  private static let numbers: [ReplicaID: Int] = {
    let replicas = SimulatedSpace(replicaCount: 5).replicas.map(\.id)
    return Dictionary(uniqueKeysWithValues: replicas.enumerated().map { ($1, ($0 &* 37) % 200) })
  }()

  private static func states(using random: inout SeededGenerator) -> [ObjectState] {
    RandomSpace.make(operationCount: 60, using: &random).replicas.flatMap { $0.objects.values }
  }

  @Test func statesComeBack() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "statesComeBack"))
    for _ in 0..<20 {
      for state in Self.states(using: &random) {
        let bytes = state.encoded(numbering: Self.number)
        #expect(try ObjectState(decoding: bytes, replica: Self.replica) == state)
      }
    }
  }

  @Test func namesOfAttributesComeBack() throws {
    let replica = try #require(Self.replica(37))
    var state = ObjectState()
    for name in ["", "client", "é", "e\u{301}"] {
      state.join(state.setting(ObjectState.Field(14, name: name), to: Array(name.utf8), at: 5, by: replica))
    }
    #expect(state.registers.count == 4, "texts that Unicode considers equivalent are different names")
    let bytes = state.encoded(numbering: Self.number)
    #expect(try ObjectState(decoding: bytes, replica: Self.replica) == state)
  }

  /// Bytes that differ are refused, or are the one form of another state.
  @Test func changedBytesAreRefusedOrAreAnotherState() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "changedBytes"))
    var (refusals, others) = (0, 0)
    for state in Self.states(using: &random) {
      let bytes = state.encoded(numbering: Self.number)
      for _ in 0..<50 {
        var changed = bytes
        switch Int.random(in: 0..<3, using: &random) {
        case 0: changed.removeLast(Int.random(in: 1...changed.count, using: &random))
        case 1: changed[Int.random(in: changed.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        default: changed.append(UInt8.random(in: .min ... .max, using: &random))
        }
        do {
          let other = try ObjectState(decoding: changed, replica: Self.replica)
          #expect(other.encoded(numbering: Self.number) == changed)
          others += 1
        } catch {
          refusals += 1
        }
      }
    }
    #expect(refusals > 0 && others > 0)
  }

  @Test(
    arguments: [
      ([], .endsEarly), ([0], .endsEarly), ([0, 0, 0], .trailingBytes), ([0x80, 0x00, 0], .numberTooLong),
      ([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02], .numberTooLarge),
      // A count that memory would have to hold.
      ([0xFF, 0xFF, 0xFF, 0xFF, 0x0F], .endsEarly),
      ([1, 6, 0, 2, 0, 9, 0, 0], .unknownReplica),
    ] as [([UInt8], CodingFault)])
  func bytesThatNobodyWritesAreNamed(bytes: [UInt8], fault: CodingFault) {
    #expect(throws: fault) { try ObjectState(decoding: bytes, replica: Self.replica) }
  }
}
