import Foundation
import TestSupport

@testable import TallySync

/// Replicas of a space with their keys, and random things for them to write.
struct WireSample {
  let replicas = (1...3).map { ReplicaID(SimulatedSpace.id($0)) }
  let keys = [ReplicaKeys(), ReplicaKeys(), ReplicaKeys()]
  let space = SpaceKeys(space: SpaceID(), epoch: 2, keys: [1: SpaceKey(), 2: SpaceKey()])

  var author: ReplicaID { replicas[0] }

  var unencrypted: SpaceKeys { SpaceKeys(unencrypted: space.space) }

  func label(_ kind: EnvelopeHeader.Kind = .segment, number: UInt64 = 7) -> EnvelopeHeader.Label {
    EnvelopeHeader.Label(kind: kind, replica: author, number: number, link: ContentHash(of: [1]))
  }

  func envelope(_ body: [UInt8], kind: EnvelopeHeader.Kind = .segment, in space: SpaceKeys? = nil) throws -> Envelope {
    try Envelope(sealing: body, as: label(kind), with: keys[0], in: space ?? self.space)
  }

  /// Opens bytes as the segment of the author.
  func open(_ bytes: [UInt8], in space: SpaceKeys? = nil) throws(EnvelopeFault) -> [UInt8] {
    try Envelope(parsing: bytes)
      .open(as: .segment, of: author, verifying: keys[0].verifyingKey, in: space ?? self.space)
  }
}

extension SegmentBody {
  /// A random body, with objects of kinds that nobody knows.
  static func random(using random: inout SeededGenerator) -> (body: SegmentBody, author: ReplicaID) {
    let space = RandomSpace.make(operationCount: Int.random(in: 0...60, using: &random), using: &random)
    let replicas = space.replicas.map(\.id)
    let objects = space.replicas[0].objects
    let changes = objects.sorted { $0.key.id.uuidString < $1.key.id.uuidString }.map { object, state in
      let kinds: [UInt8] = [1, 2, 0, 9, 255]
      return ObjectChange.random(
        ObjectKey(kind: kinds.randomElement(using: &random) ?? 1, id: object.id), state, by: replicas, using: &random)
    }
    var seen: [ReplicaID: SegmentHead] = [:]
    for replica in replicas.dropFirst() where Bool.random(using: &random) {
      let digest = (0..<8).map { _ in UInt8.random(in: .min ... .max, using: &random) }
      seen[replica] = SegmentHead(number: .random(in: 0...UInt64.max, using: &random), digest: digest)
    }
    return (SegmentBody(sealedAt: 1_700_000_000_000_000, seen: seen, changes: changes), replicas[0])
  }
}

extension ObjectChange {
  fileprivate static func random(
    _ object: ObjectKey, _ state: ObjectState, by replicas: [ReplicaID], using random: inout SeededGenerator
  ) -> ObjectChange {
    var replaced: [ObjectState.Field: Stamp] = [:]
    for field in state.registers.keys.sorted() where Bool.random(using: &random) {
      guard let replica = replicas.randomElement(using: &random) else { continue }
      let times: [Int64] = [0, 5, .min, .max, .random(in: .min ... .max, using: &random)]
      replaced[field] = Stamp(time: times.randomElement(using: &random) ?? 0, replica: replica)
    }
    return ObjectChange(object: object, state: state, replaced: replaced)
  }
}

extension [UInt8] {
  /// Cut, changed in one bit, or longer by a byte.
  func changed(using random: inout SeededGenerator) -> [UInt8] {
    var changed = self
    switch Int.random(in: 0..<3, using: &random) {
    case 0: changed.removeLast(Int.random(in: 1...changed.count, using: &random))
    case 1: changed[Int.random(in: changed.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    default: changed.append(UInt8.random(in: .min ... .max, using: &random))
    }
    return changed
  }

  static func random(count: Int, using random: inout SeededGenerator) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
  }
}
