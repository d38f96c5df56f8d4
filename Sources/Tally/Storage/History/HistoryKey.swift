import LMDB

/// The key of `history`: the commit, the write's position in it, and the part of the write's entry; 12 bytes.
///
/// Several writes may share a commit, see `BatchCommit`. Each has its own entry, so that each can be undone alone.
struct HistoryKey: KeyCodable, Hashable {
  static let width = 12
  let change: ChangeID
  let part: UInt16

  var encodedByteCount: Int { Self.width }

  init(_ change: ChangeID, part: UInt16) {
    self.change = change
    self.part = part
  }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount == Self.width else { throw .undecodable("a key of the history has the wrong size") }
    change = ChangeID(
      sequence: bytes.load(bigEndianAt: 0), position: Int(bytes.load(bigEndianAt: 8, as: UInt16.self)))
    part = bytes.load(bigEndianAt: 10)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(bigEndian: change.sequence)
    output.append(bigEndian: UInt16(change.position))
    output.append(bigEndian: part)
  }
}
