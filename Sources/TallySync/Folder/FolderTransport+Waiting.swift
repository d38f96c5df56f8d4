import Foundation
import TallySystem

extension FolderTransport {
  private static let longestWaitInSeconds = 1e9

  /// Returns when the files differ from those that `heads()` has seen last, or when the time is over.
  ///
  /// What this transport itself has written counts as seen.
  ///
  /// - Parameter seconds: How long to wait at most.
  /// - Returns: Whether the files differ.
  /// - Throws: `CancellationError` if the task is cancelled, or `FolderFault` if the folder cannot be reached.
  @discardableResult
  public func waitForChanges(seconds: Double) async throws -> Bool {
    // A comparison with NaN is false.
    let seconds = seconds > 0 ? min(seconds, Self.longestWaitInSeconds) : 0
    let wait = FolderWait(for: listing, atMost: .seconds(seconds), knowing: seen)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
          nameCurrentThread("tally.folder")
          continuation.resume(with: Result { try wait.run() })
        }
      }
    } onCancel: {
      wait.cancel()
    }
  }
}
