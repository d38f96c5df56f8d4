package import LMDB

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
