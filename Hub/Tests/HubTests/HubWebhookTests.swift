import Crypto
import Foundation
import HTTPTypes
import HubClient
import HubSamples
import HubService
import HubStorage
import HubWire
import Hummingbird
import Logging
import ServiceLifecycle
import TallySync
import Testing

/// A service that learns of new segments.
@Suite(.timeLimit(.minutes(2)))
struct HubWebhookTests {
  @Test func manyAppendsAreOneSignedMessage() async throws {
    try await withReceiver { receiver in
      let webhook = HubWebhook(url: await receiver.url, secret: "secret", logger: .quiet)
      var configuration = HubConfiguration()
      configuration.webhook = webhook
      try await withHub(configuration) { hub in
        let space = SpaceID()
        try await append(20, to: space, at: hub)
        // The service of the hub sends it, too, a second after the first of them.
        var messages = await receiver.wait(for: 1)
        while messages.last?.position != 20 { messages = await receiver.wait(for: messages.count + 1) }
        #expect(messages.count < 20)
        for message in messages {
          #expect(message.space == "\(space)")
          #expect(message.signature == message.expectedSignature(secret: "secret"))
        }
      }
    }
  }

  @Test func aSpaceHasOneMessageASecond() async throws {
    try await withReceiver { receiver in
      let webhook = HubWebhook(url: await receiver.url, secret: "secret", logger: .quiet)
      let (first, second, now) = (SpaceID(), SpaceID(), ContinuousClock.now)
      for position in 1...50 { webhook.noteAppend(to: first, position: UInt64(position)) }
      webhook.noteAppend(to: second, position: 7)
      await webhook.sendDue(at: now)
      #expect(await receiver.messages.isEmpty)
      await webhook.sendDue(at: now + .seconds(60))
      #expect(await Set(receiver.messages.map(\.text)) == ["\(first) 50", "\(second) 7"])
      webhook.noteAppend(to: first, position: 51)
      await webhook.sendDue(at: .now)
      #expect(await receiver.messages.count == 2)
    }
  }

  @Test func aMessageThatIsNotTakenIsSentAgainAFewTimes() async throws {
    try await withReceiver(status: .serviceUnavailable) { receiver in
      let webhook = HubWebhook(url: await receiver.url, secret: "secret", logger: .quiet)
      let space = SpaceID()
      webhook.noteAppend(to: space, position: 1)
      // Long after each time at which it is due.
      for round in 1...20 { await webhook.sendDue(at: .now + .seconds(600 * round)) }
      #expect(await receiver.messages.map(\.text) == Array(repeating: "\(space) 1", count: 6))
      // Those that follow are sent all the same, with the new position.
      webhook.noteAppend(to: space, position: 2)
      await receiver.answer(with: .noContent)
      for round in 1...3 { await webhook.sendDue(at: .now + .seconds(600 * round)) }
      #expect(await receiver.messages.map(\.text).suffix(1) == ["\(space) 2"])
      #expect(await receiver.messages.count == 7)
    }
  }

  @Test func aReceiverThatIsNotThereDelaysNoAppend() async throws {
    var configuration = HubConfiguration()
    // Nobody listens on the port of a protocol that discards everything.
    configuration.webhook = HubWebhook(url: "http://127.0.0.1:9/", secret: "secret", logger: .quiet)
    try await withHub(configuration) { hub in
      let space = SpaceID()
      try await append(3, to: space, at: hub)
      let position = try await hub.store.space(space)?.position
      #expect(position == 3)
    }
  }

  private func append(_ count: Int, to space: SpaceID, at hub: RunningHub) async throws {
    let token = try await HubAccess(at: hub.url).newSpace(space)
    let transport = HubTransport(at: hub.url, space: space, token: token)
    var stream = SealedStream(in: space)
    for segment in stream.next(count) {
      #expect(try await transport.append([segment], of: stream.replica) == [.stored])
    }
  }
}

/// A service to which a webhook posts.
private actor Receiver {
  struct Message: Decodable {
    let space: String
    let position: UInt64
    var signature = ""
    var body = ""

    private enum CodingKeys: CodingKey { case space, position }

    var text: String { "\(space) \(position)" }

    /// As the manual has it.
    func expectedSignature(secret: String) -> String {
      let time = signature.split(separator: ",").first?.dropFirst(2) ?? ""
      let key = SymmetricKey(data: Data(secret.utf8))
      let code = HMAC<SHA256>.authenticationCode(for: Data("\(time).\(body)".utf8), using: key)
      return "t=\(time),v1=\(code.map { String(format: "%02x", $0) }.joined())"
    }
  }

  private(set) var messages: [Message] = []
  private var status: HTTPResponse.Status
  private var port = 0

  init(status: HTTPResponse.Status) { self.status = status }

  var url: String { "http://127.0.0.1:\(port)/hook" }

  func listen(on port: Int) { self.port = port }

  func answer(with status: HTTPResponse.Status) { self.status = status }

  func take(_ body: String, signature: String?) throws -> HTTPResponse.Status {
    var message = try JSONDecoder().decode(Message.self, from: Data(body.utf8))
    (message.signature, message.body) = (signature ?? "", body)
    messages.append(message)
    return status
  }

  /// Waits until there are some messages.
  func wait(for count: Int) async -> [Message] {
    while messages.count < count { try? await Task.sleep(for: .milliseconds(20)) }
    return messages
  }
}

/// Runs a body with a receiver.
private func withReceiver(
  status: HTTPResponse.Status = .noContent, _ body: (Receiver) async throws -> Void
) async throws {
  let (receiver, router) = (Receiver(status: status), Router())
  router.post("hook") { request, _ in
    let body = String(buffer: try await request.body.collect(upTo: 1 << 20))
    let name = HTTPField.Name("Tally-Signature")
    return try await receiver.take(body, signature: name.flatMap { request.headers[$0] })
  }
  let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
  let application = Application(
    router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
    onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) }, logger: .quiet)
  let group = ServiceGroup(configuration: .init(services: [application], logger: .quiet))
  try await withThrowingTaskGroup { tasks in
    tasks.addTask { try await group.run() }
    for await port in ports {
      await receiver.listen(on: port)
      try await body(receiver)
      break
    }
    await group.triggerGracefulShutdown()
    try await tasks.waitForAll()
  }
}

extension Logger {
  fileprivate static var quiet: Logger {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    return logger
  }
}
