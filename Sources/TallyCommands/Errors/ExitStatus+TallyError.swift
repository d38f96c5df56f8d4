import Tally
import TallySync

extension ExitStatus {
  /// The status for an error of the library.
  ///
  /// An error with a position is about a document, whatever its code, unless it is about a filter: a blank title is a
  /// wrong argument when typed, and bad data when imported.
  init(for error: TallyError) {
    self = error.position != nil && !error.isOfFilter ? .badData : Self.byCode[error.code] ?? .internalFault
  }

  /// Every code of the library; a test compares the keys with the library's source.
  static let byCode = Dictionary(uniqueKeysWithValues: codes.flatMap { status, codes in codes.map { ($0, status) } })

  private static let codes: [ExitStatus: [TallyError.Code]] = [
    .notFound: [
      .taskNotFound, .listNotFound, .filterNotFound, .storeMissing, .nothingToUndo, .nothingToRedo, .undoConflict,
      .notSynchronising, .conflictNotFound, .deviceRevoked, .spaceKeyMissing, .replicaNotFound,
    ],
    .usage: [
      .blankTitle, .blankListName, .invalidColor, .invalidDay, .invalidInstant, .invalidState, .valueOutOfRange,
      .inconsistentTask, .differentPlaces, .invalidLink, .invalidToken, .invalidTag, .invalidPriority,
      .invalidAttribute, .invalidParent, .invalidRecurrence, .invalidFilter, .invalidKey, .invalidValue, .invalidIndex,
      .invalidGoal, .emptySearch, .alreadySynchronises, .invalidInvitation, .wrongPassphrase,
      .tooManyReplicas, .spaceNotEncrypted, .irreversible, .invalidDeviceName, .placeOfOtherSpace, .notAnOwner,
    ],
    .badData: [.duplicateID, .unknownList, .malformedDocument, .unknownKey, .damagedStore],
    .inputUnreadable: [.inputUnreadable],
    // No store can be created or used at the path: something else is there, or access is refused.
    .outputNotCreated: [.outputNotCreated, .notAStore, .permissionDenied, .remoteFilesystem],
    .storageFailed: [.diskFull, .storageFailed, .outcomeUnknown],
    .busy: [.storeBusy, .readersFull, .syncUnreachable, .syncRefused, .syncBusy],
    .newerFormat: [.newerFormat],
    .interrupted: [.cancelled],
    .internalFault: [.alreadyOpen, .reentrantTransaction, .storeClosed, .storeSuspended, .internalFault],
  ]
}
