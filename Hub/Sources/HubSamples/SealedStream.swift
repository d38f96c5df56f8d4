import Crypto
import Foundation
package import TallySync

/// Makes envelopes of one replica that nobody can open, with random contents and a correct chain.
package struct SealedStream: Sendable {
  /// The author of the segments.
  package let replica: ReplicaID
  private let space: SpaceID
  private var previous = [UInt8](repeating: 0, count: 32)
  private var number: UInt64 = 0

  /// Begins a stream in a space.
  package init(in space: SpaceID, of replica: ReplicaID = ReplicaID(UUID())) {
    (self.space, self.replica) = (space, replica)
  }

  /// The next segments.
  package mutating func next(_ count: Int, bodyByteCount: Int = 64) -> [[UInt8]] {
    (0..<count).map { _ in
      number += 1
      let bytes = envelope(kind: 1, number: number, bodyByteCount: bodyByteCount)
      previous = Array(SHA256.hash(data: bytes))
      return bytes
    }
  }

  /// A card of the replica.
  package func card() -> (replica: ReplicaID, bytes: [UInt8]) {
    (replica, envelope(kind: 3, number: 1, bodyByteCount: 64))
  }

  /// A card with a body of some size.
  package func largeCard(_ bodyByteCount: Int) -> [UInt8] { envelope(kind: 3, number: 1, bodyByteCount: bodyByteCount) }

  /// The name of a snapshot.
  package func snapshot(_ number: UInt64, _ partCount: Int) -> SnapshotName {
    SnapshotName(replica: replica, number: number, digest: Array(1...8), partCount: partCount)
  }

  private func envelope(kind: UInt8, number: UInt64, bodyByteCount: Int) -> [UInt8] {
    var bytes = Array("TLYS".utf8) + [1, kind, 1, 0] + space.bytes + replica.bytes
    bytes += bigEndian(UInt32(1)) + bigEndian(number) + previous + random(32) + bigEndian(UInt32(bodyByteCount))
    return bytes + random(bodyByteCount + 64)
  }

  private func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    stride(from: value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private func random(_ count: Int) -> [UInt8] {
    let bytes = (0..<(count + 7) / 8).flatMap { _ in bigEndian(UInt64.random(in: .min ... .max)) }
    return Array(bytes.prefix(count))
  }
}
