import ArgumentParser
import Foundation
import HubClient
import HubWire
import TallySync

/// Lets many clients wait, each with a connection and a space of its own, until the standard input ends.
struct WaitLoad: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "wait")

  @OptionGroup var hub: HubOptions
  @Option var clients = 10_000

  func run() async throws {
    let transports = try await spaces()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for transport in transports {
        group.addTask {
          while !Task.isCancelled { _ = try await transport.waitForChanges(seconds: 600) }
        }
      }
      // Each client has sent its request by then; the script measures the hub meanwhile.
      try await Task.sleep(for: .seconds(10))
      try printFigures(["waiting": Double(transports.count)])
      while readLine() != nil {}
      group.cancelAll()
    }
  }

  private func spaces() async throws -> [HubTransport] {
    var transports: [HubTransport] = []
    let (access, account, url) = (HubAccess(at: hub.url), hub.account, hub.url)
    for start in stride(from: 0, to: clients, by: 100) {
      let created = try await withThrowingTaskGroup(of: HubTransport.self) { group in
        for _ in start..<min(start + 100, clients) {
          group.addTask {
            let space = SpaceID()
            let token = try await access.createSpace(space, account: account)
            let transport = HubTransport(at: url, space: space, token: token)
            _ = try await transport.heads()
            return transport
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      transports += created
    }
    return transports
  }
}
