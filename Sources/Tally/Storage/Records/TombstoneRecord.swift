import LMDB
import TallyEngine

/// The record that remains of a deleted task or list.
///
/// ```
/// offset size
///      0    1  format of the record, 1
///      1    8  sequence of the commit that created the object
///      9    8  sequence of the commit that deleted it
///     17       tagged fields, see `FieldCursor`; this version has none
/// ```
struct TombstoneRecord: BinaryCodable, Hashable {
  static let format: UInt8 = 1
  static let headByteCount = 1 + ChangeStamp.width

  let stamp: ChangeStamp
  /// The fields that only a newer version knows.
  var unknown = UnknownFields()

  var encodedByteCount: Int { Self.headByteCount + unknown.bytes.count }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(Self.format)
    stamp.encode(into: &output)
    unknown.encode(from: 0, into: &output)
  }
}

extension TombstoneRecord {
  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount >= Self.headByteCount, bytes.load(bigEndianAt: 0) == Self.format else {
      throw .undecodable("a tombstone is too short or of an unknown format")
    }
    stamp = ChangeStamp(bytes, at: 1)
    unknown = try UnknownFields(bytes, from: Self.headByteCount)
  }
}

extension Tombstone {
  /// The row that remains of an object that a commit deletes.
  init(of record: some ObjectRecord, at sequence: UInt64) {
    key = TombstoneKey(type(of: record).kind, record.item.id)
    self.record = TombstoneRecord(stamp: ChangeStamp(replacing: record.stamp, at: sequence))
  }
}
