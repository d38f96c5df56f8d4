import Foundation
import LMDB
import SystemPackage
import TallyTestSupport

@testable import Tally

/// The contents of a store, byte for byte, with every time of change set to one value and without the values that every
/// write changes.
///
/// An undo must restore all of it.
func contents(of store: TaskStore) throws -> [String: [[UInt8]: [UInt8]]] {
  var contents: [String: [[UInt8]: [UInt8]]] = [:]
  for table in Tables.names where table != "meta" && table != "history" {
    let database = try Database<[UInt8], [UInt8]>(opening: table, in: store.environment)
    try store.environment.read { transaction in
      var cursor = try database.cursor(in: transaction)
      var isAtEntry = try cursor.moveToFirst()
      while isAtEntry {
        var value = try cursor.value()
        // Tasks and lists have their time of change at the same offset.
        if table == "tasks" || table == "lists" { value.replaceSubrange(24..<32, with: repeatElement(0, count: 8)) }
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
