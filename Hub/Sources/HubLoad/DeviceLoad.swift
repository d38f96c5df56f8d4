import ArgumentParser
import AsyncHTTPClient
import Foundation
import HubClient
import NIOCore
import SystemPackage
import Tally
import TallySync

/// Measures, on two devices with many tasks, how long joining takes, and a change from one to the other while both
/// agents run.
struct DeviceLoad: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "devices")

  @OptionGroup var hub: HubOptions
  @Option(help: "A directory for the stores.") var directory: String
  @Option(help: "Where the hub shows its measurements.") var metrics: String
  @Option var tasks = 100_000
  @Option var changes = 200

  func run() async throws {
    let stores = try ["first", "second"].map { try TaskStore(at: FilePath(directory).appending($0)) }
    let tasks = tasks
    for start in stride(from: 0, to: tasks, by: 10_000) {
      try await stores[0].write { transaction in
        for number in start..<min(start + 10_000, tasks) {
          _ = try transaction.add("Task number \(number)", to: .inbox)
        }
      }
    }
    let beforeUpload = ContinuousClock.now
    let invitation = try await stores[0].sync.setUp(atHub: hub.url, account: hub.account, deviceName: "first")
      .invitation
    try await stores[0].sync.synchronize()
    let uploaded = ContinuousClock.now - beforeUpload
    let requests = try await requestCount()
    let start = ContinuousClock.now
    try await stores[1].sync.join(hubInvitation: invitation, deviceName: "second")
    try await stores[1].sync.synchronize()
    let joined = ContinuousClock.now - start
    let durations = try await relay(stores)
    for store in stores { try store.close() }
    try printFigures([
      "uploadSeconds": uploaded / .seconds(1), "uploadRequests": requests, "joinSeconds": joined / .seconds(1),
      "p50": durations.milliseconds(0.5), "p99": durations.milliseconds(0.99),
    ])
  }

  /// How many requests the hub has answered.
  private func requestCount() async throws -> Double {
    let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: metrics), timeout: .seconds(10))
    let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
    return text.split(separator: "\n").filter { $0.hasPrefix("tally_hub_requests_total") }
      .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0, +)
  }

  /// From the commit on one device to the commit on the other, whose agent waits at the hub; without the time that an agent lets
  /// pass before it sends.
  private func relay(_ stores: [TaskStore]) async throws -> Durations {
    let agents = stores.map { store in Task { try await store.sync.run { _ in } } }
    defer { for agent in agents { agent.cancel() } }
    try await Task.sleep(for: .seconds(3))
    var durations = Durations()
    for number in 0..<changes {
      let id = try await stores[number % 2].write { try $0.add("Change \(number)", to: .inbox).id }
      let (start, own, other) = (ContinuousClock.now, stores[number % 2], stores[1 - number % 2])
      async let sent = own.sync.synchronize()
      while try other.read({ try $0.task(id) }) == nil { try await Task.sleep(for: .milliseconds(1)) }
      durations.append(.now - start)
      _ = try await sent
      // Both agents exchange once more meanwhile, and then wait again.
      try await Task.sleep(for: .milliseconds(400))
    }
    return durations
  }
}

extension TaskStore {
  fileprivate var sync: StoreSync { StoreSync(self, connector: HubConnector()) }
}
