import Crypto
import Foundation

/// Signed bytes of a replica, sealed if the space is encrypted: a segment, a part of a snapshot or a card.
struct Envelope: Hashable, Sendable {
  let header: EnvelopeHeader
  /// The whole envelope, as stored and sent.
  let bytes: [UInt8]

  /// Reads bytes, without verifying more than the header's form.
  ///
  /// - Parameter bytes: Exactly one envelope.
  /// - Throws: ``EnvelopeFault`` if they cannot be one.
  init(parsing bytes: [UInt8]) throws(EnvelopeFault) {
    header = try EnvelopeHeader(parsing: bytes)
    guard bytes.count >= header.totalByteCount else { throw .tooShort }
    guard bytes.count == header.totalByteCount else { throw .trailingBytes }
    self.bytes = bytes
  }

  /// Reads the envelopes that follow each other in a file.
  ///
  /// - Parameter bytes: The content of the file.
  /// - Returns: The envelopes.
  /// - Throws: ``EnvelopeFault`` if any of them is not whole.
  static func all(in bytes: [UInt8]) throws(EnvelopeFault) -> [Envelope] {
    var (envelopes, rest): ([Envelope], ArraySlice<UInt8>) = ([], bytes[...])
    while !rest.isEmpty {
      let header = try EnvelopeHeader(parsing: rest)
      envelopes.append(try Envelope(parsing: Array(rest.prefix(header.totalByteCount))))
      rest = rest.dropFirst(header.totalByteCount)
    }
    return envelopes
  }

  /// The hash of the whole envelope, which the next segment contains.
  var hash: ContentHash { ContentHash(of: bytes) }

  /// The number and the start of the hash.
  var head: SegmentHead { SegmentHead(number: header.label.number, digest: hash.bytes) }

  private var signedByteCount: Int { bytes.count - VerifyingKey.signatureByteCount }

  /// Seals and signs a body.
  ///
  /// - Parameters:
  ///   - body: The content.
  ///   - label: The kind, the author, the number and the link.
  ///   - keys: The keys of that replica.
  ///   - space: The space; if it is not encrypted the body is only padded and signed.
  ///   - clearPart: Bytes of a card of an encrypted space that everybody may read; `nil` for none.
  ///   - salt: Random bytes, different for each envelope; only tests pass them.
  /// - Throws: ``EnvelopeFault/tooLarge``; ``EnvelopeFault/unknownEpoch(_:)`` if the key of the newest epoch is
  ///   missing; an error of the cryptographic library.
  init(
    sealing body: [UInt8], as label: EnvelopeHeader.Label, with keys: ReplicaKeys, in space: SpaceKeys,
    clearPart: [UInt8]? = nil, salt: [UInt8] = .random(count: EnvelopeHeader.saltByteCount)
  ) throws {
    let padded = BodyPadding.padded(body)
    let clear = clearPart.map { UInt32(truncatingIfNeeded: $0.count).bigEndianBytes + $0 } ?? []
    let header = EnvelopeHeader(
      label: label, space: space.space, isSealed: space.isEncrypted, hasClearPart: clearPart != nil,
      epoch: space.epoch, salt: space.isEncrypted ? salt : Array(repeating: 0, count: EnvelopeHeader.saltByteCount),
      bodyByteCount: clear.count + padded.count + (space.isEncrypted ? EnvelopeHeader.tagByteCount : 0))
    guard header.totalByteCount <= EnvelopeHeader.maximumByteCount else { throw EnvelopeFault.tooLarge }
    var bytes = header.bytes + clear
    if space.isEncrypted {
      guard let key = space.keys[space.epoch] else { throw EnvelopeFault.unknownEpoch(space.epoch) }
      let box = try ChaChaPoly.seal(padded, using: key.key(forSalt: salt), nonce: .once, authenticating: bytes)
      bytes += box.ciphertext + box.tag
    } else {
      bytes += padded
    }
    (self.header, self.bytes) = (header, bytes + (try keys.signature(of: bytes)))
  }

  /// Verifies and opens it.
  ///
  /// - Parameters:
  ///   - kind: The kind that it must have.
  ///   - replica: The replica that must have written it.
  ///   - key: The key that verifies what that replica has signed.
  ///   - space: The space to which it must belong.
  /// - Returns: The content.
  /// - Throws: ``EnvelopeFault`` if it is something else, or cannot be verified or opened.
  func open(
    as kind: EnvelopeHeader.Kind, of replica: ReplicaID, verifying key: VerifyingKey, in space: SpaceKeys
  ) throws(EnvelopeFault) -> [UInt8] {
    try check(kind, replica, space)
    // The signature is checked before the seal is opened: an unknown epoch is then one that the replica has used, and
    // not a damaged number.
    try verify(by: key)
    return try content(in: space)
  }

  /// Checks what the header says.
  func check(_ kind: EnvelopeHeader.Kind, _ replica: ReplicaID, _ space: SpaceKeys) throws(EnvelopeFault) {
    guard header.space == space.space else { throw .otherSpace }
    guard header.label.kind == kind else { throw .wrongKind }
    guard header.label.replica == replica else { throw .otherReplica }
    guard header.isSealed || !space.isEncrypted else { throw .unsealed }
  }

