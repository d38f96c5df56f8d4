import LMDB
import TallyEngine

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
