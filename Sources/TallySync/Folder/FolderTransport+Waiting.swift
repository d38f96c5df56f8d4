import Foundation
import TallySystem

extension FolderTransport {
  private static let longestWaitInSeconds = 1e9

  /// Returns when the files differ from those that `heads()` has seen last, or when the time is over.
  ///
  /// What this transport itself has written counts as seen.
  ///
  /// - Parameter seconds: How long to wait at most.
  /// - Throws: `CancellationError` if the task is cancelled, or `FolderFault` if the folder cannot be reached.
  public func waitForChanges(seconds: Double) async throws {
    // A comparison with NaN is false.
    let seconds = seconds > 0 ? min(seconds, Self.longestWaitInSeconds) : 0
    let wait = FolderWait(for: listing, atMost: .seconds(seconds))
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        Thread.detachNewThread { [seen] in
          nameCurrentThread("tally.folder")
          continuation.resume(
            with: Result {
              let scan = try wait.run(since: seen.withLock(\.self))
              seen.withLock { $0 = scan }
            })
        }
      }
    } onCancel: {
      wait.cancel()
    }
  }
}
