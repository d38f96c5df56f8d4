import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// A store as this version writes it in a space: a later version reads each of its rows, and goes on.
struct GoldenSpaceTests {
  private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("golden-space-v2.txt")

  /// `TALLY_RECORD=1` overwrites the file; copy the old one first, and keep a test that reads it.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["TALLY_RECORD"] == "1"))
  func theStoreIsRecorded() async throws {
    try await withFolderSpace(3) { space in
      try await Self.fill(space)
      try await space.stores[0].write { transaction in
        try transaction.changeSyncSettings { $0.place = "/nowhere" }
      }
      try space.stores[0].close()
      try StoredRows(ofStoreAt: space.stores[0].directory).write(to: Self.file)
      space.replace(0, with: try space.open("store-0"))
    }
  }

  /// Objects in other places than their states say, completions of deleted tasks, filters to send and texts that are too large are
  /// rows of moments, which the stores of other tests have.
  @Test func theKindsOfRowsThatStayAreThere() throws {
    let kinds = Set(try StoredRows(from: Self.file).tables["sync", default: []].compactMap(\.key.first))
    #expect(kinds.isSuperset(of: [1, 2, 4, 5, 6, 7, 9, 13, 15, 16, 17, 18, 19, 20, 21, 40]))
  }

  @Test func aStoreInASpaceIsReadAndGoesOn() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory.appending("golden")
      try StoredRows(from: Self.file).makeStore(at: path)
      let store = try TaskStore(at: path, configuration: .testing(clock: .noon))
      let sync = StoreSync(store)
      try checkInvariants(of: store)
      #expect(try await sync.verify() == [])
      let status = try await sync.status()
      #expect(status.name == "first" && status.pending == 6)
      #expect(status.members.filter { !$0.isFormer && !$0.isRevoked }.map(\.name) == ["phone"])
      #expect(status.members.filter(\.isRevoked).map(\.name) == ["device 3"])
      #expect(status.members.filter { $0.successor != nil }.count == 1)
      #expect(try await sync.conflicts().map(\.lost) == ["saved elsewhere: is:done", "from the first"])
      #expect(try await sync.trash().map(\.name) == ["Groceries", "deleted"])
      #expect(try store.read { try $0.lists().map(\.name) } == ["Groceries"])
      #expect(
        try Set(store.read { try $0.view(.all).tasks.map(\.title) }) == [
          "milk", "bread", "eggs", "from the second", "restored", "sealed", "waits",
        ])
      // It goes on in a folder to which it moves, where another store joins.
      let folder = directory.appending("folder")
      try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
      _ = try await sync.move(to: folder)
      try await sync.synchronize()
      let other = try TaskStore(at: directory.appending("other"), configuration: .testing(clock: .noon))
      try await StoreSync(other).join(try await sync.invite(), in: folder, deviceName: "third")
      for sync in [StoreSync(other), sync, StoreSync(other)] { try await sync.synchronize() }
      try StoreSpace.expectEqual([store, other])
      #expect(try await StoreSync(other).status().stateHash == sync.status().stateHash)
      for store in [store, other] {
        try checkInvariants(of: store)
        try store.close()
      }
    }
  }

  /// Does what leaves a row of each kind in the first of two stores.
  private static func fill(_ space: FolderSpace) async throws {
    let (first, second) = (space.stores[0], space.stores[1])
    func later() { space.clock.now = space.clock.now.adding(seconds: 60) }
    let mine = try await first.write { transaction in
      let list = try transaction.addList(name: "Groceries").id
      for title in ["milk", "raced", "deleted", "restored"] { try transaction.add(title, to: .list(list)) }
      _ = try transaction.saveFilter(TaskFilter(text: "is:open"), as: "saved elsewhere")
      return list
    }
    later()
    let theirs = try await second.write { transaction in
      let list = try transaction.addList(name: "Groceries").id
      for title in ["bread", "eggs"] { try transaction.add(title, to: .list(list)) }
      return list
    }
    try await space.synchronizeAll()
    try await space.sync(0).renameMember(try await space.sync(1).status().replica, to: "phone")
    try await space.synchronizeAll()
    let raced = try await first.task(titled: "raced")
    // Two values lose a race; one of them is dismissed.
    for number in 0..<2 {
      try await first.write { try $0.update(raced) { $0.title = number == 0 ? "dismissed" : "from the first" } }
      later()
      try await second.write { try $0.update(raced) { $0.title = "from the second" + (number == 0 ? " before" : "") } }
      try await space.synchronizeAll()
      if number == 0 { _ = try await space.sync(0).dismissConflicts() }
    }
    try await second.becomeNewReplica(placeHasLost: false)
    try await space.synchronizeAll()
    // A filter that is deleted here while another device saves it, and a task that comes back.
    later()
    try await second.write { _ = try $0.saveFilter(TaskFilter(text: "is:done"), as: "saved elsewhere") }
    later()
    try await first.write { try $0.deleteFilter(named: "saved elsewhere") }
    for title in ["deleted", "restored"] {
      let task = try await first.task(titled: title)
      try await first.write { try $0.delete(task) }
    }
    let trash = try await space.sync(0).trash()
    try await space.synchronizeAll()
    let lost = try await space.sync(2).status().replica
    _ = try await space.sync(0).revoke(lost)
    try await space.synchronizeAllButTheLast()
    // A segment that is sealed, and that the place does not take.
    try await first.write { _ = try $0.add("sealed", to: .list(mine)) }
    let folder = try FolderTransport.create(at: space.folder, space: try await space.sync(0).status().space.bytes)
    let refusing = RefusingTransport(folder, refusing: [.append: POSIXError(.EIO)])
    await #expect(throws: TallyError.self) { try await space.sync(0).synchronize(through: refusing) }
    try await first.write { _ = try $0.add("waits", to: .list(mine)) }
    try await space.sync(0).restore(trash.filter { $0.name == "restored" }.map(\.id))
    try await first.write { _ = try $0.mergeList(theirs, into: mine) }
    let back = try await first.task(titled: "restored")
    try await first.write { try $0.update(back) { $0.notes = "written when it came back" } }
  }
}

extension FolderSpace {
  /// Synchronises all stores but a revoked one.
  fileprivate func synchronizeAllButTheLast() async throws {
    for _ in 0..<2 { for number in stores.indices.dropLast() { try await sync(number).synchronize() } }
  }
}

extension TaskStore {
  fileprivate func task(titled title: String) async throws -> UUID {
    try #require(try read { try $0.view(.all).tasks.first { $0.title == title } }).id
  }
}
