import NIOCore
import NIOPosix

/// One request and its answer, byte by byte as the test writes them.
struct Exchange: Sendable {
  let status: Int
  /// By name in lower case; the last of several.
  let headers: [String: String]
  let body: String

  /// Sends a request on a connection of its own, and reads the answer to its end.
  ///
  /// - Parameters:
  ///   - port: Of 127.0.0.1.
  ///   - line: Method and path.
  ///   - lines: The headers, except `Connection`.
  ///   - body: What follows them.
  /// - Throws: Errors of the connection.
  init(_ port: Int, _ line: String, _ lines: [String], body: String = "") async throws {
    let head = ["\(line) HTTP/1.1", "Connection: close"] + lines
    let text = try await Connection.run(to: port) { connection in
      try await connection.write(head.joined(separator: "\r\n") + "\r\n\r\n" + body)
      return await connection.readToEnd()
    }
    self.init(text)
  }

  /// Reads an answer.
  init(_ text: String) {
    let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
    let lines = (parts.first ?? "").split(separator: "\r\n")
    status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    headers = Dictionary(
      lines.dropFirst().compactMap { line in
        let pair = line.split(separator: ":", maxSplits: 1)
        return pair.count == 2 ? (pair[0].lowercased(), String(pair[1].drop { $0 == " " })) : nil
      }
    ) { _, last in last }
    body = parts.count == 2 ? String(parts[1]) : ""
  }
}

/// A connection on which a test writes what it likes.
struct Connection {
  private let inbound: NIOAsyncChannelInboundStream<ByteBuffer>
  private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

  /// Runs a body with a connection.
  static func run<R: Sendable>(to port: Int, _ body: (Connection) async throws -> R) async throws -> R {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      try await body(Connection(inbound: inbound, outbound: outbound))
    }
  }

  func write(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

  /// What arrives until the server closes the connection, or resets it.
  func readToEnd() async -> String { await read { _ in false } }

  /// What arrives until it is enough, or the connection ends.
  func read(until isEnough: (String) -> Bool) async -> String {
    var bytes = ByteBuffer()
    do {
      for try await buffer in inbound {
        bytes.writeImmutableBuffer(buffer)
        if isEnough(String(buffer: bytes)) { break }
      }
    } catch {
      // A reset is an end, too.
    }
    return String(buffer: bytes)
  }
}
