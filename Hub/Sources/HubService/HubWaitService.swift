import ServiceLifecycle

/// Ends waits whose time is over, until the service stops.
package struct HubWaitService: Service {
  private let hub: HubService

  /// Creates the service.
  ///
  /// - Parameter hub: The hub, whose routes are served.
  package init(_ hub: HubService) { self.hub = hub }

  /// Runs until the service stops.
  ///
  /// - Throws: Nothing; the protocol allows it.
  package func run() async throws {
    await withGracefulShutdownHandler {
      await hub.runWaits()
      // The requests that wait may learn of the stop first; a service must not end before that.
      try? await gracefulShutdown()
    } onGracefulShutdown: {
      hub.waits.drain()
    }
  }
}
