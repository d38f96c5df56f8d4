import Crypto
import Foundation
import TallySync

/// Makes envelopes of one replica that nobody can open, with random contents and a correct chain.
struct SampleStream: Sendable {
  struct Segment: Hashable, Sendable {
    let replica: ReplicaID
    let bytes: [UInt8]
    let head: SegmentHead
  }

  private enum Kind: UInt8 {
    case segment = 1
    case snapshotPart = 2
    case card = 3
  }

  let replica: ReplicaID
  private let space: [UInt8]
  private let replicaBytes: [UInt8]
  /// The hash of the last segment.
  private var previous = [UInt8](repeating: 0, count: SHA256.byteCount)
  private var number: UInt64 = 0

  init(in space: [UInt8]) {
    self.space = space
    let id = UUID()
    replica = ReplicaID(id)
    let text = id.uuidString.filter { $0 != "-" }
    replicaBytes = stride(from: 0, to: text.count, by: 2).compactMap { offset in
      UInt8(text.dropFirst(offset).prefix(2), radix: 16)
    }
  }

  /// The next segment.
  mutating func next(bodyByteCount: Int = 64) -> Segment {
    number += 1
    let bytes = envelope(.segment, number: number, previous: previous, bodyByteCount: bodyByteCount)
    previous = Array(SHA256.hash(data: bytes))
    return Segment(replica: replica, bytes: bytes, head: SegmentHead(number: number, digest: previous))
  }

  /// The next segments.
  mutating func next(_ count: Int) -> [Segment] { (0..<count).map { _ in next() } }

  /// A card.
  func card(_ number: UInt64) -> [UInt8] {
    envelope(.card, number: number, previous: [UInt8](repeating: 0, count: SHA256.byteCount), bodyByteCount: 64)
  }

  /// The name of a snapshot of the replica.
  func snapshot(_ number: UInt64, partCount: Int) -> SnapshotName {
    SnapshotName(
      replica: replica, number: number, digest: (0..<UInt8(SegmentHead.digestByteCount)).map { $0 &+ UInt8(number) },
      partCount: partCount)
  }

  /// A part of a snapshot.
  func part(_ number: Int) -> [UInt8] {
    envelope(.snapshotPart, number: UInt64(number), previous: previous, bodyByteCount: 128)
  }

  private func envelope(_ kind: Kind, number: UInt64, previous: [UInt8], bodyByteCount: Int) -> [UInt8] {
    var bytes = Array("TLYS".utf8) + [1, kind.rawValue, 1, 0]
    bytes += space + replicaBytes
    bytes += bigEndian(UInt32(1)) + bigEndian(number)
    bytes += previous + random(32)
    bytes += bigEndian(UInt32(bodyByteCount))
    return bytes + random(bodyByteCount) + random(64)
  }

  private func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    stride(from: value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private func random(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }
}
