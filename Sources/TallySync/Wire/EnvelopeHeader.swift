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
  /// Whether a clear part stands before the sealed body, as in cards with the record of an epoch.
  let hasClearPart: Bool
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
  private static let clearPartFlag: UInt8 = 2

  init(
    label: Label, space: SpaceID, isSealed: Bool, hasClearPart: Bool = false, epoch: UInt32, salt: [UInt8],
    bodyByteCount: Int
  ) {
    (self.label, self.space, self.isSealed, self.hasClearPart) = (label, space, isSealed, hasClearPart)
    (self.epoch, self.salt, self.bodyByteCount) = (epoch, salt, bodyByteCount)
  }

  /// The bytes of the header.
  var bytes: [UInt8] {
    let flags = (isSealed ? Self.sealedFlag : 0) | (hasClearPart ? Self.clearPartFlag : 0)
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
    let (isSealed, hasClearPart) = (start[6] & Self.sealedFlag != 0, start[6] & Self.clearPartFlag != 0)
    guard let frame = SegmentFrame(start[...]), start[6] <= Self.sealedFlag | Self.clearPartFlag, start[7] == 0,
      !hasClearPart || isSealed && frame.kind == .card
    else { throw .needsNewerVersion }
    self.init(
      label: Label(kind: frame.kind, replica: frame.replica, number: frame.number, link: frame.previous), space: space,
      isSealed: isSealed, hasClearPart: hasClearPart, epoch: UInt32(bigEndianBytes: start[40..<44]),
      salt: Array(start[84..<116]), bodyByteCount: frame.bodyByteCount)
    guard bodyByteCount <= Self.maximumByteCount, totalByteCount <= Self.maximumByteCount else { throw .tooLarge }
  }
}
