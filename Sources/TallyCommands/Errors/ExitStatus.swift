/// How the program ends.
///
/// The numbers are part of the command line's contract; do not change them.
/// From 64 on they are those of BSD's `sysexits.h`.
enum ExitStatus: Int32 {
  case success = 0
  /// What was named does not exist or is ambiguous.
  case notFound = 1
  /// An argument is missing, unknown or refused.
  case usage = 64
  /// A file, or the store, holds bad data.
  case badData = 65
  /// An input file cannot be read.
  case inputUnreadable = 66
  /// An error of the program itself.
  case internalFault = 70
  /// An output cannot be created.
  case outputNotCreated = 73
  /// The disk is full or failed.
  case storageFailed = 74
  /// The store is busy; trying again may help.
  case busy = 75
  /// The store's format is newer than this program.
  case newerFormat = 76
  /// SIGINT.
  case interrupted = 130
}
