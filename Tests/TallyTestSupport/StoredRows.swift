public import Foundation
import LMDB
public import SystemPackage

/// The tables of a store as lines of text: a table, then each of its rows as the key and the value in hexadecimal digits.
public struct StoredRows {
  /// The rows of each table, as liblmdb has them.
  public private(set) var tables: [String: [(key: [UInt8], value: [UInt8])]] = [:]

  /// Reads all tables of a store that nobody has open.
  public init(ofStoreAt directory: FilePath) throws {
    let environment = try LMDBEnvironment(path: directory)
    defer { try? environment.close() }
    for table in try environment.read({ try $0.databaseNames() }) {
      let database = try Database<[UInt8], [UInt8]>(opening: table, in: environment)
      var rows: [(key: [UInt8], value: [UInt8])] = []
      try environment.read { transaction in
        var cursor = try database.cursor(in: transaction)
        var isAtEntry = try cursor.moveToFirst()
        while isAtEntry {
          rows.append((try cursor.key(), try cursor.value()))
          isAtEntry = try cursor.next()
        }
      }
      tables[table] = rows
    }
  }

  /// Reads lines; a table needs no line of its own if it has rows.
  public init(from file: URL) throws {
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
      let parts = line.split(separator: " ", omittingEmptySubsequences: false)
      var rows = tables[String(parts[0]), default: []]
      if parts.count > 1 { rows.append((Self.bytes(parts[1]), parts.count > 2 ? Self.bytes(parts[2]) : [])) }
      tables[String(parts[0])] = rows
    }
  }

  /// Writes lines.
  public func write(to file: URL) throws {
    let lines = tables.sorted { $0.key < $1.key }.flatMap { table, rows in
      [table] + rows.map { "\(table) \(Self.digits($0.key)) \(Self.digits($0.value))" }
    }
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
  }

  /// Creates a store with these rows in a directory that is not there yet.
  public func makeStore(at directory: FilePath) throws {
    try FileManager.default.createDirectory(atPath: directory.string, withIntermediateDirectories: true)
    let environment = try LMDBEnvironment(path: directory)
    try environment.write { transaction in
      for (name, rows) in tables {
        let table = try Database<[UInt8], [UInt8]>(opening: name, creating: true, in: &transaction)
        for row in rows { try table.put(row.value, forKey: row.key, in: &transaction) }
      }
    }
    try environment.close()
  }

  private static func digits(_ bytes: [UInt8]) -> String {
    bytes.map { String(format: "%02x", $0) }.joined()
  }

  private static func bytes(_ text: Substring) -> [UInt8] {
    let digits = Array(text)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
  }
}
