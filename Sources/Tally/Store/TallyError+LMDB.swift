import LMDB
import SystemPackage

extension TallyError {
  /// The meaning of a storage failure to the user of a store.
  init(_ error: LMDBError) {
    let (code, remedy) = Self.meaning(of: error)
    let prefix = code == .storeBusy ? "The store is busy: " : code == .invalidKey ? "" : "The storage failed: "
    self.init(code, prefix + error.message, remedy: remedy ?? error.remedy, cause: error)
  }

  /// Runs a body and turns errors of the storage into errors of this type; others pass unchanged.
  static func translating<R: ~Copyable>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as LMDBError {
      throw TallyError(error)
    }
  }

  private static func meaning(of error: LMDBError) -> (code: Code, remedy: String?) {
    switch error.code {
    case .alreadyOpen: (.alreadyOpen, "Keep one TaskStore per directory and share it; any thread may use it")
    case .reentrantWrite: (.reentrantTransaction, "Do all the work in the outer closure, with its transaction")
    case .closed, .forked: (.storeClosed, nil)
    case .busy, .mapResized: (.storeBusy, nil)
    case .readersFull: (.readersFull, nil)
    case .diskFull: (.diskFull, "Free some space, then try again; deleting tasks may work even so")
    case .mapFull:
      (.storageFailed, "End long reads; if there are none, delete tasks and compact the store, which has no room left")
    case .permissionDenied, .readOnly: (.permissionDenied, nil)
    case .invalidFile, .incompatible: (.notAStore, "Give the directory of a Tally store")
    case .databaseNotFound: (.damagedStore, "Repair the store, or restore a backup")
    case .versionMismatch: (.newerFormat, "Use a newer version of Tally")
    case .corrupted, .undecodable: (.damagedStore, nil)
    case .panic: (.storageFailed, "Try again; the next call opens the store again")
    case .commitOutcomeUnknown: (.outcomeUnknown, "Check whether the change is there; the next call reopens the store")
    case .badKeySize: (.invalidKey, nil)
    case .badValueSize: (.valueOutOfRange, "Shorten the text")
    case .invalidArgument: (.valueOutOfRange, nil)
    default: (.storageFailed, nil)
    }
  }
}
