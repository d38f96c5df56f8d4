import Foundation
import LMDB
import TallyEngine

/// A list as it is stored: a head, the name, then tagged fields, of which this version has none.
///
/// ```
/// offset size
///      0    1  format of the record, 1
///      1    3  colour: red, green, blue
///      4    4  bytes of the name
///      8    8  sort order
///     16    8  created at        instants: microseconds since 1970
///     24    8  updated at
///     32    8  sequence of the commit that created it
///     40    8  sequence of the commit that last changed it
///     48       name, then tagged fields, see `FieldCursor`
/// ```
struct ListRecord: ObjectRecord {
  static let kind = ObjectKind.list
  static let tableName = TableName.lists
  static let format: UInt8 = 1
  static let headByteCount = 48

  var item: TaskList
  var stamp: ChangeStamp
  /// The fields that only a newer version knows.
  var unknown = UnknownFields()

  var encodedByteCount: Int { Self.headByteCount + item.name.utf8.count + unknown.bytes.count }
}

extension ListRecord {
  static func table(in tables: Tables) -> Database<IDKey, ListRecord> { tables.lists }
  static func indexes(in tables: Tables) -> [IndexHandle<ListRecord>] { tables.listIndexes }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(Self.format)
    // Six hexadecimal digits, which were checked when the list was validated.
    let color = UInt32(item.colorHex, radix: 16) ?? 0
    for shift in [16, 8, 0] as [UInt32] { output.append(UInt8(truncatingIfNeeded: color >> shift)) }
    output.append(bigEndian: UInt32(item.name.utf8.count))
    output.append(ordered: item.sortOrder)
    output.append(ordered: item.createdAt.microsecondsSince1970)
    output.append(ordered: item.updatedAt.microsecondsSince1970)
    stamp.encode(into: &output)
    item.name.encode(into: &output)
    unknown.encode(from: 0, into: &output)
  }

  /// Decodes a whole record of a list.
  init(id: UUID, decoding bytes: RawSpan) throws(LMDBError) {
    let name = try Self.nameBytes(of: bytes)
    item = TaskList(
      id: id, name: name.text,
      colorHex: Self.colorHex(bytes.load(bigEndianAt: 0, as: UInt32.self) & 0xFF_FFFF),
      sortOrder: bytes.load(orderedInt64At: 8),
      createdAt: try bytes.load(timestampAt: 16), updatedAt: try bytes.load(timestampAt: 24))
    stamp = ChangeStamp(bytes, at: 32)
    unknown = try UnknownFields(bytes, from: Self.headByteCount + name.byteCount)
  }

  /// The bytes of the name; checks the record's format and lengths.
  @_lifetime(copy bytes)
  static func nameBytes(of bytes: RawSpan) throws(LMDBError) -> RawSpan {
    guard bytes.byteCount >= headByteCount, bytes.load(bigEndianAt: 0) == format else {
      throw .undecodable("a list record is too short or of an unknown format")
    }
    let nameEnd = headByteCount + Int(bytes.load(bigEndianAt: 4, as: UInt32.self))
    guard nameEnd <= bytes.byteCount else { throw .undecodable("a list record ends before its name does") }
    return bytes.extracting(headByteCount..<nameEnd)
  }

  private static func colorHex(_ color: UInt32) -> String {
    let digits = String(color, radix: 16, uppercase: true)
    return String(repeating: "0", count: 6 - digits.count) + digits
  }
}

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

/// The commits that created a record and last changed it; 16 bytes of the record's head.
///
/// `byChange` orders records by `changed`. Only the writer sets it: every write of a record gives it a new stamp.
struct ChangeStamp: Hashable, Sendable {
  static let width = 16
  /// The sequence of the commit that created the record, or created it again after a deletion.
  let created: UInt64
  /// The sequence of the commit that last wrote the record.
  let changed: UInt64

  /// The stamp of a record that a commit writes, in place of an old one if there is one.
  init(replacing old: ChangeStamp?, at sequence: UInt64) {
    created = old?.created ?? sequence
    changed = sequence
  }

  init(_ bytes: RawSpan, at offset: Int) {
    created = bytes.load(bigEndianAt: offset)
    changed = bytes.load(bigEndianAt: offset + 8)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(bigEndian: created)
    output.append(bigEndian: changed)
  }

  /// Whether a store whose last commit has this sequence can contain the stamp.
  func isPossible(upTo sequence: UInt64) -> Bool { created <= changed && changed <= sequence }
}
