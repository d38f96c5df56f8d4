import Foundation
import Logging
import ServiceLifecycle

/// Ends the program 0.85 seconds after it was asked to stop, whatever is still in progress.
///
/// A long read, such as the first one of a large view, notices neither the end nor its cancellation. A store survives that
/// its process ends at any moment. The deadline has a thread of its own, as those of Swift's tasks may all be busy.
struct Deadline: Service {
  private static let timeToStop: TimeInterval = 0.85
  let logger: Logger
  /// Runs before the end, which leaves out deferred statements.
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
