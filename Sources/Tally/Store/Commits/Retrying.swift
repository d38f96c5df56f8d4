import LMDB

extension TaskStore.Configuration {
  private static let attempts = 3
  private static let firstPauseInMilliseconds = 20

  /// Runs a body again if its failure may pass: three attempts, with pauses that double.
  ///
  /// A failed attempt was rolled back as a whole, so that running it again is like running it for the first time.
  func retrying<R: ~Copyable>(_ body: () throws -> R) throws -> R {
    var attempt = 1
    while true {
      do {
        return try body()
      } catch {
        guard attempt < Self.attempts, (error as? LMDBError)?.isTransient == true else { throw error }
        pause(.milliseconds(Self.firstPauseInMilliseconds << (attempt - 1)))
        attempt += 1
      }
    }
  }
}

extension LMDBError {
  /// Whether the same call may succeed in a moment.
  ///
  /// Not a full disk, where somebody must free space, nor an unknown outcome, which must not be doubled. For a part of
  /// this process that is busy, the call has already waited; a busy error of the system is worth another try.
  var isTransient: Bool {
    switch code {
    case .ioFailure, .outOfMemory, .readersFull: true
    case .busy: returnCode != 0
    default: false
    }
  }
}
