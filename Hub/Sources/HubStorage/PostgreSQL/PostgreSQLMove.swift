package import TallySync

/// Moves a space from one PostgreSQL database to another.
///
/// The space is frozen first: it refuses requests, which clients repeat, until the map of all hubs names the new
/// database. After an interruption the move is started again, or cancelled.
package struct PostgreSQLMove {
  private let space: SpaceID
  private let (source, target): (PostgreSQLConnection, PostgreSQLConnection)

  private static let tables = [
    "space", "member", "token", "replica", "segment", "card", "snapshot", "snapshot_part", "recovery",
  ]

  /// Connects to both databases.
  ///
  /// - Parameters:
  ///   - space: The space.
  ///   - source: The connection string of the database that has it.
  ///   - target: The connection string of the other one, which must have the schema.
  /// - Throws: ``HubStoreError``.
  package init(of space: SpaceID, from source: String, to target: String) throws {
    self.space = space
    do throws(PostgreSQLFault) {
      (self.source, self.target) = (
        try PostgreSQLConnection(to: source, timeoutInMilliseconds: PostgreSQLConnection.noTimeout),
        try PostgreSQLConnection(to: target, timeoutInMilliseconds: PostgreSQLConnection.noTimeout)
      )
    } catch {
      throw HubStoreError(error)
    }
  }

  /// Freezes the space in its old database, and copies it in one transaction; a copy that exists already stays.
  ///
  /// - Throws: ``HubStoreError``; with `noSpace` the old database does not have it, with `spaceExists` the new one has the rest of
  ///   an earlier move, which ``finish()`` deletes.
  package func copy() throws {
    guard try count(in: source) > 0 else { throw HubStoreError.noSpace }
    let isBegun = try count(in: source, "AND is_frozen") > 0
    guard try count(in: target, isBegun ? "AND is_frozen" : "") == 0 else { throw HubStoreError.spaceExists }
    try run("UPDATE space SET is_frozen = true WHERE id = '\(space)'", in: source)
    guard try count(in: target) == 0 else { return }
    try run("BEGIN", in: target)
    for table in Self.tables { try copy(table) }
    try run("UPDATE space SET is_frozen = false WHERE id = '\(space)'; COMMIT", in: target)
  }

  /// Thaws the space in its old database, if the new one does not have it.
  ///
  /// - Throws: ``HubStoreError``; with `spaceExists` the new database has it.
  package func cancel() throws {
    guard try count(in: target) == 0 else { throw HubStoreError.spaceExists }
    try run("UPDATE space SET is_frozen = false WHERE id = '\(space)'", in: source)
  }

  /// Deletes the space from its old database, if it is frozen there and the new one has it.
  ///
  /// - Throws: ``HubStoreError``; with `noSpace` the new database does not have it.
  package func finish() throws {
    guard try count(in: target, "AND NOT is_frozen") > 0 else { throw HubStoreError.noSpace }
    guard try count(in: source, "AND NOT is_frozen") == 0 else { throw HubStoreError.spaceExists }
    try run("BEGIN", in: source)
    for table in Self.tables { try run("DELETE FROM \(table) WHERE \(condition(on: table))", in: source) }
    try run("COMMIT", in: source)
  }

  private func condition(on table: String) -> String { "\(table == "space" ? "id" : "space") = '\(space)'" }

  private func count(in connection: PostgreSQLConnection, _ condition: String = "") throws -> Int64 {
    do throws(PostgreSQLFault) {
      let text = "SELECT count(*) FROM space WHERE id = '\(space)' \(condition)"
      var row = try connection.run([PostgreSQLQuery(text)])[0].get().first
      return (try? row?.integer()) ?? 0
    } catch {
      throw HubStoreError(error)
    }
  }

  private func run(_ text: String, in connection: PostgreSQLConnection) throws {
    do { try connection.execute(text) } catch { throw HubStoreError(error) }
  }

  private func copy(_ table: String) throws {
    do {
      try source.copy(
        "COPY (SELECT * FROM \(table) WHERE \(condition(on: table))) TO STDOUT (FORMAT binary)",
        into: "COPY \(table) FROM STDIN (FORMAT binary)", of: target)
    } catch {
      throw HubStoreError(error)
    }
  }
}
