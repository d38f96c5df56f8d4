import Foundation
import LMDB
import SystemPackage
import TallyTestSupport

@testable import Tally

/// What a store holds, byte for byte, without what every write changes.
///
/// That is the header, the history, the log of changes, the stamps by which records are in it, and the times of change. The
/// spelling of a tag is left out, too: it depends on the order of the writes.
///
/// An undo must restore all of it.
func contents(of store: TaskStore) throws -> [String: [[UInt8]: [UInt8]]] {
  var contents: [String: [[UInt8]: [UInt8]]] = [:]
  for table in Tables.names where !["meta", "history", "byChange", "tombstones", "tagNames"].contains(table) {
    let database = try Database<[UInt8], [UInt8]>(opening: table, in: store.environment)
    try store.environment.read { transaction in
      var cursor = try database.cursor(in: transaction)
      var isAtEntry = try cursor.moveToFirst()
      while isAtEntry {
        var value = try cursor.value()
        // The time of change, and behind it the stamp.
        if let start = ["tasks": 22, "lists": 24][table] {
          value.replaceSubrange(start..<(start + 24), with: repeatElement(0, count: 24))
        }
        contents[table, default: [:]][try cursor.key()] = value
        isAtEntry = try cursor.next()
      }
    }
  }
  return contents
}

/// The export of a store, with every time of change set to one value.
func exportWithoutTimesOfChange(of store: TaskStore) throws -> String {
  try withTemporaryDirectory { directory in
    let file = directory.appending("export.json")
    try store.export(to: file)
    let text = try String(contentsOfFile: file.string, encoding: .utf8)
    return text.split(separator: "\n").filter { !$0.contains("\"updatedAt\"") && !$0.contains("\"exportDate\"") }
      .joined(separator: "\n")
  }
}
