import ArgumentParser
import HubStorage

/// `tally-hub migrate`.
struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Create the tables of PostgreSQL databases, or bring them to this version.")

  @OptionGroup var place: StoreOptions

  func run() throws {
    for (number, address) in try place.databaseMap().addresses.enumerated() {
      let format = try PostgreSQLSchema.migrate(at: address)
      print("Database \(number + 1): format \(format) before, \(PostgreSQLSchema.format) now.")
    }
  }
}
