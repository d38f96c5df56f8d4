/// How a write transaction will be committed, and what it has changed so far.
@safe
final class JournalWrite {
  /// What a commit leaves in the journal.
  enum Plan {
    /// Nothing: the transaction changed nothing, or has not been prepared.
    case none
    /// Nothing: the file is clean, and liblmdb flushes the commit itself (R6, R13).
    case direct
    /// A record at a place in the ring, which ends at a position.
    case record(physical: Int, end: JournalPosition)
    /// Nothing, although the file is dirty: what a control does that breaks R6.
    case pages
  }

  /// The header that counted when the transaction began.
  let header: JournalHeader
  /// Where its record begins.
  let position: JournalPosition
  /// Whether it is known from the beginning that liblmdb flushes the commit: then no record is collected.
  let isDirect: Bool
  let redo: RedoLog
  var plan = Plan.none

  /// Whether liblmdb flushes the commit.
  var isFlushedByLMDB: Bool {
    if case .direct = plan { true } else { false }
  }

  init(header: JournalHeader, position: JournalPosition, isDirect: Bool) {
    (self.header, self.position, self.isDirect) = (header, position, isDirect)
    redo = RedoLog(limitInBytes: isDirect ? 0 : header.ringSizeInBytes / 2)
  }
}
