import ServiceLifecycle

/// Lets a hub that is to stop continue for a while without being ready, so that a load balancer sends requests
/// elsewhere first.
///
/// It must be the last one of its group: services stop in reverse order.
package struct HubDrainService: Service {
  private let hub: HubService
  private let pause: @Sendable () async throws -> Void

  /// Creates the service.
  ///
  /// - Parameters:
  ///   - hub: The hub.
  ///   - pause: Waits until it may stop.
  package init(_ hub: HubService, pause: @escaping @Sendable () async throws -> Void) {
    (self.hub, self.pause) = (hub, pause)
  }

  /// Runs until the service stops.
  ///
  /// - Throws: `CancellationError`.
  package func run() async throws {
    try await gracefulShutdown()
    hub.beginDraining()
    try await pause()
  }
}
