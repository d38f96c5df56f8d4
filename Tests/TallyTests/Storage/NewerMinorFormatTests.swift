import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// What a newer minor version has added to a record survives every writer of this version.
@Suite struct NewerMinorFormatTests {
  /// A field that this version does not know.
  static let added: [UInt8] = [240, 4, 0xDE, 0xAD, 0, 0xFF]

  @Test func unknownFieldsOfATaskSurviveUpdateCompletionAndMove() throws {
    try withStore { store in
      let task = try store.writeAndWait { try $0.add("old title", to: .today) }
      try Self.addField(toTask: task.id, in: store)
      try store.writeAndWait { try $0.update(task.id) { $0.title = "a longer title" } }
      try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "Home")
        try transaction.move(task.id, toList: list.id)
        try transaction.complete(task.id)
      }
      #expect(try store.read { try $0.task(task.id)?.title } == "a longer title")
      try Self.expectField(ofTask: task.id, in: store)
    }
  }

  @Test func unknownFieldsOfATaskSurviveAnImportOverIt() throws {
    try withStore { store in
      let task = try store.writeAndWait { try $0.add("old title", to: .inbox) }
      try Self.addField(toTask: task.id, in: store)
      try store.importText("{\"id\": \"\(task.id)\", \"text\": \"imported\"}", .ndjson)
      #expect(try store.read { try $0.task(task.id)?.title } == "imported")
      try Self.expectField(ofTask: task.id, in: store)
    }
  }

  @Test func unknownFieldsOfATaskSurviveUndoAndRedo() throws {
    try withStore { store in
      let task = try store.writeAndWait { try $0.add("old title", to: .inbox) }
      try Self.addField(toTask: task.id, in: store)
      try store.writeAndWait { try $0.update(task.id) { $0.title = "other" } }
      try store.writeAndWait { try $0.undo() }
      try Self.expectField(ofTask: task.id, in: store)
      try store.writeAndWait { _ = try $0.delete(task.id) }
      try store.writeAndWait { try $0.undo() }
      try Self.expectField(ofTask: task.id, in: store)
    }
  }

  @Test func unknownFieldsOfATaskSurviveRepairCompactionAndRestoring() throws {
    try withTemporaryDirectory { parent in
      let directory = parent.appending("store")
      var store = try TaskStore(at: directory, configuration: .testing())
      let task = try store.writeAndWait { try $0.add("kept", to: .inbox) }
      try Self.addField(toTask: task.id, in: store)
      try store.close()
      try change("byPlace", at: directory) { try $0.removeAll(in: &$1) }
      #expect(try TaskStore.repair(at: directory, configuration: .testing()).after.isSound)
      _ = try TaskStore.compact(at: directory, configuration: .testing())
      store = try TaskStore(at: directory, configuration: .testing())
      try store.backup(to: parent.appending("backup"))
      try store.close()
      try TaskStore.restore(from: parent.appending("backup"), to: directory, configuration: .testing())
      store = try TaskStore(at: directory, configuration: .testing())
      try Self.expectField(ofTask: task.id, in: store)
      try store.close()
    }
  }

  @Test func unknownFieldsOfAListSurvive() throws {
    try withStore { store in
      let list = try store.writeAndWait { try $0.addList(name: "Home") }
      try store.environment.write { base in
        let record = try #require(try store.read { try $0.record(ListRecord.self, list.id) })
        try Self.raw("lists", in: &base).put(encoded(record) + Self.added, forKey: encoded(IDKey(list.id)), in: &base)
      }
      try store.writeAndWait { try $0.renameList(list.id, to: "Household") }
      try store.writeAndWait { _ = try $0.deleteList(list.id) }
      try store.writeAndWait { try $0.undo() }
      #expect(try Self.value(of: encoded(IDKey(list.id)), in: "lists", of: store).suffix(6) == Self.added[...])
    }
  }

  @Test func whatWasAddedToTheHeaderIsKept() throws {
    try withStore { store in
      let header = try store.read { try $0.header() }
      try store.environment.write { base in
        var newer = encoded(header) + Self.added
        newer[3] = 9
        try Self.raw("meta", in: &base).put(newer, forKey: Array("header".utf8), in: &base)
      }
      try store.writeAndWait { _ = try $0.add("counted", to: .inbox) }
      let bytes = try Self.value(of: Array("header".utf8), in: "meta", of: store)
      #expect(bytes.suffix(Self.added.count) == Self.added[...])
      #expect(bytes[3] == 9, "the minor format too")
      #expect(try store.read { try $0.sequence } == header.sequence + 1)
    }
  }

  @Test func unknownFieldsOfACompletionSurviveTheDeletionOfItsTask() throws {
    try withStore { store in
      let task = try store.writeAndWait { transaction in
        let id = try transaction.add("done", to: .inbox).id
        return try transaction.complete(id)
      }
      let live = try #require(CompletionKey(of: task))
      try store.environment.write { base in
        let newer = encoded(try #require(CompletionRecord(of: task))) + Self.added
        try Self.raw("completions", in: &base).put(newer, forKey: encoded(live), in: &base)
      }
      try store.writeAndWait { _ = try $0.delete(task.id) }
      let deleted = CompletionKey(isTaskDeleted: true, completed: live.completed)
      #expect(try Self.value(of: encoded(deleted), in: "completions", of: store).suffix(6) == Self.added[...])
    }
  }

  /// Adds the field behind the others, as a newer version would.
  private static func addField(toTask id: UUID, in store: TaskStore) throws {
    let record = try #require(try store.read { try $0.record(TaskRecord.self, id) })
    try store.environment.write { base in
      try raw("tasks", in: &base).put(encoded(record) + added, forKey: encoded(IDKey(id)), in: &base)
    }
  }

  private static func expectField(ofTask id: UUID, in store: TaskStore) throws {
    #expect(try value(of: encoded(IDKey(id)), in: "tasks", of: store).suffix(added.count) == added[...])
    #expect(try store.verify().isSound)
  }

  private static func raw(_ table: String, in base: inout WriteTransaction) throws -> Database<[UInt8], [UInt8]> {
    try Database(opening: table, creating: false, in: &base)
  }

  private static func value(of key: [UInt8], in table: String, of store: TaskStore) throws -> [UInt8] {
    let table = try Database<[UInt8], [UInt8]>(opening: table, in: store.environment)
    return try #require(try store.environment.read { try table.value(forKey: key, in: $0) })
  }
}
