import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Exchanges in unusual circumstances.
struct ExchangeTests {
  @Test func segmentsBehindALostOneThatWasMergedAreRead() async throws {
    try await withFolderSpace { space in
      let transport = try #require(try await space.sync(0).connect().transport as? FolderTransport)
      let replica = try await space.sync(0).status().replica
      func writeAndSend(_ titles: [String]) async throws {
        for title in titles {
          try await space.stores[0].write { _ = try $0.add(title, to: .inbox) }
          try await space.sync(0).synchronize()
        }
      }
      try await writeAndSend(["one", "two", "three"])
      try await space.sync(1).synchronize()
      let merged = try transport.segmentFiles(of: replica).files.count
      try await writeAndSend(["four", "five"])
      let lost = try transport.segmentFiles(of: replica).files[merged - 1]
      try FileManager.default.removeItem(atPath: lost.entry.path.string)
      #expect(try await transport.heads()[replica]?.number == UInt64(merged) - 1)
      try await space.sync(1).synchronize()
      #expect(try space.stores[1].read { try $0.view(.inbox).tasks.count } == 5)
      try await space.synchronizeAll()
      try await space.expectEqualStores()
    }
  }

  /// More than one write seals: tasks whose changes come in the next one keep them.
  @Test func manyChangesThatDependOnEachOtherAreSealed() async throws {
    try await withFolderSpace { space in
      let count = Outbox.mostSealedAtOnce + 100
      let ids = try await space.stores[0].write { transaction in
        try (0..<count).map { try transaction.add("task \($0)", to: .inbox).id }
      }
      try await space.synchronizeAll()
      let list = try await space.stores[0].write { transaction in
        let list = try transaction.addList(name: "Home").id
        for (number, id) in ids.enumerated() {
          _ = try transaction.update(id) { task in
            (task.listID, task.title, task.tags) = (list, "changed \(number)", ["a"])
            if number.isMultiple(of: 2), number > 0 { task.parentID = ids[0] }
          }
        }
        return list
      }
      let expected = try space.stores[0].read { try $0.view(.all).tasks }
      try await space.synchronizeAll()
      #expect(try space.stores[0].read { try $0.view(.all).tasks } == expected)
      #expect(expected.allSatisfy { $0.listID == list && $0.tags == ["a"] && $0.title.hasPrefix("changed") })
      try await space.expectEqualStores()
    }
  }

  /// The whole history of a space can be much longer than its state.
  @Test func aDeviceThatJoinsReadsTheSnapshotAndNotTheHistory() async throws {
    try await withFolderSpace(1) { space in
      let notes = String(repeating: "n", count: 50_000)
      for round in 0..<3 {
        try await space.stores[0].write { transaction in
          for number in 0..<10 { try transaction.add("task \(round) \(number)", to: .inbox) { $0.notes = notes } }
        }
        try await space.sync(0).synchronize()
      }
      let (invitation, id) = (try await space.sync(0).invite(), try await space.sync(0).status().space.bytes)
      let late = try space.addStore()
      try await StoreSync(late).join(invitation, in: space.folder, deviceName: "late")
      let transport = RefusingTransport(try FolderTransport.create(at: space.folder, space: id), refusing: [:])
      try await StoreSync(late).synchronize(through: transport)
      let partCount = try #require(try await transport.snapshots().first).partCount
      #expect(partCount > 1 && transport.calls.filter { $0 == .part }.count == partCount)
      try await space.synchronizeAll()
      try await space.expectEqualStores()
      #expect(try late.read { try $0.taskCount } == 30)
    }
  }

  @Test func aStoreThatMovesToAnotherSpaceIsNotExchangedThroughTheOldFolder() async throws {
    try await withFolderSpace { space in
      let old = try await space.sync(1).connect()
      let folder = space.directory.appending("elsewhere")
      try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
      try await space.sync(1).leave()
      _ = try await space.sync(1).setUp(in: folder, deviceName: "second")
      await #expect(throws: StoreSync.PlaceChanged.self) { try await space.sync(1).exchange(through: old) }
      try await space.sync(1).synchronize()
    }
  }
}
