package import Foundation
package import LMDB

/// The kind of an entry of the history; the raw values are stored: do not change them.
package enum HistoryKind: UInt8 {
  /// An ordinary write of a program.
  case change = 1
  /// The undoing of a change or of a redo.
  case undo = 2
  /// The undoing of an undo.
  case redo = 3
  /// A write without images: there were too many, or it must not be undone.
  case cut = 4
}

/// Where a write came from; the raw values are stored: do not change them.
package enum WriteOrigin: UInt8 {
  /// A program wrote to this store.
  case local = 1
  /// The write applied changes from another replica; undo skips it.
  case replica = 2
}

/// One part of an entry of the history: a head, then images of the state before the write.
///
/// ```
/// offset size
///      0    1  format of the record, 1
///      1    1  kind
///      2    1  origin
///      3    2  the position of the target
///      5    8  the sequence of the target: of the entry that an undo or a redo undoes; zero without one
///     13    8  when it was written, in microseconds since 1970
///     21    8  the size of all images before this part, since the store was created, in bytes
///     29    2  bytes of tagged fields, see `FieldCursor`, in the first part only: 1 the name of the action; 2 the id
///              of the replica whose changes the write applied, if all came from one
///     31       the fields, then images
/// ```
///
/// The running size gives the size of the table without a scan: the size after the last part, minus the size before the
/// first one. Every part has a head and holds whole images, so that each can be read on its own.
package struct HistoryRecord: BinaryCodable {
  package static let format: UInt8 = 1
  package static let headByteCount = 31

  package var kind: HistoryKind
  package var origin: WriteOrigin
  package var target: ChangeID?
  package var dateMicroseconds: Int64
  package var precedingSizeInBytes: UInt64
  package var actionName: String?
  /// The replica whose changes the write applied; `nil` for a local write, and if there were several.
  package var replica: UUID?
  package var images: ArraySlice<UInt8> = []

  private static let (actionNameTag, replicaTag) = (UInt8(1), UInt8(2))
  private static let replicaByteCount = 16
  /// The longest name of an action in bytes: its length fits in one byte.
  package static let maximumActionNameLengthInBytes = TaggedField.longMark - 1

  package var encodedByteCount: Int { Self.headByteCount + fieldsByteCount + images.count }

  private var fieldsByteCount: Int {
    (actionName.map { TaggedField.byteCount(ofValue: $0.utf8.count) } ?? 0)
      + (replica == nil ? 0 : TaggedField.byteCount(ofValue: Self.replicaByteCount))
  }

  @_lifetime(output: copy output)
  package func encode(into output: inout OutputRawSpan) {
    output.append(Self.format)
    output.append(kind.rawValue)
    output.append(origin.rawValue)
    output.append(bigEndian: UInt16(target?.position ?? 0))
    output.append(bigEndian: target?.sequence ?? 0)
    output.append(ordered: dateMicroseconds)
    output.append(bigEndian: precedingSizeInBytes)
    output.append(bigEndian: UInt16(fieldsByteCount))
    if let actionName {
      TaggedField.appendHead(Self.actionNameTag, valueByteCount: actionName.utf8.count, to: &output)
      actionName.encode(into: &output)
    }
    if let replica {
      TaggedField.appendHead(Self.replicaTag, valueByteCount: Self.replicaByteCount, to: &output)
      output.append(replica)
    }
    [UInt8](images).encode(into: &output)
  }
}

extension HistoryRecord {
  package init(decoding bytes: RawSpan) throws(LMDBError) {
    try self.init(headOf: bytes)
    images = try Self.images(of: bytes).bytes(from: 0)[...]
  }