  /// Checks the signature.
  func verify(by key: VerifyingKey) throws(EnvelopeFault) {
    guard key.verifies(bytes[signedByteCount...], of: bytes[..<signedByteCount]) else { throw .signatureDoesNotVerify }
  }

  /// The bytes of a card that everybody can read; `nil` if there are none.
  ///
  /// - Throws: ``EnvelopeFault/tooShort`` if they are not whole.
  var clearPart: [UInt8]? {
    get throws(EnvelopeFault) {
      guard header.hasClearPart else { return nil }
      return Array(bytes[EnvelopeHeader.byteCount + Self.countByteCount..<(try sealedStart)])
    }
  }

  private static let countByteCount = 4

  /// The offset at which the body begins, after the clear part.
  private var sealedStart: Int {
    get throws(EnvelopeFault) {
      guard header.hasClearPart else { return EnvelopeHeader.byteCount }
      let start = EnvelopeHeader.byteCount + Self.countByteCount
      guard start <= signedByteCount else { throw .tooShort }
      let count = Int(clamping: UInt32(bigEndianBytes: bytes[EnvelopeHeader.byteCount..<start]))
      guard count <= signedByteCount - start else { throw .tooShort }
      return start + count
    }
  }

  /// Opens the body without verifying the signature.
  func content(in space: SpaceKeys) throws(EnvelopeFault) -> [UInt8] {
    let start = try sealedStart
    let body = bytes[start..<signedByteCount]
    guard header.isSealed else { return try BodyPadding.content(of: body) }
    let keys = space.keys(ofEpoch: header.epoch)
    guard !keys.isEmpty else { throw .unknownEpoch(header.epoch) }
    for key in keys {
      if let padded = open(body, authenticating: bytes[..<start], with: key) {
        return try BodyPadding.content(of: padded)
      }
    }
    throw .doesNotOpen
  }

  /// The bytes that a key opens; `nil` if it does not.
  private func open(
    _ body: ArraySlice<UInt8>, authenticating clear: ArraySlice<UInt8>, with key: SpaceKey
  ) -> [UInt8]? {
    guard
      let box = try? ChaChaPoly.SealedBox(
        nonce: .once, ciphertext: body.dropLast(EnvelopeHeader.tagByteCount),
        tag: body.suffix(EnvelopeHeader.tagByteCount)),
      let padded = try? ChaChaPoly.open(box, using: key.key(forSalt: header.salt), authenticating: clear)
    else { return nil }
    return Array(padded)
  }
}

extension ChaChaPoly.Nonce {
  /// The nonce of a key that seals only once, all zeros.
  ///
  /// Each key is derived with 32 random bytes of salt, so none is ever used twice. A random nonce of 12 bytes under one
  /// key would repeat too early, and a counter would have to survive copies of a store.
  static var once: ChaChaPoly.Nonce {
    get throws { try ChaChaPoly.Nonce(data: [UInt8](repeating: 0, count: 12)) }
  }
}

/// The header of an envelope, which is never encrypted; the layout is in `docs/synchronisation.md`.
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
    /// The replica that has written it.
    var replica: ReplicaID
    /// The number of the segment, from 1; of the snapshot's part, from 0; or of the card.
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
  /// Whether there is a clear part before the sealed body, as in cards with the record of an epoch.
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
}

extension EnvelopeHeader {
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

/// The reason why bytes are not an envelope of a space.
enum EnvelopeFault: Error, Hashable, CustomStringConvertible {
  /// Fewer bytes than the header says, or than a header has.
  case tooShort
  /// More bytes than the header says.
  case trailingBytes
  /// It does not begin as an envelope does.
  case notAnEnvelope
  /// A format, a kind, a flag or a body that this version does not know.
  case needsNewerVersion
  /// More than ``EnvelopeHeader/maximumByteCount``.
  case tooLarge
  case otherSpace
  case otherReplica
  case wrongKind
  /// Not sealed although the space is encrypted: anybody could have written it.
  case unsealed
  /// Sealed with a key that this replica does not have.
  case unknownEpoch(UInt32)
  case signatureDoesNotVerify
  case doesNotOpen
  /// Its author was revoked, or has joined with an old key.
  case notOfMember
  /// Signed and sealed, but not written by any version of Tally.
  case malformed(CodingFault)

  /// A sentence for people.
  var description: String {
    switch self {
    case .tooShort: "The data ends early: the file was cut off or has not arrived completely."
    case .trailingBytes: "More data follows than the header says."
    case .notAnEnvelope: "The data does not come from Tally, or its first bytes are damaged."
    case .needsNewerVersion: "The data was written by a newer version of Tally: update this one."
    case .tooLarge: "The data is larger than 8 MiB."
    case .otherSpace: "The data belongs to another space."
    case .otherReplica: "The data names a device other than the one whose place it is in."
    case .wrongKind: "The data is not of the kind that its name says."
    case .unsealed: "The data is not encrypted, but this space is."
    case .unknownEpoch(let epoch): "The data is encrypted with key \(epoch), which this device does not have."
    case .signatureDoesNotVerify: "The signature does not match: the data is damaged or forged."
    case .doesNotOpen: "The data cannot be decrypted: it is damaged, or this device has a wrong key."
    case .notOfMember: "The data was written by a device that does not belong to the space any more."
    case .malformed: "The data was opened, but its content is not what Tally writes."
    }
  }
}
