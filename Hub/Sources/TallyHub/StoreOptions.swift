import ArgumentParser
import HubService
import HubStorage
import SystemPackage

/// The options that name a hub's store.
struct StoreOptions: ParsableArguments {
  @Option(help: "The directory with everything that the hub keeps, for one hub.") var data: String?
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
    guard databases != nil else { return try await open(databaseMap().rest) }
    return try await openForServing().store
  }

  /// Runs a command with the store.
  func withStore(_ body: (any HubStore) async throws -> Void) async throws {
    let store = try await open()
    do {
      try await body(store)
    } catch {
      try? store.close()
      throw error
    }
    try store.close()
  }

  /// Opens the store, and returns it with a closure that reads its map again, if it has a map of databases.
  func openForServing() async throws -> (store: any HubStore, reload: (@Sendable () async throws -> Void)?) {
    guard let databases else { return (try await open(), nil) }
    let (text, connections) = (try OperatorFile.text(of: databases), connections)
    let map = try DatabaseMap(text: text)
    let opened = OpenDatabases()
    try await opened.follow(map, connections: connections)
    let divided = DividedHubStore(await opened.stores(of: map), rules: map.rulesByNumber)
    return (
      divided,
      {
        let map = try DatabaseMap(text: try OperatorFile.text(of: databases))
        try await opened.follow(map, connections: connections)
        let removed = divided.setMap(await opened.stores(of: map), rules: map.rulesByNumber)
        await opened.close(removed)
      }
    )
  }

  private func open(_ address: String) async throws -> PostgreSQLHubStore {
    try await PostgreSQLHubStore(at: address, connectionCount: connections)
  }

  /// The databases; none for a directory.
  func databaseMap() throws -> DatabaseMap {
    if let database { return DatabaseMap(rest: database) }
    guard let databases else { throw ValidationError("Give --database or --databases: a directory has no databases.") }
    return try DatabaseMap(text: try OperatorFile.text(of: databases))
  }
}

/// The open databases of a map, by their addresses.
private actor OpenDatabases {
  private var known: [String: PostgreSQLHubStore] = [:]

  /// Calls in progress when the map changes are answered within this time.
  private static let patience = Duration.seconds(30)

  /// Opens the databases of a map that are not open yet.
  func follow(_ map: DatabaseMap, connections: Int) async throws {
    for address in map.addresses where known[address] == nil {
      known[address] = try await PostgreSQLHubStore(at: address, connectionCount: connections)
    }
  }

  func stores(of map: DatabaseMap) -> [any HubStore] { map.addresses.compactMap { known[$0] } }

  /// Closes databases that the map no longer has, after their calls have finished.
  func close(_ stores: [any HubStore]) {
    known = known.filter { entry in !stores.contains { $0 === entry.value } }
    Task.detached {
      try await Task.sleep(for: Self.patience)
      for store in stores { try store.close() }
    }
  }
}

/// The map of spaces to databases.
struct DatabaseMap: Equatable {
  struct Rule: Equatable {
    let prefix: String
    let address: String
  }

  /// The rules; the one with the longest beginning of an id applies.
  private(set) var rules: [Rule] = []
  /// The database of all other spaces and of the accounts.
  let rest: String

  init(rest: String) { self.rest = rest }

  /// Reads the lines of a map; empty lines and those that begin with `#` are ignored.
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
        throw ValidationError("'\(prefix)' is not the beginning of an id, or appears twice.")
      }
      rules.append(Rule(prefix: prefix, address: address))
    }
    guard let rest else { throw ValidationError("The map has no line for '-', which stands for all other spaces.") }
    self.rest = rest
  }

  /// The rules, with the numbers of the databases in ``addresses``.
  var rulesByNumber: [DividedHubStore.Rule] {
    rules.map { rule in
      DividedHubStore.Rule(prefix: rule.prefix, store: addresses.firstIndex(of: rule.address) ?? 0)
    }
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
