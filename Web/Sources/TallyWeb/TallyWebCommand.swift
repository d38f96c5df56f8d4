import ArgumentParser
import Foundation
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import SystemPackage
import Tally
import UnixSignals
import WebService

/// The program `tally-web`.
@main
struct TallyWebCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tally-web", abstract: "Show a store's tasks in a browser on this machine.",
    discussion: """
      Prints an address that lets a browser in, and serves until SIGTERM or SIGINT. The address has a random token, and \
      leads to this machine only. With --open, a browser reads it from a file that only you can read, for a minute.
      """)

  @Option(help: "The store's directory; default $TALLY_STORE, else ~/.local/share/tally.") var store: String?
  @Option(help: "The port; 0 for any free one.") var port = 8421
  @Flag(help: "Open the address in a browser.") var open = false
  @Option(help: "An IANA time zone; default the system's.") var timeZone: String?
  @Option(help: "The day a week starts on, as 1 for Sunday to 7 for Saturday; default the locale's.") var weekStart:
    Int?
  @Option(help: "The minute at which a day begins.") var dayStart = 0
  @Option(help: "The weights of the screen Next, as 'tally web' gives them.") var nextWeights = NextWeights().text

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("A port is a number up to 65535.") }
    guard weekStart.map((1...7).contains) ?? true else { throw ValidationError("A week starts on day 1 to 7.") }
    guard (0..<720).contains(dayStart) else { throw ValidationError("A day begins before noon, at minute 0 to 719.") }
    guard NextWeights(text: nextWeights) != nil else {
      throw ValidationError("The weights are eight numbers from 0 to 100, as in \(NextWeights().text).")
    }
  }

  func run() async throws {
    let logger = Self.logger
    let store = try TaskStore(at: try directory(), configuration: try storeConfiguration())
    let service = try WebService(store: store, logger: logger)
    let firstPage = open ? FirstPage() : nil
    defer { firstPage?.remove() }
    let application = service.application(port: port, logger: logger) { service in
      // If nobody reads the address, no browser can get in; the program continues nevertheless.
      _ = try? FileDescriptor.standardOutput.writeAll("Tally is at \(service.keys.firstAddress)\n".utf8)
      firstPage?.open(leadingTo: service.keys.firstAddress, logger)
    }
    let deadline = Deadline(logger: logger) { firstPage?.remove() }
    var configuration = ServiceGroupConfiguration(
      services: [application, deadline], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    // Requests in progress are answered; one that does not end is cut off.
    configuration.maximumGracefulShutdownDuration = .milliseconds(700)
    do {
      try await ServiceGroup(configuration: configuration).run()
    } catch let error as IOError where error.errnoCode == EADDRINUSE {
      throw PortInUse(port: port)
    }
    do {
      try store.close(waitingAtMost: .milliseconds(100))
    } catch let error as TallyError where error.code == .storeBusy {
      // The write may be an import that is about to commit or was cut off: it is in the store as a whole, or not at
      // all.
      logger.warning("A long write was still in progress; it is in the store as a whole, or not at all")
    }
  }

  private static var logger: Logger {
    var logger = Logger(label: "tally-web") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .warning
    return logger
  }

  private func directory() throws -> FilePath {
    let environment = ProcessInfo.processInfo.environment
    func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    if let path = store ?? value("TALLY_STORE") { return FilePath(path) }
    if let data = value("XDG_DATA_HOME"), data.hasPrefix("/") { return FilePath(data).appending("tally") }
    guard let home = value("HOME") else { throw ValidationError("Name the store's directory with --store.") }
    return FilePath(home).appending(".local/share/tally")
  }

  private func storeConfiguration() throws -> TaskStore.Configuration {
    var configuration = TaskStore.Configuration()
    if let timeZone {
      guard let zone = TimeZone(identifier: timeZone) else { throw ValidationError("The time zone is unknown.") }
      configuration.calendar.timeZone = zone
    }
    if let weekStart { configuration.calendar.firstWeekday = weekStart }
    configuration.dayStartInMinutes = dayStart
    configuration.nextWeights = NextWeights(text: nextWeights) ?? NextWeights()
    return configuration
  }
}

/// The port belongs to another program, or to another `tally-web`.
private struct PortInUse: Error, CustomStringConvertible {
  let port: Int

  var description: String {
    "Port \(port) is in use. End the program that uses it, or choose another port with --port; 0 takes any free one."
  }
}
