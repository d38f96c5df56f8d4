import LMDB
import TallyEngine

/// The key of `search`: a segment, the kind of row, and what the row describes.
struct SearchKey: KeyCodable, Hashable {
  /// The kind of row; the raw values are stored: do not change them.
  enum Kind: UInt8 {
    /// How far the index has been built (`SearchState`); in segment 0.
    case state = 1
    /// A segment (`SearchSegment`), by its number; in segment 0, so that one scan reads them all.
    case segment = 2
    /// The postings of a term.
    case term = 3
    /// A group of the segment's tasks, by the number of the first.
    case members = 4
  }

  let segment: UInt32
  let kindRawValue: UInt8
  let rest: [UInt8]

  init(_ kind: Kind, of segment: UInt32 = 0, _ rest: [UInt8] = []) {
    self.segment = segment
    kindRawValue = kind.rawValue
    self.rest = rest
  }

  init(_ kind: Kind, of segment: UInt32 = 0, number: UInt32) {
    self.init(kind, of: segment, number.bigEndianBytes)
  }

  var kind: Kind? { Kind(rawValue: kindRawValue) }

  var encodedByteCount: Int { 5 + rest.count }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(bigEndian: segment)
    output.append(kindRawValue)
    rest.encode(into: &output)
  }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount >= 5 else { throw .undecodable("a key of the search index is too short") }
    segment = bytes.load(bigEndianAt: 0)
    kindRawValue = bytes.load(bigEndianAt: 4)
    rest = bytes.bytes(from: 5)
  }

  /// Whether an encoded key begins with this one.
  func isPrefix(of bytes: RawSpan) -> Bool {
    guard bytes.byteCount >= encodedByteCount, bytes.load(bigEndianAt: 0) == segment,
      bytes.load(bigEndianAt: 4) == kindRawValue
    else { return false }
    // Unsafe by signature only: bytes have no padding. Both spans have the same length.
    let own = unsafe rest.span.bytes
    let other = bytes.extracting(5..<encodedByteCount)
    return !own.precedes(other) && !other.precedes(own)
  }

  /// The first bytes of every key of a segment.
  static func prefix(of segment: UInt32) -> [UInt8] {
    segment.bigEndianBytes
  }
}
