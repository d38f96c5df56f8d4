/// How a write transaction will be committed, and what it has changed so far.
@safe
final class JournalWrite {
  /// What a commit leaves in the journal.
  enum Plan {
    /// Nothing: the transaction changed nothing, or has not been prepared.
    case none
    /// Nothing: liblmdb flushes the commit itself, in a clean file.
    case direct
    /// A record at a place in the ring, which ends at a position.
    case record(physical: Int, end: JournalPosition)
    /// Nothing: the commit must become steady before it is acknowledged (R6).
    case pages
  }

  /// The header that counted when the transaction began.
  let header: JournalHeader
  /// Where its record begins.
  let position: JournalPosition
  let isDirect: Bool
  let redo: RedoLog
  var plan = Plan.none

  init(header: JournalHeader, position: JournalPosition, isDirect: Bool) {
    (self.header, self.position, self.isDirect) = (header, position, isDirect)
    redo = RedoLog(limitInBytes: isDirect ? 0 : header.ringSizeInBytes / 2)
  }
}
