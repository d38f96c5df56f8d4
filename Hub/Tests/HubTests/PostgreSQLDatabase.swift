import Foundation
import HubStorage

/// The server that `Hub/Scripts/postgresql.py` has started for the tests.
enum PostgreSQLServer {
  /// Its address; `nil` if the tests run without a server.
  static let address = ProcessInfo.processInfo.environment["TALLY_HUB_DATABASE"]

  /// Runs a body with a new database, and drops it.
  static func withDatabase<R>(_ body: (String) async throws -> R) async throws -> R {
    let name = "hub_\(UUID().uuidString.lowercased().filter { $0 != "-" })"
    try await run("CREATE DATABASE \(name)")
    let server = (address ?? "").replacing(/\/[a-z]*$/, with: "")
    let result: Result<R, any Error>
    do { result = .success(try await body("\(server)/\(name)")) } catch { result = .failure(error) }
    try await run("DROP DATABASE \(name) WITH (FORCE)")
    return try result.get()
  }

  /// Runs a body with a new database in which the tables are.
  static func withStore<R>(_ body: (PostgreSQLHubStore) async throws -> R) async throws -> R {
    try await withDatabase { address in
      _ = try PostgreSQLSchema.migrate(at: address)
      let store = try await PostgreSQLHubStore(at: address, connectionCount: 4)
      defer { store.close() }
      return try await body(store)
    }
  }

  /// Runs a body while a transaction that has run a statement is open.
  static func withTransaction(_ statement: String, in database: String, _ body: () async throws -> Void) async throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["psql", "-qXAt", "-v", "ON_ERROR_STOP=1", database]
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    let (ends, end) = AsyncStream.makeStream(of: Int32.self)
    process.terminationHandler = { end.yield($0.terminationStatus) }
    let (answers, answer) = AsyncStream.makeStream(of: Void.self)
    output.fileHandleForReading.readabilityHandler = { handle in
      if !handle.availableData.isEmpty { answer.yield() }
    }
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data("BEGIN; \(statement);\n\\echo begun\n".utf8))
    for await _ in answers { break }
    try await body()
    try input.fileHandleForWriting.write(contentsOf: Data("COMMIT;\n".utf8))
    try input.fileHandleForWriting.close()
    for await _ in ends { break }
    output.fileHandleForReading.readabilityHandler = nil
  }

  /// Runs statements at the server, or in a database, and returns the lines of their answer, which is small.
  @discardableResult
  static func run(_ statement: String, in database: String? = nil) async throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["psql", "-qXAt", "-v", "ON_ERROR_STOP=1", "-c", statement, database ?? address ?? ""]
    let output = Pipe()
    process.standardOutput = output
    // Waiting for it would keep a thread from the tasks of other tests.
    let (ends, end) = AsyncStream.makeStream(of: Int32.self)
    process.terminationHandler = { end.yield($0.terminationStatus) }
    try process.run()
    struct Failed: Error {}
    for await status in ends {
      guard status == 0 else { throw Failed() }
      break
    }
    return String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
  }
}