  /// Reads everything except the images.
  package init(headOf bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount >= Self.headByteCount, bytes.load(bigEndianAt: 0) == Self.format,
      let kind = HistoryKind(rawValue: bytes.load(bigEndianAt: 1)),
      let origin = WriteOrigin(rawValue: bytes.load(bigEndianAt: 2))
    else { throw .undecodable("an entry of the history is too short or of an unknown format") }
    self.init(
      kind: kind, origin: origin, target: nil, dateMicroseconds: bytes.load(orderedInt64At: 13),
      precedingSizeInBytes: bytes.load(bigEndianAt: 21), actionName: try Self.actionName(of: bytes),
      replica: try Self.replica(of: bytes))
    let sequence: UInt64 = bytes.load(bigEndianAt: 5)
    guard sequence > 0 else { return }
    target = ChangeID(sequence: sequence, position: Int(bytes.load(bigEndianAt: 3, as: UInt16.self)))
  }

  private static func actionName(of bytes: RawSpan) throws(LMDBError) -> String? {
    let end = try imagesStart(of: bytes)
    guard end > headByteCount else { return nil }
    var fields = FieldCursor(bytes.extracting(0..<end), from: headByteCount)
    return try fields.advance(to: actionNameTag) ? fields.value.text : nil
  }

  private static func replica(of bytes: RawSpan) throws(LMDBError) -> UUID? {
    let end = try imagesStart(of: bytes)
    guard end > headByteCount else { return nil }
    var fields = FieldCursor(bytes.extracting(0..<end), from: headByteCount)
    guard try fields.advance(to: replicaTag), fields.value.byteCount == replicaByteCount else { return nil }
    return fields.value.load(idAt: 0)
  }

  /// The images of a part.
  @_lifetime(copy bytes)
  package static func images(of bytes: RawSpan) throws(LMDBError) -> RawSpan {
    bytes.extracting(try imagesStart(of: bytes)..<bytes.byteCount)
  }

  private static func imagesStart(of bytes: RawSpan) throws(LMDBError) -> Int {
    guard bytes.byteCount >= headByteCount else { throw .undecodable("an entry of the history is too short") }
    let start = headByteCount + Int(bytes.load(bigEndianAt: headByteCount - 2, as: UInt16.self))
    guard start <= bytes.byteCount else { throw .undecodable("an entry of the history ends before its fields do") }
    return start
  }
}

/// One entry of the history, without its images.
package struct HistoryEntry {
  package let id: ChangeID
  package let kind: HistoryKind
  package let origin: WriteOrigin
  package let target: ChangeID?
  /// When it was written, in microseconds since 1970.
  package let dateMicroseconds: Int64
  package let actionName: String?
  /// Whether the images were kept; false for a cut, and for an undo that had too many.
  package var hasImages = true
  /// The replica whose changes the write applied, if all came from one.
  package var replica: UUID?

  package init(
    id: ChangeID, kind: HistoryKind, origin: WriteOrigin, target: ChangeID?, dateMicroseconds: Int64,
    actionName: String?, hasImages: Bool = true, replica: UUID? = nil
  ) {
    (self.id, self.kind, self.origin, self.target) = (id, kind, origin, target)
    (self.dateMicroseconds, self.actionName) = (dateMicroseconds, actionName)
    (self.hasImages, self.replica) = (hasImages, replica)
  }
}

/// The key of `history`: the commit, the write's position in it, and the part of the write's entry; 12 bytes.
///
/// Several writes may share a commit, see `BatchCommit`. Each has its own entry, so that each can be undone alone.
package struct HistoryKey: KeyCodable, Hashable {
  package static let width = 12
  package let change: ChangeID
  package let part: UInt16

  package var encodedByteCount: Int { Self.width }

  package init(_ change: ChangeID, part: UInt16) {
    self.change = change
    self.part = part
  }

  package init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount == Self.width else { throw .undecodable("a key of the history has the wrong size") }
    change = ChangeID(
      sequence: bytes.load(bigEndianAt: 0), position: Int(bytes.load(bigEndianAt: 8, as: UInt16.self)))
    part = bytes.load(bigEndianAt: 10)
  }

  @_lifetime(output: copy output)
  package func encode(into output: inout OutputRawSpan) {
    output.append(bigEndian: change.sequence)
    output.append(bigEndian: UInt16(change.position))
    output.append(bigEndian: part)
  }
}
