import Foundation

/// The clear part of an envelope, at its beginning; the layout is in `docs/synchronisation.md`.
struct EnvelopeHeader: Hashable, Sendable {
  /// The kinds, as written: do not change.
  enum Kind: UInt8, Sendable, CaseIterable {
    case segment = 1
    case snapshotPart = 2
    case card = 3
  }

  /// The identity of an envelope: what its author decides, before any sealing.
  struct Label: Hashable, Sendable {
    var kind: Kind
    /// Who has written it.
    var replica: ReplicaID
    /// Of the segment, from 1; of the snapshot's part, from 0; of the card.
    var number: UInt64
    /// The hash of the previous segment; of what the snapshot covers; none in a card.
    var link = ContentHash.none
  }

  static let byteCount = 120
  static let saltByteCount = 32
  static let tagByteCount = 16
  /// The largest envelope that is written or read.
  static let maximumByteCount = 8 << 20

  let label: Label
  let space: SpaceID
  let isSealed: Bool
  /// The number of the key; 0 for an unsealed body.
  let epoch: UInt32
  /// Random; zeros for an unsealed body.
  let salt: [UInt8]
  let bodyByteCount: Int

  /// The number of bytes of the whole envelope, at which the next one begins in a file of several.
  var totalByteCount: Int { Self.byteCount + bodyByteCount + VerifyingKey.signatureByteCount }

  static let magic = Array("TLYS".utf8)
  private static let format: UInt8 = 1
  private static let sealedFlag: UInt8 = 1

  init(label: Label, space: SpaceID, isSealed: Bool, epoch: UInt32, salt: [UInt8], bodyByteCount: Int) {
    (self.label, self.space, self.isSealed) = (label, space, isSealed)
    (self.epoch, self.salt, self.bodyByteCount) = (epoch, salt, bodyByteCount)
  }

  /// The bytes of the header.
  var bytes: [UInt8] {
    let flags = isSealed ? Self.sealedFlag : 0
    return Self.magic + [Self.format, label.kind.rawValue, flags, 0] + space.bytes + label.replica.bytes
      + epoch.bigEndianBytes + label.number.bigEndianBytes + label.link.bytes + salt
      + UInt32(bodyByteCount).bigEndianBytes
  }

  /// Reads the header at the beginning of some bytes.
  ///
  /// - Parameter bytes: An envelope, several ones, or anything else.
  /// - Throws: ``EnvelopeFault`` for anything that is not a header of this version.
  init(parsing bytes: some Sequence<UInt8>) throws(EnvelopeFault) {
    let start = Array(bytes.prefix(Self.byteCount))
    guard start.prefix(4) == Self.magic.prefix(start.count) else { throw .notAnEnvelope }
    guard start.count < 5 || start[4] == Self.format else { throw .needsNewerVersion }
    guard start.count == Self.byteCount, let space = SpaceID(bytes: start[8..<24]) else { throw .tooShort }
    guard let frame = SegmentFrame(start), start[6] <= Self.sealedFlag, start[7] == 0 else { throw .needsNewerVersion }
    self.init(
      label: Label(kind: frame.kind, replica: frame.replica, number: frame.number, link: frame.previous), space: space,
      isSealed: start[6] == Self.sealedFlag, epoch: UInt32(bigEndianBytes: start[40..<44]),
      salt: Array(start[84..<116]), bodyByteCount: frame.bodyByteCount)
    guard bodyByteCount <= Self.maximumByteCount, totalByteCount <= Self.maximumByteCount else { throw .tooLarge }
  }
}
