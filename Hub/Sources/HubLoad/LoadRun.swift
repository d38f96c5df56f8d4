import ArgumentParser
import Foundation

/// The options of a load.
struct LoadOptions: ParsableArguments {
  @Option(help: "The port of the hub on 127.0.0.1.") var port: UInt16
  @Option(help: "Connections, each with one request under way.") var clients = 32
  @Option var seconds = 10.0

  /// Loads the hub, and prints the rate of requests, the times of answers, and the processor time of a request.
  ///
  /// It uses one thread with `poll`, and compares answers as bytes: client and hub share the processors, so the client
  /// does as little as it can.
  ///
  /// - Parameter senders: The senders; each connection serves some of them in turn.
  /// - Throws: `LoadFailure` for any answer but the expected one.
  func run(_ senders: [any LoadRequests]) throws {
    var connections = try (0..<min(clients, senders.count)).map { first in
      try LoadConnection(
        port: port, senders: stride(from: first, to: senders.count, by: clients).map { senders[$0] })
    }
    defer { for connection in connections { connection.close() } }
    var descriptors = connections.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
    var durations = Durations()
    let (start, processorAtStart) = (ContinuousClock.now, Self.processorSeconds)
    for index in connections.indices { try connections[index].send() }
    while ContinuousClock.now - start < .seconds(seconds) {
      guard poll(&descriptors, nfds_t(descriptors.count), 10_000) > 0 else { throw LoadFailure("the hub is silent") }
      for index in connections.indices where descriptors[index].revents != 0 {
        guard let duration = try connections[index].receive() else { continue }
        durations.append(duration)
        try connections[index].send()
      }
    }
    let elapsed = (ContinuousClock.now - start) / .seconds(1)
    try printFigures([
      "rate": Double(durations.count) / elapsed, "p50": durations.milliseconds(0.5),
      "p99": durations.milliseconds(0.99),
      "processor": (Self.processorSeconds - processorAtStart) / Double(durations.count) * 1e6,
    ])
  }

  private static var processorSeconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
