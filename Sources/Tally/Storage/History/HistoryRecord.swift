import LMDB

/// What an entry of the history is; the raw values are stored: do not change them.
enum HistoryKind: UInt8 {
  /// A write, as programs make them.
  case change = 1
  /// A change, or the redoing of one, was taken back.
  case undo = 2
  /// An undo was taken back.
  case redo = 3
  /// A write of which no images are kept: it was too large, or is not to be taken back.
  case cut = 4
}

/// One part of an entry of the history: what it is, then images of what was there before.
///
/// ```
/// offset size
///      0    1  format of the record, 1
///      1    1  kind
///      2    2  the position of the target
///      4    4  reserved, zero
///      8    8  the sequence of the target: of the entry that an undo or a redo takes back; zero without one
///     16    8  when it was written, in microseconds since 1970
///     24    8  the size of all images before this part, since the store was made, in bytes
///     32       images
/// ```
///
/// The running size tells how much the table holds without a walk: what the last part has behind it, less what the first
/// one has. Every part has a head and holds whole images, so that each can be read alone.
struct HistoryRecord: BinaryCodable {
  static let format: UInt8 = 1
  static let headByteCount = 32

  var kind: HistoryKind
  var target: ChangeID?
  var dateMicroseconds: Int64
  var precedingSizeInBytes: UInt64
  var images: ArraySlice<UInt8> = []

  var encodedByteCount: Int { Self.headByteCount + images.count }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(Self.format)
    output.append(kind.rawValue)
    output.append(bigEndian: UInt16(target?.position ?? 0))
    output.append(bigEndian: UInt32(0))
    output.append(bigEndian: target?.sequence ?? 0)
    output.append(ordered: dateMicroseconds)
    output.append(bigEndian: precedingSizeInBytes)
    [UInt8](images).encode(into: &output)
  }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    try self.init(headOf: bytes)
    images = bytes.bytes(from: Self.headByteCount)[...]
  }

  /// Reads all but the images.
  init(headOf bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount >= Self.headByteCount, bytes.load(bigEndianAt: 0) == Self.format,
      let kind = HistoryKind(rawValue: bytes.load(bigEndianAt: 1))
    else { throw .undecodable("an entry of the history is too short or of an unknown format") }
    self.init(
      kind: kind, target: nil, dateMicroseconds: bytes.load(orderedInt64At: 16),
      precedingSizeInBytes: bytes.load(bigEndianAt: 24))
    let sequence: UInt64 = bytes.load(bigEndianAt: 8)
    guard sequence > 0 else { return }
    target = ChangeID(sequence: sequence, position: Int(bytes.load(bigEndianAt: 2, as: UInt16.self)))
  }

  init(kind: HistoryKind, target: ChangeID?, dateMicroseconds: Int64, precedingSizeInBytes: UInt64) {
    self.kind = kind
    self.target = target
    self.dateMicroseconds = dateMicroseconds
    self.precedingSizeInBytes = precedingSizeInBytes
  }
}
