import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallySystem
import TallyTestSupport
import Testing

@testable import Tally

/// The migration from one format to the next, with a step that no release has: it writes one more record into `meta`.
@Suite struct MigrationTests {
  fileprivate static let next = MigrationTable(current: 3, steps: [(2, leaveMark)])

  private static let leaveMark: MigrationTable.Step = { transaction in
    let meta = try RawTable(opening: "meta", creating: false, in: &transaction)
    try meta.put([2], forKey: Array("step".utf8), in: &transaction)
  }

  @Test func anOlderStoreIsMigratedAndKeptAsItWas() throws {
    try withFilledStore { directory, expected in
      let store = try TaskStore(at: directory, configuration: .testing(), migrations: Self.next)
      #expect(try store.read { try $0.header().majorFormat } == 3)
      #expect(try store.verify().isSound)
      try store.close()
      #expect(try contents(at: directory) == expected)
      #expect(try value(of: "meta", forKey: Array("step".utf8), at: directory) == [2])
      let kept = try #require(try names(in: directory).first(where: SafetyCopy.isSafetyCopy))
      let old = directory.removingLastComponent().appending("old")
      try TaskStore.restore(from: directory.appending(kept), to: old, configuration: .testing())
      #expect(try contents(at: old) == expected)
    }
  }

  @Test func aBackupOfAnOlderFormatIsMigratedBeforeItIsChecked() throws {
    let doubled = MigrationTable(
      current: 3,
      steps: [
        (
          2,
          { transaction in
            let tasks = try RawTable(opening: "tasks", creating: false, in: &transaction)
            #expect(try tasks.count(in: transaction) > 0)
            try Self.leaveMark(&transaction)
          }
        )
      ])
    try withFilledStore { directory, expected in
      let backup = directory.removingLastComponent().appending("backup")
      let store = try TaskStore(at: directory, configuration: .testing())
      let before = try store.backup(to: backup)
      try store.close()
      let target = directory.removingLastComponent().appending("restored")
      let opening = StoreOpening(directory: target, configuration: .testing(), migrations: doubled)
      let summary = try TaskStore.restore(from: backup, to: opening)
      #expect(summary.restored.sequence == before.sequence + 1)
      #expect(try value(of: "meta", forKey: Array("step".utf8), at: target) == [2])
      #expect(try contents(at: target) == expected)
      // Nothing is left to migrate, so nothing is kept.
      try TaskStore(at: target, configuration: .testing(), migrations: doubled).close()
      #expect(try !names(in: target).contains(where: SafetyCopy.isSafetyCopy))
    }
  }

  @Test func aMigratedStoreIsRefusedByTheOlderVersion() throws {
    try withFilledStore { directory, _ in
      try TaskStore(at: directory, configuration: .testing(), migrations: Self.next).close()
      let bytes = try Data(contentsOf: URL(filePath: directory.appending("data.mdb").string))
      #expect { try TaskStore(at: directory, configuration: .testing()) } throws: {
        ($0 as? TallyError)?.code == .newerFormat
      }
      #expect(try Data(contentsOf: URL(filePath: directory.appending("data.mdb").string)) == bytes)
    }
  }

  @Test func aStepThatFailsLeavesTheStoreAsItWas() throws {
    try withFilledStore { directory, expected in
      let failing = MigrationTable(
        current: 4,
        steps: [
          (2, Self.leaveMark),
          (3, { _ in throw TallyError(.internalFault, "a step failed", remedy: "none") }),
        ])
      #expect(throws: TallyError.self) {
        try TaskStore(at: directory, configuration: .testing(), migrations: failing)
      }
      #expect(try value(of: "meta", forKey: Array("step".utf8), at: directory) == nil)
      #expect(try contents(at: directory) == expected)
      try TaskStore(at: directory, configuration: .testing()).close()
    }
  }

  @Test func aStoreWithoutANextCommitIsNotMigrated() throws {
    try withFilledStore { directory, _ in
      try change("meta", at: directory) { table, transaction in
        let key = MetaKey.header.encodedBytes
        var header = try #require(try table.value(forKey: key, in: transaction))
        // The last sequence that a header can have.
        header.replaceSubrange(24..<32, with: [0x7F] + Array(repeating: 0xFF, count: 6) + [0xFE])
        try table.put(header, forKey: key, in: &transaction)
      }
      let expected = try value(of: "meta", forKey: MetaKey.header.encodedBytes, at: directory)
      let opened = code {
        try TaskStore(at: directory, configuration: .testing(), migrations: Self.next).close()
      }
      #expect(opened == .damagedStore)
      #expect(try value(of: "meta", forKey: MetaKey.header.encodedBytes, at: directory) == expected)
    }
  }

  @Test func aReaderDoesNotMigrate() throws {
    try withFilledStore { directory, _ in
      var configuration = TaskStore.Configuration.testing()
      configuration.isReadOnly = true
      #expect { try TaskStore(at: directory, configuration: configuration, migrations: Self.next) } throws: {
        ($0 as? TallyError)?.code == .permissionDenied && ($0 as? TallyError)?.message.contains("older format") == true
      }
    }
  }
}

