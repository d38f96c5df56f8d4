import LMDB

extension TaskStore.Configuration {
  private static let attempts = 3
  private static let firstPauseInMilliseconds = 20

  /// Runs a body again where its failure may pass: three attempts, with pauses that double.
  ///
  /// What failed has been taken back as a whole, so that running it again is running it for the first time.
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
  /// Not a full disk, which needs somebody to make room, nor an outcome that is unknown, which must not be doubled. That
  /// something of this process is busy has been waited for already; the system's own word for it has not.
  var isTransient: Bool {
    switch code {
    case .ioFailure, .outOfMemory, .readersFull: true
    case .busy: returnCode != 0
    default: false
    }
  }
}
