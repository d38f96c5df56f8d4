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
    let plain = HTTPServerBuilder.http1()
    return Application(
      router: router(),
      server: try certificate.map { try .tls(plain, tlsConfiguration: $0.configuration) } ?? plain,
      configuration: .init(address: address, serverName: "tally-hub"),
      services: [HubWaitService(self)] + services, onServerRunning: onServerRunning, logger: logger)
  }
}
