import AsyncHTTPClient
import Crypto
import Foundation
import HubWire
package import Logging
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import Synchronization
package import TallySync

/// Tells another service which spaces have new segments, so that it can wake their devices.
///
/// It never delays an append: messages wait in a table, with one entry for each space. A message that was not accepted
/// is sent again a few times; a lost one does no harm, since devices also ask by themselves.
package final class HubWebhook: Service {
  private struct Message {
    var position: UInt64
    /// The number of failed attempts, and the time of the next one.
    var failures = 0
    var dueAt: ContinuousClock.Instant
  }

  private let url: String
  private let key: SymmetricKey
  private let logger: Logger
  private let messages = Mutex<[SpaceID: Message]>([:])

  /// How long a message waits for more of the same space, and so the least time between two messages.
  private static let interval = Duration.seconds(1)
  private static let mostFailures = 6
  private static let mostMessages = 100_000
  private static let mostAtOnce = 16
  private static let timeout = TimeAmount.seconds(10)

  /// Creates the service.
  ///
  /// - Parameters:
  ///   - url: The address to which messages are sent.
  ///   - secret: The shared secret that signs the messages.
  ///   - logger: Gets the messages that are given up.
  package init(url: String, secret: String, logger: Logger) {
    (self.url, key, self.logger) = (url, SymmetricKey(data: Array(secret.utf8)), logger)
  }

  /// Queues the message that a space has segments up to a position.
  ///
  /// - Parameters:
  ///   - space: The space.
  ///   - position: The position of its last segment.
  package func noteAppend(to space: SpaceID, position: UInt64) {
    messages.withLock { messages in
      if let known = messages[space] {
        messages[space]?.position = max(known.position, position)
      } else if messages.count < Self.mostMessages {
        messages[space] = Message(position: position, dueAt: .now + Self.interval)
      }
    }
  }

  /// Sends messages until the service stops.
  ///
  /// - Throws: Nothing; the protocol allows it.
  package func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        await self.sendDue()
        // A sleep that is cancelled ends the loop.
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
  }

  /// Sends the messages whose time has come.
  ///
  /// - Parameter now: The time.
  package func sendDue(at now: ContinuousClock.Instant = .now) async {
    let due = messages.withLock { messages in
      let due = messages.filter { $0.value.dueAt <= now }
      for space in due.keys { messages[space] = nil }
      return due
    }
    await withTaskGroup(of: Void.self) { group in
      for (number, message) in due.enumerated() {
        if number >= Self.mostAtOnce { await group.next() }
        group.addTask { await self.send(message.value, of: message.key) }
      }
    }
  }

  private func send(_ message: Message, of space: SpaceID) async {
    do {
      let status = try await post(message.position, of: space)
      guard (200..<300).contains(status) else { throw Refused(status: status) }
    } catch is CancellationError {
      return
    } catch {
      retry(message, of: space, because: error)
    }
  }

  private struct Refused: Error { let status: UInt }

  /// Keeps a message that was not accepted, unless a newer one of its space waits already.
  private func retry(_ message: Message, of space: SpaceID, because error: any Error) {
    let failures = message.failures + 1
    guard failures < Self.mostFailures else {
      return logger.warning("The webhook takes no messages: \(error)")
    }
    let dueAt = ContinuousClock.now + Self.interval * (1 << failures)
    messages.withLock { messages in
      guard messages[space] == nil else { return }
      messages[space] = Message(position: message.position, failures: failures, dueAt: dueAt)
    }
  }

  /// A receiver cannot point the hub to another address.
  private static let client: HTTPClient = {
    var configuration = HTTPClient.Configuration.singletonConfiguration
    configuration.redirectConfiguration = .disallow
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }()

  private func post(_ position: UInt64, of space: SpaceID) async throws -> UInt {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let body = Array(try encoder.encode(HubMessage.Append(space: "\(space)", position: position)))
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "Content-Type", value: "application/json")
    request.headers.add(name: "Tally-Signature", value: signature(of: body, at: Int64(Date.now.timeIntervalSince1970)))
    request.body = .bytes(ByteBuffer(bytes: body))
    return try await Self.client.execute(request, timeout: Self.timeout).status.code
  }

  /// The time and the HMAC-SHA-256 of the time, a full stop and the body.
  private func signature(of body: [UInt8], at time: Int64) -> String {
    let code = HMAC<SHA256>.authenticationCode(for: Array("\(time).".utf8) + body, using: key)
    return "t=\(time),v1=\(Hexadecimal.text(of: Array(code)))"
  }
}
