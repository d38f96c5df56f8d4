import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

typealias RawTable = Database<[UInt8], [UInt8]>

/// A closed store whose file is changed directly.
struct DamagedStore {
  let directory: FilePath

  func firstKey(of table: String) throws -> [UInt8]? {
    try TallyTests.firstKey(of: table, at: directory)
  }

  func change(_ table: String, _ body: (RawTable, inout WriteTransaction) throws -> Void) throws {
    try TallyTests.change(table, at: directory, body)
  }
}

/// A closed store with some of everything, and its contents.
func withFilledStore(_ body: (FilePath, [String]) throws -> Void) throws {
  try withTemporaryDirectory { directory in
    let path = directory.appending("store")
    let store = try TaskStore(at: path, configuration: .testing())
    try store.writeAndWait { transaction in
      let list = try transaction.addList(name: "Home")
      let draft = TaskDraft(
        title: "everywhere", scheduledDate: transaction.today, dueDate: transaction.now,
        reminderDate: transaction.now, listID: list.id)
      let started = try transaction.start(try transaction.add(draft).id)
      try transaction.add("part") { task in
        task.tags = ["home"]
        task.parentID = started.id
      }
      try transaction.complete(try transaction.add("done", to: .list(list.id)).id)
      let deleted = try transaction.add("deleted", to: .inbox)
      try transaction.complete(deleted.id)
      try transaction.delete(deleted.id)
    }
    try store.close()
    try body(path, try contents(at: path))
  }
}

/// Every table except the header and the undo log as text, so that stores can be compared byte for byte.
func contents(at directory: FilePath) throws -> [String] {
  try withRawEnvironment(at: directory) { environment in
    try Tables.names.filter { $0 != "meta" && $0 != "history" }.map { name in
      let table = try RawTable(opening: name, in: environment)
      var rows = [name]
      try environment.read { transaction in
        try table.forEach(in: transaction) { key, value in
          rows.append("\(key.bytes(from: 0)) \(value.bytes(from: 0))")
          return true
        }
      }
      return rows.joined(separator: "\n")
    }
  }
}

func firstKey(of table: String, at directory: FilePath) throws -> [UInt8]? {
  try withRawEnvironment(at: directory) { environment in
    let raw = try RawTable(opening: table, in: environment)
    return try environment.read { try firstKey(of: raw, in: $0) }
  }
}

func firstKey<T: LMDBTransaction & ~Copyable>(of table: RawTable, in transaction: borrowing T) throws -> [UInt8]? {
  var cursor = try table.cursor(in: transaction)
  return try cursor.moveToFirst() ? try cursor.key() : nil
}

func value(of table: String, forKey key: [UInt8], at directory: FilePath) throws -> [UInt8]? {
  try withRawEnvironment(at: directory) { environment in
    let raw = try RawTable(opening: table, in: environment)
    return try environment.read { try raw.value(forKey: key, in: $0) }
  }
}

func change(
  _ table: String, at directory: FilePath, _ body: (RawTable, inout WriteTransaction) throws -> Void
) throws {
  try withRawEnvironment(at: directory) { environment in
    let raw = try RawTable(opening: table, in: environment)
    try environment.write { try body(raw, &$0) }
  }
}

/// Rewrites the store's file without one of its tables.
func dropTable(_ dropped: String, at directory: FilePath) throws {
  let other = directory.removingLastComponent().appending("other")
  try FileManager.default.createDirectory(atPath: other.string, withIntermediateDirectories: true)
  try withRawEnvironment(at: directory) { source in
    try withRawEnvironment(at: other) { target in
      for name in Tables.names where name != dropped { try copyTable(name, from: source, to: target) }
    }
  }
  let file = directory.appending("data.mdb")
  try FileManager.default.removeItem(atPath: file.string)
  try FileManager.default.moveItem(atPath: other.appending("data.mdb").string, toPath: file.string)
}

private func copyTable(_ name: String, from source: LMDBEnvironment, to target: LMDBEnvironment) throws {
  let table = try RawTable(opening: name, in: source)
  var rows: [(key: [UInt8], value: [UInt8])] = []
  try source.read { transaction in
    try table.forEach(in: transaction) { key, value in
      rows.append((key.bytes(from: 0), value.bytes(from: 0)))
      return true
    }
  }
  try target.write { transaction in
    let copy = try RawTable(opening: name, creating: true, in: &transaction)
    for (key, value) in rows { try copy.put(value, forKey: key, in: &transaction) }
  }
}

private func withRawEnvironment<R>(at directory: FilePath, _ body: (LMDBEnvironment) throws -> R) throws -> R {
  let environment = try LMDBEnvironment(path: directory, options: LMDBEnvironment.Options())
  let result = Result { try body(environment) }
  try environment.close()
  return try result.get()
}
