package import Logging
import ServiceLifecycle
import UnixSignals

/// Reads files again at each SIGHUP, until the service stops.
package struct HubReloadService: Service {
  /// Something that is read again.
  package struct Reload: Sendable {
    let name: String
    let body: @Sendable () async throws -> Void

    /// Creates a step with its name for the log.
    package init(name: String, body: @escaping @Sendable () async throws -> Void) {
      (self.name, self.body) = (name, body)
    }
  }

  private let reloads: [Reload]
  private let logger: Logger

  /// Creates the service.
  ///
  /// - Parameters:
  ///   - reloads: The steps, in their order.
  ///   - logger: Gets the outcome of each step.
  package init(_ reloads: [Reload], logger: Logger) {
    (self.reloads, self.logger) = (reloads, logger)
  }

  /// Runs until the service stops.
  ///
  /// - Throws: Nothing; the protocol allows it.
  package func run() async throws {
    for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
      for reload in reloads {
        do {
          try await reload.body()
          logger.info("Read the \(reload.name) again.")
        } catch {
          // The hub keeps the contents that it has.
          logger.error("The \(reload.name) cannot be read: \(error)")
        }
      }
    }
  }
}
