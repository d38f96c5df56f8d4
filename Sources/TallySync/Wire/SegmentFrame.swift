import Crypto

/// What a place can read of an envelope without a key: whose it is, its number and its length.
///
/// These fields stay where they are in every format, so that a place holds and gives back envelopes of newer versions.
public struct SegmentFrame: Hashable, Sendable {
  /// The shortest envelope: one without a body.
  static let leastByteCount = EnvelopeHeader.byteCount + VerifyingKey.signatureByteCount

  let kind: EnvelopeHeader.Kind
  /// The sixteen bytes of the space.
  public let space: [UInt8]
  /// Who says to have written it; only a key can prove it.
  public let replica: ReplicaID
  /// The number of the segment, of the part of a snapshot, of the card.
  public let number: UInt64
  /// The SHA-256 of the segment before it.
  let previous: ContentHash
  let bodyByteCount: Int

  /// The length of the whole envelope, which may be longer than the bytes at hand.
  public var byteCount: Int { Self.leastByteCount + bodyByteCount }

  /// Whether it is a segment, and no card or part of a snapshot.
  public var isSegment: Bool { kind == .segment }

  /// The SHA-256 of the segment before it; zeros in the first one.
  public var previousHash: [UInt8] { previous.bytes }

  /// Reads the header at the start of some bytes; `nil` if it is not there as a whole.
  ///
  /// - Parameter bytes: An envelope, perhaps with others behind it, or a part of one.
  public init?(_ bytes: ArraySlice<UInt8>) {
    let header = Array(bytes.prefix(EnvelopeHeader.byteCount))
    guard header.count == EnvelopeHeader.byteCount, header.starts(with: EnvelopeHeader.magic),
      let kind = EnvelopeHeader.Kind(rawValue: header[5]), let replica = ReplicaID(bytes: header[24..<40]),
      let previous = ContentHash(bytes: header[52..<84])
    else { return nil }
    (self.kind, self.replica, self.previous) = (kind, replica, previous)
    space = Array(header[8..<24])
    number = UInt64(bigEndianBytes: header[44..<52])
    bodyByteCount = Int(clamping: UInt32(bigEndianBytes: header[116..<120]))
  }

  /// Splits bytes into the envelopes that stand in them one after the other.
  ///
  /// - Parameter bytes: All bytes of a file.
  /// - Returns: Each with its frame; `nil` if anything else is among them, or the last one is not whole.
  public static func split(_ bytes: [UInt8]) -> [(frame: SegmentFrame, bytes: [UInt8])]? {
    var envelopes: [(frame: SegmentFrame, bytes: [UInt8])] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      guard let frame = SegmentFrame(rest), frame.byteCount <= rest.count else { return nil }
      envelopes.append((frame, Array(rest.prefix(frame.byteCount))))
      rest = rest.dropFirst(frame.byteCount)
    }
    return envelopes
  }
}

extension SegmentHead {
  /// Reads the number of a sealed segment and hashes it, without a key; `nil` if the bytes are not one segment.
  ///
  /// - Parameter segment: The whole segment.
  public init?(of segment: [UInt8]) {
    guard let frame = SegmentFrame(segment[...]), frame.kind == .segment, frame.byteCount == segment.count else {
      return nil
    }
    self.init(number: frame.number, digest: Array(SHA256.hash(data: segment)))
  }
}
