import ArgumentParser
import HubService
import HubStorage
import Hummingbird
import Logging
import SystemPackage

/// The program `tally-hub`.
@main
struct TallyHubCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tally-hub", abstract: "Keep and pass on the sealed changes of spaces.",
    subcommands: [Serve.self, MigrateCommand.self, AccountCommand.self, StatsCommand.self, MoveCommand.self])

  struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Serve until SIGTERM or SIGINT.")

    @OptionGroup var place: StoreOptions
    @Option(help: "The address to listen on.") var host = "127.0.0.1"
    @Option(help: "The port; 0 for any free one.") var port = 8420
    @Option(help: "How many requests of a device are answered each second, for long.") var requestsPerSecond = 60.0
    @Option(help: "How many of them are answered in a row.") var burst = 600.0
    @Option(help: "Create accounts only for those who send the text in this file.") var secretFile: String?

    func run() async throws {
      var logger = Logger(label: "tally-hub")
      logger.logLevel = .info
      let store = try await place.open()
      var configuration = HubConfiguration()
      (configuration.requestsPerSecond, configuration.burst) = (requestsPerSecond, burst)
      if let secretFile { configuration.registration = .secret(try TextFile.firstLine(of: secretFile)) }
      let hub = HubService(store: store, configuration: configuration)
      let application = Application(
        router: hub.router(), configuration: .init(address: .hostname(host, port: port), serverName: "tally-hub"),
        services: [HubWaitService(hub)],
        onServerRunning: { channel in Self.announce(port: channel.localAddress?.port ?? 0) }, logger: logger)
      try await application.runService()
      try store.close()
    }

    /// For programs that start the hub on any free port.
    private static func announce(port: Int) {
      // If nobody reads it, the log has it, too.
      _ = try? FileDescriptor.standardOutput.writeAll("listening on port \(port)\n".utf8)
    }
  }
}
