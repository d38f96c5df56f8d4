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
