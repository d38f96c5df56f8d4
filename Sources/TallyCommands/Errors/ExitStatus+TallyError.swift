import Tally

extension ExitStatus {
  /// The status for an error of the library.
  ///
  /// An error with a position is about a document, whatever its code: a blank title is a wrong argument when typed, and
  /// bad data when imported.
  init(for error: TallyError) {
    self = error.position != nil ? .badData : Self.byCode[error.code] ?? .internalFault
  }

  /// Every code of the library; a test compares the keys with the library's source.
  static let byCode: [TallyError.Code: ExitStatus] = [
    .taskNotFound: .notFound,
    .listNotFound: .notFound,
    .storeMissing: .notFound,
    .nothingToUndo: .notFound,
    .nothingToRedo: .notFound,
    .undoConflict: .notFound,

    .blankTitle: .usage,
    .blankListName: .usage,
    .invalidColor: .usage,
    .invalidDay: .usage,
    .invalidInstant: .usage,
    .invalidState: .usage,
    .valueOutOfRange: .usage,
    .inconsistentTask: .usage,
    .differentPlaces: .usage,
    .invalidLink: .usage,

    .duplicateID: .badData,
    .unknownList: .badData,
    .malformedDocument: .badData,
    .unknownKey: .badData,
    .damagedStore: .badData,

    .inputUnreadable: .inputUnreadable,

    // No store can be created or used at the path: something else is there, or access is refused.
    .outputNotCreated: .outputNotCreated,
    .notAStore: .outputNotCreated,
    .permissionDenied: .outputNotCreated,
    .remoteFilesystem: .outputNotCreated,

    .diskFull: .storageFailed,
    .storageFailed: .storageFailed,
    .outcomeUnknown: .storageFailed,

    .storeBusy: .busy,
    .readersFull: .busy,

    .newerFormat: .newerFormat,
    .cancelled: .interrupted,

    .alreadyOpen: .internalFault,
    .reentrantTransaction: .internalFault,
    .storeClosed: .internalFault,
    .storeSuspended: .internalFault,
    .internalFault: .internalFault,
  ]
}
