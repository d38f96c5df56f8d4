import Foundation

/// The schema of a hub's database.
package enum PostgreSQLSchema {
  /// The version that this program reads and writes.
  package static let format: Int64 = 4
  /// SQLSTATE 42P01: the table is missing.
  static let undefinedTable = "42P01"

  /// The steps from each format to the next one, the first from an empty database.
  ///
  /// The function that appends segments exists in one version only, the current one. Format 2 creates it; format 4 replaces older
  /// versions of it.
  private static let steps = [
    PackageResources.Format1_sql, PackageResources.Format2_sql + PackageResources.AppendSegments_sql,
    PackageResources.Format3_sql, PackageResources.Format4_sql + PackageResources.AppendSegments_sql,
  ]

  /// Brings a database to the format of this program, in one transaction; does nothing if it has that format.
  ///
  /// - Parameters:
  ///   - address: A connection string of libpq.
  ///   - format: The target; tests give an older format.
  /// - Returns: The format before; 0 for an empty database.
  /// - Throws: ``HubStoreError``.
  package static func migrate(at address: String, to format: Int64 = format) throws -> Int {
    do throws(PostgreSQLFault) {
      let connection = try PostgreSQLConnection(
        to: address, timeoutInMilliseconds: PostgreSQLConnection.noTimeout)
      // If two programs migrate at once, the second one waits and finds the first one's tables. The lock ends with the
      // connection.
      try connection.execute("SELECT pg_advisory_lock(6056113420)")
      let found = try existingFormat(through: connection)
      guard found <= steps.count else {
        throw .refused(code: "", message: "The database has format \(found), and this version knows \(steps.count).")
      }
      guard found < format else { return found }
      try connection.execute(script(from: found, to: Int(format)))
      return found
    } catch {
      throw HubStoreError(error)
    }
  }

  private static func existingFormat(through connection: PostgreSQLConnection) throws(PostgreSQLFault) -> Int {
    let answer = connection.run([PostgreSQLQuery("SELECT format FROM meta")])[0]
    if case .failure(.refused(let code, _)) = answer, code == undefinedTable { return 0 }
    var row = try answer.get().first
    return Int((try? row?.integer()) ?? 0)
  }

  private static func script(from format: Int, to newFormat: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    let incarnation = (0..<16).map { _ in String(format: "%02x", UInt8.random(in: .min ... .max, using: &generator)) }
    return """
      BEGIN;
      CREATE SCHEMA IF NOT EXISTS tally_hub;
      \(steps[format..<newFormat].map { String(decoding: $0, as: UTF8.self) }.joined())
      INSERT INTO meta SELECT 0, decode('\(incarnation.joined())', 'hex') WHERE NOT EXISTS (SELECT FROM meta);
      UPDATE meta SET format = \(newFormat);
      COMMIT;
      """
  }
}
