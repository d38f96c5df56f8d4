import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallySystem
import TallyTestSupport
import Testing

@testable import Tally

/// Stores that version 0e4248f left with a journal become plain ones.
@Suite struct JournalMarkTests {
  static let stores = LeftStore.all.filter(\.isStore)

  private static var configuration: TaskStore.Configuration { .testing() }

  @Test(arguments: stores) func itHasWhatThatVersionFoundAndIsAPlainOne(left: LeftStore) throws {
    try withPlaced(left) { (path) throws in
      let sequence = try #require(left.sequence)
      #expect(sequence >= left.acknowledged)
      try withStore(at: path, Self.configuration) { (store) throws in
        #expect(try store.information().sequence == sequence)
        #expect(try LeftStore.tables(of: store.environment) == left.tables)
        try expectPlain(store)
        try store.writeAndWait { _ = try $0.add("Edith", to: .inbox) }
      }
      try withStore(at: path, Self.configuration) { (store) throws in
        #expect(try store.information().sequence == sequence + 1)
        try expectPlain(store)
      }
      #expect(try TaskStore.verify(at: path, configuration: Self.configuration).isSound)
    }
  }

  /// Uses of a store that was not closed.
  enum Door: CaseIterable {
    case opening, reading, verifying, compacting, repairing, backingUp, restoring
  }

