import Foundation
import LMDB
import TallyEngine

/// The record of a completion, read in place; it lives no longer than the record.
///
/// `CompletionRecord` describes the layout.
struct CompletionFields: ~Escapable {
  private let bytes: RawSpan

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount >= CompletionRecord.headByteCount, bytes.load(bigEndianAt: 0) == CompletionRecord.format
    else {
      throw .undecodable("a completion record is too short or of an unknown format")
    }
    self.bytes = bytes
  }

  var utcOffsetInMinutes: Int16 { Int16(bitPattern: bytes.load(bigEndianAt: 2)) }
  var createdAtMicroseconds: Int64 { bytes.load(orderedInt64At: 4) }
  var hasList: Bool { bytes.load(bigEndianAt: 1, as: UInt8.self) != 0 }

  /// The stored id of the list; zero if there is none.
  var listBytes: RawSpan {
    @_lifetime(copy self)
    get { bytes.extracting(12..<CompletionRecord.headByteCount) }
  }

  /// A cursor before the first tagged field.
  var cursor: FieldCursor {
    @_lifetime(copy self)
    get { FieldCursor(bytes, from: CompletionRecord.headByteCount) }
  }
}
