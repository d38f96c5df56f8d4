import Foundation
import Logging
import ServiceLifecycle

/// Ends the program 0.85 seconds after it was asked to stop, whatever is still in progress.
///
/// A long read, such as the first one of a large view, does not notice its cancellation. A store survives the end of
/// its process at any moment. The deadline has a thread of its own, because those of Swift's tasks may all be busy.
struct Deadline: Service {
  private static let timeToStop: TimeInterval = 0.85
  let logger: Logger
  /// Runs before the end, because deferred statements do not run then.
  let cleanUp: @Sendable () -> Void

  func run() async throws {
    try await gracefulShutdown()
    Thread.detachNewThread { [logger, cleanUp] in
      Thread.sleep(forTimeInterval: Self.timeToStop)
      logger.warning("A request was still in progress, and was cut off")
      cleanUp()
      _exit(0)
    }
  }
}