  @Test(arguments: Door.allCases) func everyDoorLeadsToTheLastCommit(door: Door) throws {
    for left in Self.stores where left.end != .clean {
      try withPlaced(left) { (path) throws in
        try goThrough(door, path, left)
        try withStore(at: path, Self.configuration) { (store) throws in
          try expectPlain(store)
          if door != .restoring && door != .backingUp { #expect(try store.information().sequence == left.sequence) }
          #expect(try LeftStore.tables(of: store.environment) == left.tables, "\(left)")
          try store.writeAndWait { _ = try $0.add("Edith", to: .inbox) }
        }
      }
    }
  }

  private func goThrough(_ door: Door, _ path: FilePath, _ left: LeftStore) throws {
    let file = path.removingLastComponent().appending("backup.mdb")
    switch door {
    case .opening: break
    case .reading:
      var reading = Self.configuration
      reading.isReadOnly = true
      try withStore(at: path, reading) { (store) throws in
        #expect(try store.information().sequence == left.sequence)
        #expect(try hasMark(store))
      }
      #expect(try names(in: path).contains("journal"))
    case .verifying: #expect(try TaskStore.verify(at: path, configuration: Self.configuration).isSound)
    case .compacting:
      try TaskStore.compact(at: path, configuration: Self.configuration)
      #expect(try !names(in: path).contains("journal"))
    case .repairing:
      #expect(try TaskStore.repair(at: path, configuration: Self.configuration).before.isSound)
      #expect(try !names(in: path).contains("journal"))
    case .backingUp:
      var reading = Self.configuration
      reading.isReadOnly = true
      try withStore(at: path, reading) { _ = try $0.backup(to: file) }
      try TaskStore.restore(from: file, to: path, configuration: Self.configuration)
      #expect(try !names(in: path).contains("journal"))
    case .restoring:
      // The old file is kept as it should have been.
      try withStore(at: path.removingLastComponent().appending("other")) { _ = try $0.backup(to: file) }
      let kept = try #require(
        try TaskStore.restore(from: file, to: path, configuration: Self.configuration).safetyCopy)
      try withStore(at: path) { (store) throws in #expect(try store.information().taskCount == 0) }
      try TaskStore.restore(from: kept, to: path, configuration: Self.configuration)
    }
  }

  @Test func aStoreThatCannotBeRecoveredCanBeReplacedOrRemoved() throws {
    for left in Self.stores where left.end != .clean {
      try withPlaced(left) { (path) throws in
        let file = path.removingLastComponent().appending("backup.mdb")
        try withStore(at: path.removingLastComponent().appending("other")) { _ = try $0.backup(to: file) }
        // Neither header is whole.
        let journal = left.bytes(of: "journal")
        try write([UInt8](repeating: 0xA5, count: 8_192) + journal.dropFirst(8_192), to: path.appending("journal"))
        expect(.damagedStore) { try withStore(at: path, Self.configuration) { _ in } }
        #expect(try bytes(of: path.appending("data.mdb")) == left.bytes(of: "data.mdb"))
        try TaskStore.restore(from: file, to: path, configuration: Self.configuration)
        try withStore(at: path, Self.configuration) { (store) throws in
          try expectPlain(store)
          try store.writeAndWait { _ = try $0.add("Edith", to: .inbox) }
        }
      }
      try withPlaced(left) { (path) throws in
        try TaskStore.remove(at: path)
        #expect(!FileManager.default.fileExists(atPath: path.string))
      }
    }
  }

  /// A copy of the data file alone, or a crash after the journal was removed, has the mark and no journal.
  @Test func theMarkWithoutAJournalIsRemoved() throws {
    for left in Self.stores where left.end == .clean {
      try withPlaced(left) { (path) throws in
        try FileManager.default.removeItem(atPath: path.appending("journal").string)
        try expectWhole(path, left)
      }
    }
  }

  /// A crash after the mark was removed, or before that version set it, leaves a clean journal that means nothing.
  @Test func aJournalWithoutTheMarkIsRemoved() throws {
    for left in Self.stores where left.end == .clean {
      try withPlaced(left) { (path) throws in
        try withStore(at: path, Self.configuration) { try expectPlain($0) }
        try write(left.bytes(of: "journal"), to: path.appending("journal"))
        try write([1, 2, 3], to: path.appending("journal.tmp"))
        try expectWhole(path, left)
        #expect(try !names(in: path).contains("journal.tmp"))
      }
    }
  }

  @Test func theMarkIsKeptWhileAnotherProcessHasTheStoreOpen() throws {
    let left = try #require(Self.stores.first { $0.end == .clean })
    try withPlaced(left) { (path) throws in
      let access = try FileLock(opening: path.appending(StoreAccess.fileName))
      #expect(try access.tryAcquire(.shared))
      var configuration = Self.configuration
      configuration.waitLimitInSeconds = 0
      expect(.storeBusy) { try withStore(at: path, configuration) { _ in } }
      #expect(try bytes(of: path.appending("data.mdb")) == left.bytes(of: "data.mdb"))
      configuration.isReadOnly = true
      try withStore(at: path, configuration) { (store) throws in
        #expect(try hasMark(store))
        #expect(try store.information().sequence == left.sequence)
      }
      access.release()
      try expectWhole(path, left)
    }
  }

  @Test func aSnapshotOrABackupOfAMarkedStoreIsRead() throws {
    let left = try #require(Self.stores.first { $0.end == .clean })
    try withTemporaryDirectory { (directory) throws in
      let file = directory.appending("snapshot.mdb")
      try write(left.bytes(of: "data.mdb"), to: file)
      let snapshot = try TaskStore(snapshotAt: file, configuration: Self.configuration)
      #expect(try snapshot.information().sequence == left.sequence)
      try snapshot.close()
      #expect(try bytes(of: file) == left.bytes(of: "data.mdb"))
      let path = directory.appending("restored")
      try TaskStore.restore(from: file, to: path, configuration: Self.configuration)
      var reading = Self.configuration
      reading.isReadOnly = true
      try withStore(at: path, reading) { (store) throws in
        #expect(try !hasMark(store))
        #expect(try store.information().sequence == left.sequence)
      }
    }
  }

  /// Its first two tables are those of the older format, and the mark stays beside it until it is migrated.
  @Test func anOlderFormatLosesItsMarkWhenItIsMigrated() throws {
    let left = try #require(Self.stores.first { $0.end == .clean })
    try withPlaced(left) { (path) throws in
      try changeHeader(at: path) { $0.majorFormat = 1 }
      var reading = Self.configuration
      reading.isReadOnly = true
      expect(.permissionDenied) { try withStore(at: path, reading) { _ in } }
      try withStore(at: path, Self.configuration) { (store) throws in
        try expectPlain(store)
        #expect(try store.information().taskCount > 0)
      }
    }
  }

  private func changeHeader(at path: FilePath, _ change: (inout StoreHeader) -> Void) throws {
    var options = LMDBEnvironment.Options.recovering
    options.recoversJournal = false
    let environment = try LMDBEnvironment(path: path, options: options)
    var header = try #require(try StoreOpening.header(in: environment))
    change(&header)
    let meta = try Database<MetaKey, StoreHeader>(opening: "meta", in: environment)
    try environment.write { [header] in try meta.put(header, forKey: .header, in: &$0) }
    try environment.close()
  }

  private func expectWhole(_ path: FilePath, _ left: LeftStore) throws {
    try withStore(at: path, Self.configuration) { (store) throws in
      try expectPlain(store)
      #expect(try store.information().sequence == left.sequence)
      #expect(try LeftStore.tables(of: store.environment) == left.tables)
    }
  }

  private func expectPlain(_ store: TaskStore) throws {
    #expect(try !hasMark(store))
    #expect(try names(in: store.directory).filter { $0.hasPrefix("journal") } == [])
  }

  private func hasMark(_ store: TaskStore) throws -> Bool {
    try store.read { try $0.header().requiredFeatures.contains(.journal) }
  }

  private func withPlaced(_ left: LeftStore, _ body: (FilePath) throws -> Void) throws {
    try withTemporaryDirectory { (directory) throws in
      let path = directory.appending("store")
      try left.place(at: path)
      try body(path)
    }
  }
}
