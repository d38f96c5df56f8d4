import ArgumentParser
import HubStorage
import SystemPackage

/// Where a hub keeps what it has.
struct StoreOptions: ParsableArguments {
  @Option(help: "A directory with all that the hub keeps, for one hub.") var data: String?
  @Option(help: "The connection string of a PostgreSQL database, for one hub or several.") var database: String?
  @Option(
    help:
      "A file that maps spaces to PostgreSQL databases: lines of the beginning of an id, or -, and a connection string."
  )
  var databases: String?
  @Option(help: "How many connections to each database.") var connections = 8

  func validate() throws {
    guard [data, database, databases].compactMap({ $0 }).count == 1 else {
      throw ValidationError("Give one of --data, --database and --databases.")
    }
    guard (1...200).contains(connections) else { throw ValidationError("Give 1 to 200 connections.") }
  }

  /// Opens the store; a missing directory is created, the tables of a database are not.
  func open() async throws -> any HubStore {
    if let data { return try LMDBHubStore(at: FilePath(data)) }
    let map = try databaseMap()
    var stores: [any HubStore] = []
    for address in map.addresses { stores.append(try await open(address)) }
    guard stores.count > 1 else { return stores[0] }
    return DividedHubStore(
      stores, rules: map.rules.map { .init(prefix: $0.prefix, store: map.addresses.firstIndex(of: $0.address) ?? 0) })
  }

  private func open(_ address: String) async throws -> PostgreSQLHubStore {
    try await PostgreSQLHubStore(at: address, connectionCount: connections)
  }

  /// The databases; none for a directory.
  func databaseMap() throws -> DatabaseMap {
    if let database { return DatabaseMap(rest: database) }
    guard let databases else { throw ValidationError("A directory has no databases.") }
    return try DatabaseMap(text: try TextFile.read(databases))
  }
}

/// Which spaces are in which database.
struct DatabaseMap: Equatable {
  struct Rule: Equatable {
    let prefix: String
    let address: String
  }

  /// The longest beginning of an id decides.
  private(set) var rules: [Rule] = []
  /// Where all others are, and the accounts.
  let rest: String

  init(rest: String) { self.rest = rest }

  /// Reads the lines of a map; empty ones and those that begin with `#` are left out.
  init(text: String) throws {
    var rest: String?
    for line in text.split(whereSeparator: \.isNewline) where !line.isEmpty && !line.hasPrefix("#") {
      let parts = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
      guard parts.count == 2 else { throw ValidationError("A line of the map has no connection string: \(line)") }
      let (prefix, address) = (parts[0].lowercased(), String(parts[1]).trimming())
      if prefix == "-" {
        guard rest == nil else { throw ValidationError("The map has two lines for '-'.") }
        rest = address
        continue
      }
      guard prefix.allSatisfy(\.isHexDigit), prefix.count <= 32, !rules.contains(where: { $0.prefix == prefix }) else {
        throw ValidationError("'\(prefix)' is not the beginning of an id, or is there twice.")
      }
      rules.append(Rule(prefix: prefix, address: address))
    }
    guard let rest else { throw ValidationError("The map has no line for '-', which stands for all other spaces.") }
    self.rest = rest
  }

  /// All connection strings, each once; the first one is that of all other spaces.
  var addresses: [String] {
    ([rest] + rules.map(\.address)).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}

extension String {
  fileprivate func trimming() -> String {
    let start = drop(while: \.isWhitespace)
    return String(start.reversed().drop(while: \.isWhitespace).reversed())
  }
}
