import Foundation
import SystemPackage
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally
@testable import TallySync

/// Values that lose a race where the other one arrives in a snapshot or a file, which do not say what their writes have
/// replaced.
struct SnapshotConflictTests {
  /// Two stores have the same task; then each writes its title, and only a snapshot of the first one is left in the folder.
  private func afterWritingBoth(
    firstAfter seconds: Int64, _ body: (FolderSpace, UUID) async throws -> Void
  ) async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox).id }
      try await space.synchronizeAll()
      let start = space.clock.now.adding(seconds: 100)
      space.clock.now = start
      try await space.stores[1].write { _ = try $0.update(id) { $0.title = "of the second" } }
      space.clock.now = start.adding(seconds: seconds)
      try await space.stores[0].write { _ = try $0.update(id) { $0.title = "of the first" } }
      try await space.sync(0).synchronize()
      try space.emptyFolder()
      try await space.sync(0).synchronize()
      try await body(space, id)
    }
  }

  @Test func anOwnValueThatLosesToASnapshotIsKept() async throws {
    try await afterWritingBoth(firstAfter: 50) { space, id in
      try await space.sync(1).synchronize()
      #expect(try space.stores[1].read { try $0.task(id) }?.title == "of the first")
      #expect(try await space.sync(1).conflicts().map(\.lost) == ["of the second"])
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      // Kept where it was written: the folder has lost everything, and the first one gets the merged state.
      #expect(try await space.sync(0).conflicts() == [])
    }
  }

  @Test func aValueOfASnapshotThatLosesIsKept() async throws {
    try await afterWritingBoth(firstAfter: -50) { space, id in
      try await space.sync(1).synchronize()
      #expect(try space.stores[1].read { try $0.task(id) }?.title == "of the second")
      #expect(try await space.sync(1).conflicts().map(\.lost) == ["of the first"])
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      // Kept once, by the device that found it.
      #expect(try await space.sync(0).conflicts() == [])
    }
  }

  @Test func whatAnAuthorHadSeenDoesNotLose() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox).id }
      try await space.synchronizeAll()
      // Each replaces the title of the other, which it has seen; the last one is in no snapshot of the first store.
      for (round, number) in [1, 0, 1].enumerated() {
        space.clock.now = space.clock.now.adding(seconds: 10)
        try await space.stores[number].write { _ = try $0.update(id) { $0.title = "by \(number)" } }
        if round < 2 { try await space.synchronizeAll() }
      }
      try space.emptyFolder()
      try await space.sync(0).synchronize()
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      for number in 0...1 { #expect(try await space.sync(number).conflicts() == []) }
    }
  }

  @Test(arguments: [-50, 50] as [Int64]) func aFileFindsTheValuesThatLoseOnce(seconds: Int64) async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox).id }
      try await space.synchronizeAll()
      let start = space.clock.now.adding(seconds: 100)
      space.clock.now = start
      try await space.stores[1].write { _ = try $0.update(id) { $0.title = "of the second" } }
      space.clock.now = start.adding(seconds: seconds)
      try await space.stores[0].write { _ = try $0.update(id) { $0.title = "of the first" } }
      let file = space.directory.appending("first.tally")
      try await space.sync(0).writeDifference(to: file)
      for _ in 0..<2 { try await space.sync(1).apply(file) }
      #expect(try await space.sync(1).conflicts().map(\.lost) == [seconds > 0 ? "of the second" : "of the first"])
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      for number in 0...1 { #expect(try await space.sync(number).conflicts().count == 1) }
    }
  }

  /// Between the last segment and the snapshot of an exchange a program may write: the record's text is then not that of the
  /// state.
  @Test func aSnapshotHasTheTextsOfWritesThatWait() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { try $0.add("a title that is longer than a digest", to: .inbox).id }
      try await space.synchronizeAll()
      let title = "another title, longer than a digest, too"
      try await space.stores[0].write { _ = try $0.update(id) { $0.title = title } }
      let draft = try await space.stores[0].write { try $0.draftSnapshot() }
      let opener = try #require(try await space.stores[1].write { try $0.opener(of: draft.name) })
      var titles: [String] = []
      try await draft.forEachPart { number, bytes in
        let part = try SnapshotPart(decoding: opener.content(of: bytes, number), by: draft.name.replica)
        for (_, state) in part.states {
          titles.append(String(decoding: state.registers[.title]?.value ?? [], as: UTF8.self))
        }
      }
      #expect(titles == [title])
    }
  }

  @Test func aLargeSnapshotHasPartsInOrder() async throws {
    try await withFolderSpace { space in
      let notes = String(repeating: "long ", count: 40_000)
      try await space.stores[0].write { transaction in
        for number in 0..<20 { try transaction.add("task \(number)", to: .inbox) { $0.notes = notes } }
        _ = try transaction.addList(name: "Home")
      }
      let draft = try await space.stores[0].write { try $0.draftSnapshot() }
      #expect(draft.name.partCount == 4 && draft.objectCount == 21)
      let keys = try await space.stores[0].write { try $0.requireSyncSettings() }
      let opener = SnapshotOpener(
        name: draft.name, verifyingKey: try keys.secretKeys().verifyingKey, keys: try keys.spaceKeys())
      var objects: [ObjectKey] = []
      var numbers: [Int] = []
      try await draft.forEachPart { number, bytes in
        numbers.append(number)
        let part = try SnapshotPart(decoding: opener.content(of: bytes, number), by: draft.name.replica)
        #expect(part.summary.partCount == 4 && bytes.count < 2 << 20)
        objects += part.states.keys
      }
      #expect(numbers == [0, 1, 2, 3])
      #expect(objects == objects.sorted() && Set(objects).count == 21)
    }
  }

  @Test func aSnapshotOfNothingHasOnePart() async throws {
    try await withFolderSpace { space in
      let draft = try await space.stores[0].write { try $0.draftSnapshot() }
      #expect(draft.name.partCount == 1 && draft.objectCount == 0)
    }
  }
}

extension FolderSpace {
  /// Deletes all that the folder has.
  func emptyFolder() throws {
    try FileManager.default.removeItem(atPath: folder.string)
    try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
  }
}
