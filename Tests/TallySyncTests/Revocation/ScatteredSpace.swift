import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Stores that each have a folder of their own; a test carries files from one to another, as a synchronisation service does.
final class ScatteredSpace {
  let directory: FilePath
  let clock = TestClock.noon
  private(set) var stores: [TaskStore] = []

  init(_ count: Int, in directory: FilePath, isEncrypted: Bool = true) async throws {
    self.directory = directory
    try makeStore()
    _ = try await sync(0).setUp(in: folder(0), deviceName: "device 0", isEncrypted: isEncrypted)
    try await sync(0).synchronize()
    for _ in 1..<count { try await join(invitedBy: 0) }
    try await settle()
  }

  var all: Range<Int> { stores.indices }

  func sync(_ number: Int) -> StoreSync { StoreSync(stores[number]) }

  func folder(_ number: Int) -> FilePath { FilePath("\(directory)/folder-\(number)") }

  func replica(_ number: Int) async throws -> ReplicaID { try await sync(number).status().replica }

  private func makeStore() throws {
    try FileManager.default.createDirectory(atPath: folder(stores.count).string, withIntermediateDirectories: true)
    stores.append(try open(stores.count))
  }

  private func open(_ number: Int) throws -> TaskStore {
    try TaskStore(at: directory.appending("store-\(number)"), configuration: .testing(clock: clock))
  }

  /// Adds a store that joins with an invitation of another one, and has what that one's folder has.
  @discardableResult
  func join(invitedBy host: Int) async throws -> Int {
    let invitation = try await sync(host).invite()
    try makeStore()
    let number = stores.count - 1
    try carry(from: host, to: number)
    do {
      try await sync(number).join(invitation, in: folder(number), deviceName: "device \(number)")
    } catch {
      try stores.removeLast().close()
      for name in ["store", "folder"] {
        try FileManager.default.removeItem(atPath: directory.appending("\(name)-\(number)").string)
      }
      throw error
    }
    return number
  }

  /// Copies a store with its folder; both go on.
  @discardableResult
  func copy(_ number: Int) async throws -> Int {
    let copy = stores.count
    try stores[number].close()
    for name in ["store", "folder"] {
      try FileManager.default.copyItem(
        atPath: directory.appending("\(name)-\(number)").string, toPath: directory.appending("\(name)-\(copy)").string)
    }
    stores[number] = try open(number)
    stores.append(try open(copy))
    let path = folder(copy).string
    try await stores[copy].write { try $0.changeSyncSettings { $0.place = path } }
    return copy
  }

  /// Copies the files that another folder lacks.
  func carry(from source: Int, to target: Int, where isCarried: (String) -> Bool = { _ in true }) throws {
    let (files, sourceFolder, targetFolder) = (FileManager.default, folder(source).string, folder(target).string)
    for name in try files.subpathsOfDirectory(atPath: sourceFolder).sorted() where isCarried(name) {
      let (from, to) = ("\(sourceFolder)/\(name)", "\(targetFolder)/\(name)")
      guard !files.fileExists(atPath: to) else { continue }
      if try files.attributesOfItem(atPath: from)[.type] as? FileAttributeType == .typeDirectory {
        try files.createDirectory(atPath: to, withIntermediateDirectories: true)
      } else {
        try files.copyItem(atPath: from, toPath: to)
      }
    }
  }

  /// Carries all files to all folders.
  func carryAll() throws {
    for source in all { for target in all where target != source { try carry(from: source, to: target) } }
  }

  /// Carries all files and synchronises those stores that may, until nothing is left.
  func settle() async throws {
    for _ in 0..<4 {
      try carryAll()
      for number in all { _ = try await synchronize(number) }
    }
  }

  /// Synchronises.
  ///
  /// - Returns: Why the store may not; `nil` if it has.
  @discardableResult
  func synchronize(_ number: Int) async throws -> TallyError.Code? {
    do {
      try await sync(number).synchronize()
      return nil
    } catch let error as TallyError where [.deviceRevoked, .spaceKeyMissing].contains(error.code) {
      return error.code
    }
  }

  func add(_ title: String, to number: Int) async throws {
    try await stores[number].write { _ = try $0.add(title, to: .inbox) }
  }

  func titles(_ number: Int) throws -> Set<String> {
    Set(try stores[number].read { try $0.view(.all).tasks.map(\.title) })
  }

  /// Expects that some stores hold the same.
  func expectEqual(_ numbers: [Int], sourceLocation: SourceLocation = #_sourceLocation) async throws {
    try StoreSpace.expectEqual(numbers.map { stores[$0] }, sourceLocation: sourceLocation)
    var hashes: Set<String> = []
    for number in numbers {
      // A hash that is not known would be equal everywhere.
      hashes.insert(
        try #require(try await sync(number).status().stateHash, "changes wait", sourceLocation: sourceLocation))
    }
    #expect(hashes.count == 1, sourceLocation: sourceLocation)
  }
}

/// Runs a body with stores that synchronise through folders of their own, and checks and closes them.
func withScatteredSpace(
  _ count: Int, isEncrypted: Bool = true, _ body: (ScatteredSpace) async throws -> Void
) async throws {
  try await withTemporaryDirectory { directory in
    let space = try await ScatteredSpace(count, in: directory, isEncrypted: isEncrypted)
    try await body(space)
    for store in space.stores {
      try checkInvariants(of: store)
      if try await StoreSync(store).isSetUp { #expect(try await StoreSync(store).verify() == []) }
      try store.close()
    }
  }
}
