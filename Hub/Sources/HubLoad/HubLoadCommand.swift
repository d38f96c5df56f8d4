import ArgumentParser

/// Loads a hub and prints figures as JSON; `Hub/Scripts/load.py` runs it.
@main
struct HubLoadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hub-load", abstract: "Load a hub and print figures as JSON.",
    subcommands: [AppendLoad.self, HealthLoad.self, WaitLoad.self, DeviceLoad.self])
}

/// The address of the hub.
struct HubOptions: ParsableArguments {
  @Option(help: "The address of the hub.") var url: String
  @Option(help: "The token of an account.") var account: String
}
