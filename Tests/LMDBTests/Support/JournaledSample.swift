import Foundation
import LMDB
import SystemPackage

/// An environment with a journal, in a directory of its own.
final class JournaledSample {
  typealias Bytes = Database<[UInt8], [UInt8]>

  let directory: TemporaryDirectory
  let environment: LMDBEnvironment
  let rows: Bytes

  init(_ change: (inout LMDBEnvironment.Options) -> Void = { _ in }) throws {
    directory = try TemporaryDirectory()
    environment = try LMDBEnvironment(path: directory.path, options: Self.options(change))
    rows = try environment.write { try Bytes(opening: "rows", creating: true, in: &$0) }
  }

  /// Options with a journal that does nothing by itself.
  static func options(_ change: (inout LMDBEnvironment.Options) -> Void = { _ in }) -> LMDBEnvironment.Options {
    var options = LMDBEnvironment.Options()
    options.mapSizeInBytes = 1 << 26
    var journal = JournalOptions()
    journal.ringSizeInBytes = 1 << 20
    journal.directCommitCount = 0
    journal.hasKeeper = false
    journal.checkpointCommitCount = 1_000
    options.journal = journal
    change(&options)
    return options
  }

  func put(_ value: String, forKey key: String) throws {
    try environment.write { try rows.put(Array(value.utf8), forKey: Array(key.utf8), in: &$0) }
  }

  func remove(_ key: String) throws {
    try environment.write { _ = try rows.remove(forKey: Array(key.utf8), in: &$0) }
  }

  /// The content of the store and of all tables, by their names.
  static func contents(of environment: LMDBEnvironment) throws -> [String: [[UInt8]: [UInt8]]] {
    let names = try environment.read { try $0.databaseNames() }
    var contents: [String: [[UInt8]: [UInt8]]] = [:]
    for name in names {
      let table = try Bytes(opening: name, in: environment)
      contents[name] = try environment.read { (transaction) throws in
        var rows: [[UInt8]: [UInt8]] = [:]
        try table.forEach(in: transaction) { key, value in
          rows[try [UInt8](decoding: key)] = try [UInt8](decoding: value)
          return true
        }
        return rows
      }
    }
    return contents
  }

  /// A copy of the data file and the journal, as they are now.
  func copy(dataFile: Data? = nil) throws -> TemporaryDirectory {
    let target = try TemporaryDirectory()
    let data = try dataFile ?? self.dataFile()
    try data.write(to: URL(fileURLWithPath: target.path.appending("data.mdb").string))
    try journal().write(to: URL(fileURLWithPath: target.path.appending("journal").string))
    return target
  }

  func dataFile() throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: directory.path.appending("data.mdb").string))
  }

  func journal() throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: directory.path.appending("journal").string))
  }
}

/// What recovery makes of a directory.
func recovered(
  _ directory: TemporaryDirectory, _ change: (inout LMDBEnvironment.Options) -> Void = { _ in }
) throws -> [String: [[UInt8]: [UInt8]]] {
  let environment = try LMDBEnvironment(path: directory.path, options: JournaledSample.options(change))
  defer { try? environment.close() }
  return try JournaledSample.contents(of: environment)
}
