package import HubMetrics
package import Hummingbird

extension HubService {
  /// The routes for the operator alone, to be served on an address that is not public.
  ///
  /// - Parameter metrics: The metrics of the hub.
  /// - Returns: A router with `GET /metrics`.
  package static func operatorRouter(_ metrics: PrometheusMetrics) -> Router<BasicRequestContext> {
    let router = Router()
    router.get("metrics") { _, _ in
      Response(
        status: .ok, headers: [.contentType: PrometheusMetrics.contentType],
        body: .init(byteBuffer: ByteBuffer(string: metrics.text())))
    }
    return router
  }
}
