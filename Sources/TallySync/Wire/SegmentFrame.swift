import Crypto
import Foundation

/// What a place can read of an envelope without a key: whose it is, its number and its length.
struct SegmentFrame: Hashable {
  /// What follows the magic number and the format.
  enum Kind: UInt8 {
    case segment = 1
    case snapshotPart = 2
    case card = 3
  }

  static let headerByteCount = 120
  static let signatureByteCount = 64
  /// The shortest envelope: one without a body.
  static let leastByteCount = headerByteCount + signatureByteCount

  private static let magic = Array("TLYS".utf8)
  private static let kindOffset = 5
  private static let replicaBytes = 24..<40
  private static let numberBytes = 44..<52
  private static let previousBytes = 52..<84
  private static let bodyByteCountBytes = 116..<120

  let kind: Kind
  let replica: ReplicaID
  let number: UInt64
  /// The SHA-256 of the segment before it.
  let previous: [UInt8]
  /// The length of the whole envelope, which may be longer than the bytes at hand.
  let byteCount: Int

  /// Reads the header at the start of some bytes; `nil` if it is not there as a whole.
  ///
  /// - Parameter bytes: An envelope, perhaps with others behind it, or a part of one.
  init?(_ bytes: ArraySlice<UInt8>) {
    let header = Array(bytes.prefix(Self.headerByteCount))
    guard header.count == Self.headerByteCount, header.starts(with: Self.magic),
      let kind = Kind(rawValue: header[Self.kindOffset]), let replica = ReplicaID(bytes: header[Self.replicaBytes])
    else { return nil }
    (self.kind, self.replica) = (kind, replica)
    number = Self.number(header[Self.numberBytes])
    previous = Array(header[Self.previousBytes])
    // Four bytes, to which an `Int` of 64 bits can add the rest.
    byteCount = Self.leastByteCount + Int(Self.number(header[Self.bodyByteCountBytes]))
  }

  /// Splits bytes into the envelopes that stand in them one after the other.
  ///
  /// - Parameter bytes: All bytes of a file.
  /// - Returns: Each with its frame; `nil` if anything else is among them, or the last one is not whole.
  static func split(_ bytes: [UInt8]) -> [(frame: SegmentFrame, bytes: [UInt8])]? {
    var envelopes: [(frame: SegmentFrame, bytes: [UInt8])] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      guard let frame = SegmentFrame(rest), frame.byteCount <= rest.count else { return nil }
      envelopes.append((frame, Array(rest.prefix(frame.byteCount))))
      rest = rest.dropFirst(frame.byteCount)
    }
    return envelopes
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
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

extension ReplicaID {
  /// Takes the sixteen bytes of an id; `nil` if there are more or fewer.
  init?(bytes: some Collection<UInt8>) {
    guard bytes.count == MemoryLayout<uuid_t>.size else { return nil }
    let b = Array(bytes)
    self.init(
      UUID(
        uuid: (
          b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
        )))
  }
}
