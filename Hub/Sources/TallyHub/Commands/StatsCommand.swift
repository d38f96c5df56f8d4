import ArgumentParser
import Foundation
import HubStorage

/// `tally-hub stats`.
struct StatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "stats", abstract: "Show how much a hub has, as JSON.")

  @OptionGroup var place: StoreOptions

  func run() async throws {
    try await place.withStore { try OperatorOutput.printLine(try await $0.totals()) }
  }
}
