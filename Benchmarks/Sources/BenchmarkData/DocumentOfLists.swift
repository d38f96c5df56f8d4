import Foundation
import SystemPackage
package import Tally

/// A document with only lists: importing it gives lists fixed ids, the same in every run.
package struct DocumentOfLists: Encodable {
  private struct List: Encodable {
    let id: UUID
    let name: String
    let sortOrder: Int64
    let createdAt: String
  }

  private let schemaVersion = 1
  private let lists: [List]

  package init(lists: [TaskList]) {
    self.lists = lists.map {
      List(id: $0.id, name: $0.name, sortOrder: $0.sortOrder, createdAt: $0.createdAt.iso8601)
    }
  }

  package func importInto(_ store: TaskStore) throws {
    let file = try BenchmarkFolder.makeScratch("lists").appending("lists.json")
    try JSONEncoder().encode(self).write(to: URL(filePath: file.string))
    try expectEqual(try store.importDocument(from: file).lists.added, lists.count, "lists added")
  }
}
