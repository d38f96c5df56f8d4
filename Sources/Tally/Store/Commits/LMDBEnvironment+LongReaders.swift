import LMDB
import Logging

extension LMDBEnvironment {
  /// How many commits lie between two checks of the readers, which cost more than a commit should.
  private static let commitsBetweenLooks = 1_024
  /// How many commits a snapshot may be behind before an operator is warned.
  private static let tolerableLag = 1_024

  /// Warns the logger of a reader that keeps pages from being reused, so that the file grows.
  func warnOfLongReaders(_ configuration: TaskStore.Configuration) {
    // If it was closed right after the commit, it has no readers to warn of.
    guard let newest = try? lastTransactionID(), newest % Self.commitsBetweenLooks == 0, let readers = try? readers()
    else { return }
    let oldest = readers.filter { $0.transactionID != nil }.min { $0.transactionID ?? 0 < $1.transactionID ?? 0 }
    guard let oldest, let snapshot = oldest.transactionID, newest - snapshot > Self.tolerableLag else { return }
    configuration.logger.warning(
      "a long read keeps pages from being used again",
      metadata: ["lagInCommits": "\(newest - snapshot)", "processID": "\(oldest.processID)"])
  }
}
