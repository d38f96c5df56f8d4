import HTTPTypes
package import Hummingbird
package import Logging
import NIOCore
import ServiceLifecycle
package import Tally
import WebAssets

/// The screens of a store, for the browsers of one person on this machine.
///
/// A screen is one view, query or answer of the library, rendered as HTML that needs no script; a script follows the
/// view by events. There are no rules about tasks here; the library has them.
package final class WebService: Sendable {
  let store: TaskStore
  let renderer: Renderer
  let feeds: Feeds
  let streams: StreamLimit
  let imports = SentImports()
  /// The secrets with which a browser gets in.
  package let keys = Keys()
  /// Changes whenever an asset does, so that browsers may keep them.
  let assetVersion: String

  /// Creates the service.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - largestStreamCount: The most event streams that may be open at once.
  ///   - logger: Gets the failures.
  /// - Throws: Errors of the templates.
  package init(store: TaskStore, largestStreamCount: Int = 64, logger: Logger) throws {
    self.store = store
    renderer = try Renderer()
    feeds = Feeds(store, renderer, logger: logger)
    streams = StreamLimit(largestStreamCount)
    assetVersion = WebAssets.files.sorted { $0.key < $1.key }.map { String($0.value.fnv1a, radix: 16) }.joined().digest
  }
}

extension WebService {
  /// The service, listening on loopback only.
  ///
  /// - Parameters:
  ///   - port: The port; 0 for any free one.
  ///   - logger: The logger of the server.
  ///   - onServerRunning: Called once it listens.
  /// - Returns: The service.
  package func application(
    port: Int, logger: Logger, onServerRunning: @escaping @Sendable (WebService) async -> Void
  ) -> some ApplicationProtocol {
    Application(
      router: router(),
      server: .http1(configuration: .init(idleTimeout: .seconds(120))),
      configuration: .init(address: .hostname("127.0.0.1", port: port), serverName: "tally-web"),
      services: [feeds],
      onServerRunning: { [self] channel in
        keys.port = channel.localAddress?.port ?? port
        await onServerRunning(self)
      },
      logger: logger)
  }

  private func router() -> Router<BasicRequestContext> {
    let router = Router()
    router.add(middleware: Headers())
    router.add(middleware: Failures(service: self))
    router.add(middleware: Gate(keys: keys))
    router.add(middleware: Screens(self, routes: routes()))
    return router
  }

  private func routes() -> some HTTPResponder<BasicRequestContext> {
    let router = Router()
    router.add(middleware: FailureWords())
    addAssetRoutes(to: router)
    router.get(RouterPath(Gate<BasicRequestContext>.firstPage)) { [self] _, _ in
      Response.html(try renderer.html("begin", ["version": assetVersion]))
    }
    addViewRoutes(to: router)
    addEventRoutes(to: router)
    addCaptureRoutes(to: router)
    addChangeRoutes(to: router)
    addTaskRoutes(to: router)
    addListRoutes(to: router)
    addHistoryRoutes(to: router)
    addQueryRoutes(to: router)
    addStatisticsRoutes(to: router)
    addSettingsRoutes(to: router)
    addTransferRoutes(to: router)
    addSynchronizationRoutes(to: router)
    return router.buildResponder()
  }

  private func addAssetRoutes(to router: Router<BasicRequestContext>) {
    router.get("assets/:version/:name") { _, context in
      let name = try context.parameters.require("name")
      guard let bytes = WebAssets.files[name] else { throw HTTPError(.notFound) }
      let type =
        name.hasSuffix(".css")
        ? "text/css; charset=utf-8"
        : name.hasSuffix(".svg") ? "image/svg+xml" : "text/javascript; charset=utf-8"
      return Response(
        status: .ok,
        headers: [.contentType: type, .cacheControl: "private, max-age=31536000, immutable"],
        body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
  }
}
