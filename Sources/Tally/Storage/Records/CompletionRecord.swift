import Foundation
import LMDB

/// The record of one completion in the ledger; its instant and task are the key.
///
/// ```
/// offset size
///      0    1  format of the record, 1
///      1    1  whether it was completed in a list: 0 or 1
///      2    2  UTC offset where it was completed, in minutes
///      4    8  when the task was created, in microseconds since 1970
///     12   16  the list it was completed in, or zero
///     28       tagged fields, see `FieldCursor`; this version has none
/// ```
///
/// The list is the one at the time of completion: it stays when the task moves later or the list is deleted.
struct CompletionRecord: BinaryCodable, Hashable {
  static let format: UInt8 = 1
  static let headByteCount = 28

  var utcOffsetInMinutes: Int16
  var createdAtMicroseconds: Int64
  var listID: UUID?
  /// Fields of a newer version.
  var unknown = UnknownFields()

  var encodedByteCount: Int { Self.headByteCount + unknown.bytes.count }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(Self.format)
    output.append(listID == nil ? 0 : 1)
    output.append(bigEndian: UInt16(bitPattern: utcOffsetInMinutes))
    output.append(ordered: createdAtMicroseconds)
    output.append(listID ?? .lowest)
    unknown.encode(from: 0, into: &output)
  }
}

extension CompletionRecord {
  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount >= Self.headByteCount, bytes.load(bigEndianAt: 0) == Self.format else {
      throw .undecodable("a completion record is too short or of an unknown format")
    }
    utcOffsetInMinutes = Int16(bitPattern: bytes.load(bigEndianAt: 2))
    createdAtMicroseconds = bytes.load(orderedInt64At: 4)
    listID = bytes.load(bigEndianAt: 1, as: UInt8.self) == 0 ? nil : bytes.load(idAt: 12)
    unknown = try UnknownFields(bytes, from: Self.headByteCount)
  }

  /// The record of a completed task; `nil` for an open one.
  ///
  /// The list is the task's own, unless there is a record of the completion already, whose list and unknown fields stay.
  init?(of task: TaskItem, keeping recorded: CompletionRecord? = nil) {
    guard let completedAt = task.completedAt else { return nil }
    self.init(
      utcOffsetInMinutes: Int16(completedAt.utcOffsetInMinutes),
      createdAtMicroseconds: task.createdAt.microsecondsSince1970,
      listID: recorded.map(\.listID) ?? task.listID, unknown: recorded?.unknown ?? UnknownFields())
  }
}
