import Foundation
import LMDB
import TallyTestSupport
import Testing

@testable import Tally

/// Additions of a newer minor version to a record survive a change by this version.
@Suite struct NewerMinorFormatTests {
  private let added: [UInt8] = [0xDE, 0xAD, 0, 0xFF]

  @Test func whatWasAddedToATaskIsKept() throws {
    try withStore { store in
      let task = try store.write { try $0.add("old title", to: .today) }
      try store.environment.write { base in
        let bytes = encoded(TaskRecord(item: task))
        var newer = bytes + added
        newer[2] = 0x80
        newer[59] = 0x07
        try raw("tasks", in: &base).put(newer, forKey: encoded(IDKey(task.id)), in: &base)
      }
      try store.write { try $0.update(task.id) { $0.title = "a longer title" } }
      try store.write { _ = try $0.complete(task.id) }
      let bytes = try rawValue(of: encoded(IDKey(task.id)), in: "tasks", of: store)
      #expect(bytes.suffix(added.count) == added[...])
      #expect(bytes[2] == 0x80 && bytes[59] == 0x07, "bits and reserved bytes too")
      #expect(try store.read { try $0.task(task.id)?.title } == "a longer title")
    }
  }

  @Test func whatWasAddedToAListIsKept() throws {
    try withStore { store in
      let list = try store.write { try $0.addList(name: "Home") }
      try store.environment.write { base in
        let newer = encoded(ListRecord(list: list)) + added
        try raw("lists", in: &base).put(newer, forKey: encoded(IDKey(list.id)), in: &base)
      }
      try store.write { try $0.renameList(list.id, to: "Household") }
      #expect(try rawValue(of: encoded(IDKey(list.id)), in: "lists", of: store).suffix(added.count) == added[...])
    }
  }

  @Test func whatWasAddedToTheHeaderIsKept() throws {
    try withStore { store in
      let header = try store.read { try $0.header() }
      try store.environment.write { base in
        var newer = encoded(header) + added
        newer[3] = 9
        newer[7] = 5
        try raw("meta", in: &base).put(newer, forKey: Array("header".utf8), in: &base)
      }
      try store.write { _ = try $0.add("counted", to: .inbox) }
      let bytes = try rawValue(of: Array("header".utf8), in: "meta", of: store)
      #expect(bytes.suffix(added.count) == added[...])
      #expect(bytes[3] == 9 && bytes[7] == 5, "the minor format and the reserved bytes too")
      #expect(try store.read { try $0.sequence } == header.sequence + 1)
    }
  }

  @Test func whatWasAddedToACompletionIsKeptWhenItsTaskIsDeleted() throws {
    try withStore { store in
      let task = try store.write { transaction in
        let id = try transaction.add("done", to: .inbox).id
        return try transaction.complete(id)
      }
      let live = try #require(CompletionKey(of: task))
      try store.environment.write { base in
        let newer = encoded(try #require(CompletionRecord(of: task))) + added
        try raw("completions", in: &base).put(newer, forKey: encoded(live), in: &base)
      }
      try store.write { _ = try $0.delete(task.id) }
      let deleted = CompletionKey(isTaskDeleted: true, completed: live.completed)
      #expect(try rawValue(of: encoded(deleted), in: "completions", of: store).suffix(added.count) == added[...])
    }
  }

  private func raw(_ table: String, in base: inout WriteTransaction) throws -> Database<[UInt8], [UInt8]> {
    try Database(opening: table, creating: false, in: &base)
  }

  private func rawValue(of key: [UInt8], in table: String, of store: TaskStore) throws -> [UInt8] {
    let table = try Database<[UInt8], [UInt8]>(opening: table, in: store.environment)
    return try #require(try store.environment.read { try table.value(forKey: key, in: $0) })
  }
}
