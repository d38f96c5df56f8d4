package import Foundation
package import LMDB

/// The progress of a write, which is the same for every kind of store.
package struct WriteState {
  /// The sequence of the commit that will have the changes; zero in a read.
  package let commitSequence: UInt64
  /// Whether the changes get an entry in the history, so that an undo can undo them.
  package var entersHistory = true
  /// Whether there is anything to commit.
  package var hasChanges = false
  /// Whether a change began and did not finish; such a transaction must not commit.
  package var isHalfDone = false
  /// The number of records that were added, less that of those that were deleted.
  package var recordBalance = 0
  /// The images of changes that are not in the history yet.
  package var images = BeforeImages()
  /// Whether images are kept; false if the disk has no room for them.
  package private(set) var keepsImages = true
  /// Whether changes were added to the history without their images.
  private var hasLostImages = false
  /// Whether there are changes that are not in the history yet.
  package var hasUnrecordedChanges = false
  /// Where the changes come from, as recorded in the history.
  package var origin = WriteOrigin.local
  /// The other replica that the changes come from, if they all come from the same one.
  package var originReplica: UUID?
  /// The name of the action that the changes belong to, as recorded in the history.
  package private(set) var actionName: String?
  /// The amounts that are not in the tables of the measures yet.
  var deltas: [UInt16: (rows: MeasureRows, deltas: MeasureDeltas)] = [:]
  /// The collections whose members have been looked up in this transaction.
  var checkedCollections: Set<UInt16> = []

  package init(commitSequence: UInt64) {
    self.commitSequence = commitSequence
  }

  /// Whether an undo can undo the changes so far, once they are committed.
  package var isUndoable: Bool { entersHistory && keepsImages && !hasLostImages && !images.isTooLarge }

  /// Drops the images and records that this write cannot be undone.
  package mutating func forgetImages() {
    keepsImages = false
    images.forget()
  }

  /// Names the action.
  ///
  /// - Throws: `valueOutOfRange` if the name is longer than the history can hold.
  package mutating func setActionName(_ name: String?) throws(TallyError) {
    guard name?.utf8.count ?? 0 <= HistoryRecord.maximumActionNameLengthInBytes else {
      throw TallyError(
        .valueOutOfRange, "The name of an action is longer than \(HistoryRecord.maximumActionNameLengthInBytes) bytes",
        remedy: "Give a shorter one")
    }
    actionName = name
  }

  /// Begins a separate write beside those before it in the same transaction.
  ///
  /// - Returns: whether those have changed anything.
  package mutating func beginBeside() -> Bool {
    assert(!hasUnrecordedChanges, "the write before has no entry in the history")
    let hadChanges = hasChanges
    (hasChanges, actionName) = (false, nil)
    return hadChanges
  }

  /// The error to throw after one of several writes has failed: its own if it has changed nothing, otherwise
  /// `EntangledWrites`, because its changes can no longer be separated from the others.
  package func failure(_ error: any Error) -> any Error {
    let isLackOfRoom = (error as? LMDBError)?.isLackOfRoom == true
    return (hasChanges || isHalfDone) && !isLackOfRoom ? EntangledWrites() : error
  }

  /// The id of the next entry of the history.
  package func nextChangeID(
    in history: Database<HistoryKey, HistoryRecord>, _ transaction: borrowing WriteTransaction
  ) throws -> ChangeID {
    guard let last = try history.lastKey(in: transaction)?.change, last.sequence == commitSequence else {
      return ChangeID(sequence: commitSequence, position: 0)
    }
    return ChangeID(sequence: commitSequence, position: last.position + 1)
  }

  /// Writes the changes so far to the history as one entry.
  package mutating func recordHistory(
    _ kind: HistoryKind, target: ChangeID?, at now: Timestamp, in history: Database<HistoryKey, HistoryRecord>,
    _ transaction: inout WriteTransaction
  ) throws {
    guard hasUnrecordedChanges || kind != .change else { return }
    guard entersHistory || kind != .change else {
      (images, hasUnrecordedChanges) = (BeforeImages(), false)
      return
    }
    assert(kind != .change || !images.isEmpty, "a change without an image that undo could restore")
    guard !isHalfDone else { throw TallyError.halfDone }
    let id = try nextChangeID(in: history, transaction)
    guard id.position <= ChangeID.maximumPosition else { throw TallyError.tooManySteps }
    let entry = HistoryEntry(
      id: id, kind: kind, origin: origin, target: target, dateMicroseconds: now.microsecondsSince1970,
      actionName: actionName, replica: originReplica)
    hasLostImages = !isUndoable
    isHalfDone = true
    try HistoryWriter(table: history).append(entry, images, in: &transaction)
    isHalfDone = false
    images = BeforeImages()
    if !keepsImages { images.forget() }
    (hasChanges, hasUnrecordedChanges) = (true, false)
  }
}

/// The error if one of several writes that share a transaction failed after it had changed something.
package struct EntangledWrites: Error {
  package init() {}
}

extension TallyError {
  fileprivate static let tooManySteps = TallyError(
    .valueOutOfRange, "There are too many steps in one write", remedy: "Spread them over several writes")
}
