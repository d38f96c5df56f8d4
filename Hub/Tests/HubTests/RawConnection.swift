import NIOCore
import NIOPosix

/// A connection on which a test writes what it likes.
struct RawConnection {
  private let inbound: NIOAsyncChannelInboundStream<ByteBuffer>
  private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

  /// Runs a body with a connection to a hub.
  static func run<R: Sendable>(to hub: RunningHub, _ body: (RawConnection) async throws -> R) async throws -> R {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .connect(host: "127.0.0.1", port: hub.port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
            wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      try await body(RawConnection(inbound: inbound, outbound: outbound))
    }
  }

  func write(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

  func write(_ bytes: [UInt8]) async throws { try await outbound.write(ByteBuffer(bytes: bytes)) }

  /// Says that nothing more follows.
  func finish() { outbound.finish() }

  /// What arrives until the hub closes the connection, or resets it.
  ///
  /// - Parameter next: Called when the first bytes have arrived.
  /// - Returns: The text.
  func readToEnd(then next: () async throws -> Void = {}) async -> String {
    var text = ""
    do {
      for try await buffer in inbound {
        if text.isEmpty { try await next() }
        text += String(buffer: buffer)
      }
    } catch {
      // A reset is an end, too.
    }
    return text
  }

  /// Writes a text again and again until the hub closes the connection.
  ///
  /// - Returns: What the hub has said.
  func drip(_ text: String) async -> String {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        while !Task.isCancelled, (try? await write(text)) != nil { try? await Task.sleep(for: .milliseconds(20)) }
      }
      let answer = await readToEnd()
      group.cancelAll()
      return answer
    }
  }
}
