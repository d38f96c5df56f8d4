import ArgumentParser
import CMalloc
import HubMetrics
import HubService
import HubStorage
import Hummingbird
import Logging
import ServiceLifecycle
import SystemPackage
import UnixSignals

/// The program `tally-hub`.
@main
struct TallyHubCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tally-hub", abstract: "Keep and pass on the sealed changes of spaces.",
    subcommands: [
      Serve.self, MigrateCommand.self, AccountCommand.self, SpaceCommand.self, StatsCommand.self, MoveCommand.self,
    ])

  struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Serve until SIGTERM or SIGINT.")

    @OptionGroup var place: StoreOptions
    @Option(help: "The address to listen on.") var host = "127.0.0.1"
    @Option(help: "The port; 0 for any free one.") var port = 8420
    @Option(help: "How many requests a second a device may send on average.") var requestsPerSecond = 60.0
    @Option(help: "How many requests a device may send at once.") var burst = 600.0
    @Option(help: "How many spaces an account may have.") var spacesPerAccount = 100
    @Option(help: "Create accounts only for those who send the text in this file.") var secretFile: String?
    @Option(help: "Serve /metrics on this port of 127.0.0.1.") var metricsPort: Int?
    @Option(help: "Serve TLS with the certificates in this PEM file.") var certificate: String?
    @Option(help: "The key of the certificate, as PEM.") var privateKey: String?

    @Option(help: "Create accounts for users whose tokens a key of this JWKS file has signed.") var jwtKeys: String?
    @Option(help: "The audience that 'aud' of these tokens must name.") var jwtAudience: String?

    @Option(help: "Serve this long after SIGTERM, while reporting that the hub is not ready.") var drainSeconds = 0

    @Option(help: "Post to this address which spaces have new segments.") var webhook: String?
    @Option(help: "Sign the messages to the webhook with the text in this file.") var webhookSecretFile: String?

    func validate() throws {
      guard (webhook == nil) == (webhookSecretFile == nil) else {
        throw ValidationError("Give both of --webhook and --webhook-secret-file.")
      }
      guard (jwtKeys == nil) == (jwtAudience == nil) else {
        throw ValidationError("Give both of --jwt-keys and --jwt-audience.")
      }
      guard (certificate == nil) == (privateKey == nil) else {
        throw ValidationError("Give both of --certificate and --private-key.")
      }
    }

    func run() async throws {
      Self.giveMemoryBack()
      var logger = Logger(label: "tally-hub")
      logger.logLevel = .info
      let (store, reloadMap) = try await place.openForServing()
      var configuration = HubConfiguration()
      (configuration.requestsPerSecond, configuration.burst) = (requestsPerSecond, burst)
      configuration.mostSpaces = spacesPerAccount
      if let secretFile { configuration.registration = .secret(try OperatorFile.firstLine(of: secretFile)) }
      if let jwtKeys, let jwtAudience {
        configuration.issuers = try await HubIssuers(file: jwtKeys, audience: jwtAudience)
      }
      if let webhook, let webhookSecretFile {
        configuration.webhook = HubWebhook(
          url: webhook, secret: try OperatorFile.firstLine(of: webhookSecretFile), logger: logger)
      }
      let metrics = PrometheusMetrics(help: HubMeasures.help)
      let hub = HubService(store: store, configuration: configuration, metrics: metrics)
      let pair = try certificate.flatMap { certificate in
        try privateKey.map { try HubCertificate(certificateFile: certificate, keyFile: $0) }
      }
      var reloads: [HubReloadService.Reload] = []
      if let pair { reloads.append(.init(name: "certificate", body: pair.reload)) }
      if let issuers = configuration.issuers { reloads.append(.init(name: "keys of issuers", body: issuers.reload)) }
      if let reloadMap { reloads.append(.init(name: "map of databases", body: reloadMap)) }
      let services = operatorServices(metrics, logger) + [HubReloadService(reloads, logger: logger)]
      let application = try hub.application(
        at: .hostname(host, port: port), certificate: pair, services: services, logger: logger
      ) { Self.announce("listening on port", $0.localAddress?.port ?? 0) }
      let drain = HubDrainService(hub) { [drainSeconds] in try await Task.sleep(for: .seconds(drainSeconds)) }
      let group = ServiceGroup(
        configuration: .init(
          services: [application, drain], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
      try await group.run()
      try store.close()
    }

    /// The services for the operator only: the metrics, on an address of their own.
    private func operatorServices(_ metrics: PrometheusMetrics, _ logger: Logger) -> [any Service] {
      guard let metricsPort else { return [] }
      return [
        Application(
          router: HubService.operatorRouter(metrics),
          configuration: .init(address: .hostname("127.0.0.1", port: metricsPort)),
          onServerRunning: { channel in Self.announce("metrics on port", channel.localAddress?.port ?? 0) },
          logger: logger)
      ]
    }

    /// Makes glibc return large free buffers to the system, as it does not by itself if many threads use them.
    private static func giveMemoryBack() {
      #if os(Linux)
        _ = mallopt(M_MMAP_THRESHOLD, 128 << 10)
        _ = mallopt(M_TRIM_THRESHOLD, 256 << 10)
        _ = mallopt(M_ARENA_MAX, 4)
      #endif
    }

    /// Prints a port, for programs that start the hub on any free port.
    private static func announce(_ what: String, _ port: Int) {
      // A failure does no harm, because the log has the port, too.
      _ = try? FileDescriptor.standardOutput.writeAll("\(what) \(port)\n".utf8)
    }
  }
}
