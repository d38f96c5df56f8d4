import SystemPackage
import Tally

extension ExitStatus {
  /// The status for an error of the library.
  ///
  /// An error that carries a position speaks about a document, whatever its code: a blank title is a wrong argument
  /// when typed, and bad data when imported.
  ///
  /// A file that stands in a store's place without being one is bad data, too; a path where no store can be at all is
  /// an output that cannot be created. The cause tells them apart: only the former has been opened.
  init(for error: TallyError) {
    let isForeignFile = error.code == .notAStore && error.cause.map { !($0 is Errno) } ?? false
    self = error.position != nil || isForeignFile ? .badData : Self.byCode[error.code] ?? .internalFault
  }

  /// Every code of the library; a test compares the keys with the library's source.
  static let byCode: [TallyError.Code: ExitStatus] = [
    .taskNotFound: .notFound,
    .listNotFound: .notFound,
    .ambiguousHandle: .notFound,
    .storeMissing: .notFound,

    .blankTitle: .usage,
    .blankListName: .usage,
    .invalidColor: .usage,
    .invalidDay: .usage,
    .invalidInstant: .usage,
    .invalidState: .usage,
    .valueOutOfRange: .usage,
    .inconsistentTask: .usage,
    .differentPlaces: .usage,

    .duplicateID: .badData,
    .unknownList: .badData,
    .malformedDocument: .badData,
    .unknownKey: .badData,
    .damagedStore: .badData,

    .inputUnreadable: .inputUnreadable,

    // The store's directory cannot be made, or not be used, at the path that was given.
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
    .internalFault: .internalFault,
  ]
}
