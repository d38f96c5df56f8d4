package import Hummingbird
import HummingbirdCore
import HummingbirdTLS
package import Logging
package import NIOCore
package import ServiceLifecycle

extension HubService {
  /// The hub as a service that listens.
  ///
  /// - Parameters:
  ///   - address: Where.
  ///   - certificate: For TLS; without one it speaks plain HTTP.
  ///   - services: What runs beside it and stops behind it.
  ///   - logger: Where it logs.
  ///   - onServerRunning: Called with the listening channel.
  /// - Returns: The service.
  /// - Throws: `NIOSSLError`.
  package func application(
    at address: BindAddress, certificate: HubCertificate? = nil, services: [any Service] = [], logger: Logger,
    onServerRunning: @escaping @Sendable (any Channel) async -> Void
  ) throws -> some ApplicationProtocol {
    let bodyTimeout = TimeAmount(configuration.bodyTimeout)
    let flows = flows
    let plain = HTTPServerBuilder.http1(
      configuration: .init(
        additionalChannelHandlers: [BodyTimeLimit(bodyTimeout), FlowHandler(flows)],
        idleTimeout: .init(configuration.idleTimeout),
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: 8 << 10, maxHeaderListSize: 16 << 10, maxHeaderFieldCount: 100)
      ))
    return Application(
      router: router(),
      server: try certificate.map { try .tls(plain, tlsConfiguration: $0.configuration) } ?? plain,
      configuration: .init(address: address, serverName: "tally-hub"),
      services: [HubWaitService(self)] + (configuration.webhook.map { [$0] } ?? []) + services,
      onServerRunning: onServerRunning, logger: logger)
  }
}
