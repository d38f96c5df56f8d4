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
  ///   - address: The address on which it listens.
  ///   - certificate: The certificate for TLS; `nil` for plain HTTP.
  ///   - services: The services that run beside it and stop after it.
  ///   - logger: The logger of the server.
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
