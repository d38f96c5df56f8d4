import ServiceLifecycle

/// Ends waits whose time is over, until the service stops.
package struct HubWaitService: Service {
  private let hub: HubService

  /// Takes the hub.
  ///
  /// - Parameter hub: The hub, whose routes are served.
  package init(_ hub: HubService) { self.hub = hub }

  /// Runs until the service stops.
  ///
  /// - Throws: Nothing; the protocol allows it.
  package func run() async throws {
    await withGracefulShutdownHandler {
      await hub.runWaits()
      // A request that waits may learn first that the hub stops; a service must not end before.
      try? await gracefulShutdown()
    } onGracefulShutdown: {
      hub.waits.drain()
    }
  }
}
