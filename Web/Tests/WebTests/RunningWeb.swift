import Foundation
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import SystemPackage
import Tally
import WebService

/// The screens of a temporary store, served on a free port.
struct RunningWeb: Sendable {
  let service: WebService
  let store: TaskStore
  let port: Int
  /// What the first address gave: the cookie of a browser that is let in.
  let cookie: String
  /// Lets it stop as SIGTERM does.
  let stop: @Sendable () async -> Void

  var host: String { "127.0.0.1:\(port)" }
}

/// Runs a body with served screens; afterwards the store must be sound.
func withWeb(
  largestStreamCount: Int = 64, configuration: TaskStore.Configuration? = nil,
  _ body: @escaping @Sendable (RunningWeb) async throws -> Void
) async throws {
  let store = try TaskStore.temporary(configuration: configuration)
  try await withWeb(store: store, largestStreamCount: largestStreamCount, body)
  let report = try store.verify()
  if !report.isSound { throw UnsoundStore(faults: report.faultCount) }
  // The server does not wait for an import that it has cut off.
  try store.close(waitingAtMost: .seconds(60))
}

/// Runs a body with served screens of a store that others use, too.
func withWeb(
  store: TaskStore, largestStreamCount: Int = 64, _ body: @escaping @Sendable (RunningWeb) async throws -> Void
) async throws {
  var logger = Logger(label: "web")
  logger.logLevel = .critical
  let service = try WebService(store: store, largestStreamCount: largestStreamCount, logger: logger)
  let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
  let application = service.application(port: 0, logger: logger) { continuation.yield($0.keys.port) }
  let group = ServiceGroup(configuration: .init(services: [application], logger: logger))
  try await withThrowingTaskGroup { tasks in
    tasks.addTask { try await group.run() }
    for await port in ports {
      let open = try await Exchange(
        port, "GET /open?token=\(service.keys.token.text)", ["Host: 127.0.0.1:\(port)"])
      let cookie = open.headers["set-cookie"]?.split(separator: ";").first.map(String.init) ?? ""
      try await body(
        RunningWeb(
          service: service, store: store, port: port, cookie: cookie,
          stop: { await group.triggerGracefulShutdown() }))
      break
    }
    await group.triggerGracefulShutdown()
    try await tasks.waitForAll()
  }
}

/// Runs a body with an empty directory, and removes it.
func withTemporaryDirectory(_ body: (FilePath) async throws -> Void) async throws {
  let url = FileManager.default.temporaryDirectory.appending(path: "web-tests-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
  defer { try? FileManager.default.removeItem(at: url) }
  try await body(FilePath(url.path(percentEncoded: false)))
}

private struct UnsoundStore: Error {
  let faults: Int
}

extension RunningWeb {
  /// Gets a screen as a browser that was let in.
  func get(_ path: String, _ headers: [String] = []) async throws -> Exchange {
    try await Exchange(port, "GET \(path)", lines(headers))
  }

  /// The headers of a browser that was let in; its cookies are in one line.
  private func lines(_ headers: [String]) -> [String] {
    let others = headers.filter { $0.hasPrefix("Cookie: ") }.map { "; \($0.dropFirst("Cookie: ".count))" }
    return ["Host: \(host)", "Cookie: \(cookie)\(others.joined())"] + headers.filter { !$0.hasPrefix("Cookie: ") }
  }

  /// Sends a form as a page of the server does.
  func post(_ path: String, _ fields: [(String, String)], _ headers: [String] = []) async throws -> Exchange {
    let form = fields.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
    return try await Exchange(
      port, "POST \(path)",
      lines(headers) + [
        "Origin: http://\(host)", "Content-Type: application/x-www-form-urlencoded",
        "Content-Length: \(form.utf8.count)",
      ], body: form)
  }

  /// Sends a document as the script of the import does.
  func postDocument(_ text: String, _ path: String) async throws -> Exchange {
    try await Exchange(
      port, "POST \(path)",
      [
        "Host: \(host)", "Cookie: \(cookie)", "Origin: http://\(host)", "Accept: application/json",
        "Content-Type: application/octet-stream", "Content-Length: \(text.utf8.count)",
      ], body: text)
  }

  static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }
}
