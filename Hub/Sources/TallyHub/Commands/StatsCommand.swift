import ArgumentParser
import Foundation
import HubStorage

/// `tally-hub stats`.
struct StatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "stats", abstract: "Show how much a hub has, as JSON.")

  @OptionGroup var place: StoreOptions

  func run() async throws {
    let store = try await place.open()
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    print(String(decoding: try encoder.encode(try await store.totals()), as: UTF8.self))
    try store.close()
  }
}