/// Every door into a store checks its format, and migrates or refuses an older one.
extension MigrationTests {
  @Test func compactingAnOlderStoreMigratesItAndKeepsACopy() throws {
    try withFilledStore { directory, expected in
      let opening = StoreOpening(directory: directory, configuration: .testing(), migrations: Self.next)
      _ = try TaskStore.compact(opening)
      #expect(try value(of: "meta", forKey: Array("step".utf8), at: directory) == [2])
      #expect(try contents(at: directory) == expected)
      #expect(try names(in: directory).contains(where: SafetyCopy.isSafetyCopy))
    }
  }

  @Test func anOlderStoreIsNotCalledDamagedByThoseWhoOnlyRead() throws {
    try withFilledStore { directory, _ in
      var configuration = TaskStore.Configuration.testing()
      configuration.isReadOnly = true
      let opening = StoreOpening(directory: directory, configuration: configuration, migrations: Self.next)
      for mode in [FileLock.Mode.shared, .exclusive] {
        #expect { try opening.withDamagedStore(mode) { _ in } } throws: {
          ($0 as? TallyError)?.message.contains("older format") == true
        }
      }
      let kept = try names(in: directory).filter(SafetyCopy.isSafetyCopy)
      #expect(kept.isEmpty)
    }
  }

  /// The bug: images in the history were records of the older format, which undo and the check could not read.
  @Test func aMigrationEmptiesTheHistory() throws {
    try withFilledStore { directory, _ in
      let key = try #require(try firstKey(of: "history", at: directory))
      try change("history", at: directory) { table, transaction in
        var entry = try #require(try table.value(forKey: key, in: transaction))
        entry[entry.count - 1] = 0xFF
        try table.put(entry, forKey: key, in: &transaction)
      }
      let store = try TaskStore(at: directory, configuration: .testing(), migrations: Self.next)
      #expect(try store.verify().isSound)
      #expect { try store.writeAndWait { try $0.undo() } } throws: { ($0 as? TallyError)?.code == .nothingToUndo }
      try store.writeAndWait { _ = try $0.add("after", to: .inbox) }
      #expect(try store.writeAndWait { try $0.undo() }.deletedTasks.map(\.title) == ["after"])
      try store.close()
    }
  }

  @Test func aStoreOfADevelopmentVersionIsRefusedUntouched() throws {
    try expectRefused(settingFeatures: [0, 0, 0, 0], as: .notAStore)
  }

  @Test func anUnknownRequiredFeatureIsRefusedUntouched() throws {
    try expectRefused(settingFeatures: [0x80, 1, 0, 0], as: .newerFormat)
  }

  @Test func anUnknownWriterFeatureOpensForReadingOnly() throws {
    try withFilledStore { directory, expected in
      try setFeatures([0, 1, 0, 4], at: directory)
      let store = try TaskStore(at: directory, configuration: .testing())
      #expect(try store.read { try $0.taskCount } > 0)
      #expect { try store.writeAndWait { _ = try $0.add("x", to: .inbox) } } throws: {
        ($0 as? TallyError)?.code == .newerFormat
      }
      try store.close()
      #expect { try TaskStore.compact(at: directory, configuration: .testing()) } throws: {
        ($0 as? TallyError)?.code == .newerFormat
      }
      #expect(try contents(at: directory) == expected)
    }
  }

  /// Both write.
  @Test func aStoreThatOnlyANewerVersionWritesIsNeitherRepairedNorRestored() throws {
    try withFilledStore { directory, _ in
      try setFeatures([0, 1, 0, 4], at: directory)
      #expect(codeOfRepair(at: directory) == .newerFormat)
      #expect(codeOfRestoring(directory.appending("data.mdb")) == .newerFormat)
    }
  }

  private func codeOfRepair(at directory: FilePath) -> TallyError.Code? {
    code { try TaskStore.repair(at: directory, configuration: .testing()) }
  }

  private func codeOfRestoring(_ file: FilePath) -> TallyError.Code? {
    let other = file.removingLastComponent().removingLastComponent().appending("other")
    return code { try TaskStore.restore(from: file, to: other, configuration: .testing()) }
  }

  private func expectRefused(settingFeatures bytes: [UInt8], as code: TallyError.Code) throws {
    try withFilledStore { directory, expected in
      try setFeatures(bytes, at: directory)
      #expect { try TaskStore(at: directory, configuration: .testing()) } throws: { ($0 as? TallyError)?.code == code }
      #expect { try TaskStore.repair(at: directory, configuration: .testing()) } throws: {
        ($0 as? TallyError)?.code == code
      }
      #expect(try contents(at: directory) == expected)
    }
  }

  private func setFeatures(_ bytes: [UInt8], at directory: FilePath) throws {
    try change("meta", at: directory) { table, transaction in
      let key = Array("header".utf8)
      var header = try #require(try table.value(forKey: key, in: transaction))
      header.replaceSubrange(4..<8, with: bytes)
      try table.put(header, forKey: key, in: &transaction)
    }
  }
}

extension TaskStore {
  /// Opens a store with other migrations than those of this version.
  fileprivate convenience init(
    at directory: FilePath, configuration: Configuration, migrations: MigrationTable
  ) throws {
    try self.init(
      StoreOpening(directory: directory, configuration: configuration, migrations: migrations), configuration)
  }
}
