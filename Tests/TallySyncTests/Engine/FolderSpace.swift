import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Stores in directories of their own that synchronise through one folder.
final class FolderSpace: Sendable {
  let directory: FilePath
  let clock = TestClock.noon
  let folder: FilePath
  private let opened: OpenStores

  private final class OpenStores: @unchecked Sendable {
    var stores: [TaskStore] = []
  }

  var stores: [TaskStore] { opened.stores }

  init(_ count: Int, in directory: FilePath) async throws {
    (self.directory, folder, opened) = (directory, directory.appending("folder"), OpenStores())
    try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
    var invitation: String?
    for _ in 0..<count {
      let store = try addStore()
      if let invitation {
        try await StoreSync(store).join(invitation, in: folder, deviceName: "device \(stores.count)")
      } else {
        invitation = try await StoreSync(store).setUp(in: folder, deviceName: "first").invitation
      }
    }
  }

  @discardableResult
  func addStore() throws -> TaskStore {
    let store = try open("store-\(stores.count)")
    opened.stores.append(store)
    return store
  }

  func open(_ name: String) throws -> TaskStore {
    try TaskStore(at: directory.appending(name), configuration: .testing(clock: clock))
  }

  /// Copies the directory of a store, as a person or a backup program does; both go on.
  func copyStore(_ number: Int) throws {
    let name = "store-\(stores.count)"
    let original = stores[number].directory
    try stores[number].close()
    try FileManager.default.copyItem(atPath: original.string, toPath: directory.appending(name).string)
    replace(number, with: try open(original.lastComponent?.string ?? ""))
    opened.stores.append(try open(name))
  }

  func replace(_ number: Int, with store: TaskStore) { opened.stores[number] = store }

  func sync(_ number: Int) -> StoreSync { StoreSync(stores[number]) }

  /// Synchronises all stores until nothing is left.
  func synchronizeAll(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    for _ in 0..<2 {
      for store in stores {
        try await StoreSync(store).synchronize()
        try checkInvariants(of: store)
      }
    }
    for store in stores { try await StoreSync(store).synchronize() }
  }

  /// Expects equal tasks, statistics and hashes of states.
  func expectEqualStores(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    try StoreSpace.expectEqual(stores, sourceLocation: sourceLocation)
    var hashes: Set<String> = []
    for store in stores {
      // A hash that is not known would be equal everywhere.
      hashes.insert(
        try #require(try await StoreSync(store).status().stateHash, "changes wait", sourceLocation: sourceLocation))
    }
    #expect(hashes.count == 1, sourceLocation: sourceLocation)
  }

  func close() throws {
    for store in stores { try store.close() }
  }
}

/// Runs a body with stores that synchronise, and checks and closes them.
func withFolderSpace(_ count: Int = 2, _ body: (FolderSpace) async throws -> Void) async throws {
  try await withTemporaryDirectory { directory in
    let space = try await FolderSpace(count, in: directory)
    try await body(space)
    for store in space.stores {
      try checkInvariants(of: store)
      guard try await store.write({ try $0.syncSettings() }) != nil else { continue }
      #expect(try await StoreSync(store).verify() == [])
    }
    try space.close()
  }
}
