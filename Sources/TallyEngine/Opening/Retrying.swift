package import LMDB

extension StoreConfiguration {
  private static let attempts = 3
  private static let firstPauseInMilliseconds = 20

  /// Runs a closure again if its failure may be temporary: up to three attempts, with pauses that double.
  ///
  /// A failed attempt was rolled back as a whole, so running it again is like running it for the first time.
  package func retrying<R: ~Copyable>(_ body: () throws -> R) throws -> R {
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
  /// Whether the same call may succeed a moment later.
  ///
  /// A full disk does not count, because somebody must free space, nor does an unknown outcome, because the write must
  /// not be applied twice. If a part of this process is busy, the call has already waited; if the system reports that
  /// it is busy, another attempt is worthwhile.
  package var isTransient: Bool {
    switch code {
    case .ioFailure, .outOfMemory, .readersFull: true
    case .busy: returnCode != 0
    default: false
    }
  }
}
