import ArgumentParser

/// Requests that need no store.
struct HealthLoad: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "health")

  @OptionGroup var options: LoadOptions

  func run() throws { try options.run((0..<options.clients).map { _ in HealthRequests() }) }
}

private final class HealthRequests: LoadRequests {
  let request = Array("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
  let expectedBody: [UInt8] = []

  func advance() {}
}
