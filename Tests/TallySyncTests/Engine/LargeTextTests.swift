import Foundation
import SystemPackage
import TallySyncConformance
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally
@testable import TallySync

/// Texts that are too large to be sent are refused when they are written; all others arrive, however many there are.
struct LargeTextTests {
  private static let large = String(repeating: "n", count: SyncLimit.maximumTextByteCount + 1)

  /// Every kind of write that takes a text.
  private static func writes(_ id: UUID, _ list: UUID) -> [(String, (inout StoreWriteTransaction) throws -> Void)] {
    [
      ("add", { _ = try $0.add(large, to: .inbox) }),
      ("title", { _ = try $0.update(id) { $0.title = large } }),
      ("notes", { _ = try $0.update(id) { $0.notes = large } }),
      ("name", { _ = try $0.renameList(list, to: large) }),
      ("list", { _ = try $0.addList(name: large) }),
      (
        "put",
        { transaction in
          var task = try #require(try transaction.task(id))
          task.notes = large
          try transaction.put(task)
        }
      ),
      ("putList", { try $0.put(TaskList(id: UUID(), name: large, createdAt: .earliest)) }),
      (
        "insert",
        { transaction in
          try transaction.insert(contentsOf: [
            TaskItem(id: UUID(), title: "one", notes: large, createdAt: transaction.now, updatedAt: transaction.now)
          ])
        }
      ),
      (
        "filter",
        { transaction in
          let values = (0..<900_000).map { "tag:a\($0)" }.joined(separator: " or ")
          _ = try transaction.saveFilter(TaskFilter(text: values), as: "one")
        }
      ),
    ]
  }

  private static func expectRefusals(in store: TaskStore, _ id: UUID, _ list: UUID) throws {
    for (name, write) in writes(id, list) {
      let error = #expect(throws: TallyError.self, "\(name)") { try store.writeAndWait { try write(&$0) } }
      #expect([.valueOutOfRange, .invalidFilter].contains(error?.code), "\(name)")
    }
  }

  @Test func aTextThatCannotBeSentIsRefused() async throws {
    try await withFolderSpace { space in
      let (id, list) = try await space.stores[0].write { transaction in
        (try transaction.add("one", to: .inbox).id, try transaction.addList(name: "Home").id)
      }
      try Self.expectRefusals(in: space.stores[0], id, list)
      let source = try space.addStore()
      try await source.write { _ = try $0.add("two", to: .inbox) { $0.notes = Self.large } }
      let file = space.directory.appending("export.json")
      _ = try source.export(to: file)
      let error = #expect(throws: TallyError.self) { try space.stores[0].importDocument(from: file) }
      #expect(error?.code == .valueOutOfRange)
      try await space.sync(0).synchronize()
      try await space.sync(1).synchronize()
      try StoreSpace.expectEqual(Array(space.stores.prefix(2)))
      // A store that has such a text refuses to join, and stays as it is.
      let invitation = try await space.sync(0).invite()
      let refusal = await #expect(throws: TallyError.self) {
        try await space.sync(2).join(invitation, in: space.folder, deviceName: "third")
      }
      #expect(refusal?.code == .valueOutOfRange && refusal?.message.contains("two") == true)
      #expect(try await !space.sync(2).isSetUp)
      let task = try #require(try source.read { try $0.view(.inbox).tasks.first })
      try await source.write { _ = try $0.update(task.id) { $0.notes = "short" } }
      try await space.sync(2).join(invitation, in: space.folder, deviceName: "third")
      // An undo that would bring the text back is refused, too.
      await #expect(throws: TallyError.self) { try await source.write { _ = try $0.undo() } }
      try await space.synchronizeAll()
      try await space.expectEqualStores()
    }
  }

  /// Each text fits, but all of them together do not fit into one segment or one part of a snapshot.
  @Test func manyLargeTextsOfOneTaskArrive() async throws {
    try await withFolderSpace { space in
      let text = String(repeating: "n", count: SyncLimit.maximumTextByteCount)
      let id = try await space.stores[0].write { transaction in
        try transaction.add("t" + text.dropFirst(), to: .inbox) { $0.notes = text }.id
      }
      try await space.stores[0].write { transaction in
        _ = try transaction.update(id) { task in
          task.tags = TagSet((0..<60).map { "tag\($0)" })
          for number in 0..<60 { task.attributes["a\(number)"] = .text(String(repeating: "x", count: 1_000)) }
        }
      }
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      #expect(try space.stores[1].read { try $0.task(id) }?.notes == text)
      // A newcomer reads a snapshot.
      try await space.stores[0].write { try $0.changeSyncSettings { $0.needsSnapshot = true } }
      try await space.sync(0).synchronize()
      let third = try space.addStore()
      try await StoreSync(third).join(space.sync(0).invite(), in: space.folder, deviceName: "third")
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      // A file has all texts, too.
      let file = space.directory.appending("file.tally")
      try await space.sync(0).writeDifference(to: file)
      try await space.sync(1).apply(file)
      try await space.expectEqualStores()
    }
  }

  /// A text that an earlier version accepted stays, is named, and is kept as a conflict when another device writes the field.
  @Test func aTextOfAnEarlierVersionStaysAndIsNamed() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox).id }
      try await space.synchronizeAll()
      try await space.stores[0].write { transaction in
        transaction.state.origin = .replica
        _ = try transaction.update(id) { $0.notes = Self.large }
      }
      try await space.stores[0].write { try $0.noteAsChanged(.notes, isList: false, id: id) }
      let report = try await space.sync(0).synchronize()
      #expect(report.unsentTexts == ["one"])
      let status = try await space.sync(0).status()
      #expect(status.tooLarge == 1 && status.unsentTexts == ["one"])
      // Other fields can still be written.
      try await space.stores[0].write { _ = try $0.update(id) { $0.title = "two" } }
      try await space.synchronizeAll()
      let other = try #require(try space.stores[1].read { try $0.task(id) })
      #expect(other.title == "two" && other.notes == nil)
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.stores[1].write { _ = try $0.update(id) { $0.notes = "short" } }
      try await space.synchronizeAll()
      #expect(try await space.sync(0).conflicts().contains { $0.lost == Self.large })
      #expect(try await space.sync(0).status().tooLarge == 0)
      try await space.expectEqualStores()
    }
  }
}
